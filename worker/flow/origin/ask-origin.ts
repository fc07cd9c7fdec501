import type { OriginAnswer } from "../../ports.ts";
import { fieldBrokenBecause, fieldsRefusedBecause } from "../../rules/fields/field-limits.ts";
import type { Outcome } from "../../rules/forwarding/cache-status.ts";
import { toClientFields } from "../../rules/forwarding/client-response-fields.ts";
import { maxForwards } from "../../rules/forwarding/max-forwards.ts";
import { hasLooped, originRequestFields } from "../../rules/forwarding/origin-request-fields.ts";
import { isOriginError } from "../../rules/freshness/stale-if-error.ts";
import { isWebSocket } from "../../rules/request/request-facts.ts";
import { answerWith, edgeAnswer, markForwarded } from "../answering/answers.ts";
import type { Miss, RequestContext } from "../request-context.ts";
import { requestBody } from "./request-body.ts";

export type OriginResult =
  | { readonly kind: "answered"; readonly response: Response }
  /**
   * The origin did not answer: it failed, the request may not go there, or another protocol took over. `answer` makes
   * what the client gets instead, and counts it.
   */
  | { readonly kind: "failed" | "refused" | "switched"; readonly answer: () => Response };

/** Whether the origin failed, by its own word or by giving no answer, so that something stale may stand in. RFC 5861 §4. */
export function hasFailed(asked: OriginResult): boolean {
  return asked.kind === "failed" || (asked.kind === "answered" && isOriginError(asked.response.status));
}

/** How the origin is asked. */
export interface OriginCall {
  /** True if the answer may be stored: then nothing that is not in the key may select it. */
  readonly storing: boolean;
  /** The `Cookie` field. */
  readonly cookie: string | null;
  /** The edge's own conditions. RFC 9111 §4.3.1. */
  readonly conditions: readonly (readonly [name: string, value: string])[];
}

/** Sends the request on, as the edge. */
export async function askOrigin(
  context: RequestContext,
  { storing, cookie, conditions }: OriginCall,
): Promise<OriginResult> {
  const { request, target, facts, ports, site, clientAddress } = context;
  const field = (name: string) => request.headers.get(name);
  if (hasLooped(field("cdn-loop"), target.host)) {
    return { kind: "refused", answer: edgeFailure(context, 508, "loop", "the request came back to this edge") };
  }
  const hops = maxForwards(facts.method, field("max-forwards"));
  const fields = originRequestFields(request.headers, {
    scheme: target.scheme,
    host: target.host,
    clientAddress,
    storing,
    cookie,
    maxForwards: hops.kind === "forward" ? hops.field : null,
    keyFields: target.route.keyFields,
    conditions,
    extra: site.originFields,
  });
  if (isWebSocket(field("upgrade"))) fields.push(["upgrade", "websocket"], ["connection", "upgrade"]);
  const broken = fieldBrokenBecause(fields);
  if (broken !== null) {
    return { kind: "refused", answer: edgeFailure(context, 400, "request-fields-broken", `the request has ${broken}`) };
  }
  const { limits } = site;
  if (fields.reduce((bytes, [name, value]) => bytes + name.length + value.length, 0) > limits.requestFieldBytes) {
    const words = `the request has more than ${limits.requestFieldBytes} bytes of fields`;
    return { kind: "refused", answer: edgeFailure(context, 431, "request-fields-too-large", words) };
  }
  const sendsBody = facts.method !== "GET" && facts.method !== "HEAD";
  const body = sendsBody ? requestBody(request, limits.requestBodyBytes) : null;
  const bodyTooLarge = (): OriginResult => {
    const words = `the request's body has more than ${limits.requestBodyBytes} bytes`;
    return { kind: "refused", answer: edgeFailure(context, 413, "request-body-too-large", words) };
  };
  if (body?.isTooLarge()) return bodyTooLarge();
  ports.reporter.report({ kind: "origin-asked" });
  const { method } = facts;
  const asked = { method, pathAndQuery: target.pathAndQuery, fields, body: body?.stream ?? null };
  const answer = acceptable(context, await ports.origin.fetch(asked));
  if (answer.kind === "failed" && body?.isTooLarge()) return bodyTooLarge();
  switch (answer.kind) {
    case "answered":
      ports.reporter.report({ kind: "origin-answered" });
      return answer;
    case "switched":
      return {
        kind: "switched",
        answer: () => {
          ports.reporter.report({ kind: "answered", xCache: "BYPASS" });
          return answer.response;
        },
      };
    case "failed": {
      ports.reporter.report({ kind: "origin-failed", because: answer.because, cause: answer.cause });
      const status = answer.because === "timed-out" ? 504 : 502;
      const words = {
        unreachable: "the origin cannot be reached, or hung up before it answered",
        "timed-out": "the origin took too long to answer",
        "bad-response": "the origin's answer was not one that HTTP allows, or over this edge's limits",
      }[answer.because];
      return { kind: "failed", answer: edgeFailure(context, status, `origin-${answer.because}`, words) };
    }
  }
}

/** An answer with more fields than is allowed, or with broken ones, counts as none. */
function acceptable({ site, background }: RequestContext, answer: OriginAnswer): OriginAnswer {
  if (answer.kind !== "answered") return answer;
  const { responseFields: mostFields, responseFieldBytes: mostBytes } = site.limits;
  const because = fieldsRefusedBecause(answer.response.headers, { mostFields, mostBytes });
  if (because === null) return answer;
  background.run(answer.response.body?.cancel() ?? Promise.resolve());
  return { kind: "failed", because: "bad-response", cause: because };
}

function edgeFailure({ ports }: RequestContext, status: number, detail: string, words: string): () => Response {
  return () => {
    ports.reporter.report({ kind: "answered-by-edge", detail });
    return edgeAnswer(status, detail, `${status}: ${words}.`);
  };
}

/** The fields of the origin's answer as clients see them. */
export function clientFields({ ports, target, site, facts }: RequestContext, sent: Headers): Headers {
  const fields = new Headers(sent);
  if (target.route.stripsSetCookie && (facts.method === "GET" || facts.method === "HEAD")) fields.delete("set-cookie");
  const address = { originUrl: ports.origin.url, publicUrl: `${target.scheme}://${target.host}` };
  toClientFields(fields, address, site.hiddenFields, ports.clock.now());
  return fields;
}

/** The length that the origin announced; chunks outrank it. RFC 9112 §6.3. */
export function contentLength(response: Response): number | null {
  if (response.headers.get("transfer-encoding") !== null) return null;
  const text = response.headers.get("content-length");
  return text !== null && /^[0-9]+$/.test(text) ? Number(text) : null;
}

/** Answers with what the origin sends, as it comes; nothing is kept. */
export function stream(context: RequestContext, response: Response, miss: Miss, because: string | undefined): Response {
  const fields = clientFields(context, response.headers);
  const outcome = forwarded(miss, { status: response.status, stored: false, collapsed: false, because });
  markForwarded(fields, miss.xCache, outcome);
  const { reporter } = context.ports;
  if (because !== undefined) reporter.report({ kind: "not-stored", because });
  reporter.report({ kind: "answered", xCache: miss.xCache });
  return answerWith(response.body, response.status, fields, response.statusText);
}

/** What the answer tells of a fetch. */
export function forwarded(
  { reason, detail }: Miss,
  done: { status?: number; stored: boolean; collapsed: boolean; because?: string | undefined },
): Outcome {
  const { because, ...rest } = done;
  const told = because ?? detail;
  return { kind: "forwarded", reason, ...rest, ...(told === undefined ? {} : { detail: told }) };
}
