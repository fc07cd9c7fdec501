import type { Answer, AnswerSource } from "../../ports/answer.ts";
import type { AnsweredEvent } from "../../ports/reporter.ts";
import type { FoundResponse } from "../../ports/store.ts";
import { browserCacheControl, mostBrowserSeconds } from "../../rules/directives/browser-cache-control.ts";
import { Fields } from "../../rules/fields/fields.ts";
import { cacheStatusMember, type Outcome, type XCache } from "../../rules/forwarding/cache-status.ts";
import { EDGE_ANSWER_FIELDS } from "../../rules/forwarding/edge-answer-fields.ts";
import { mayHaveBody } from "../../rules/storing/framing.ts";
import type { StoredHead } from "../../rules/storing/stored-response.ts";
import { NOT_ON_304 } from "../../rules/validation/conditions.ts";
import type { Isolate, RequestContext } from "../request-context.ts";

/** The metadata of an answer from the store. */
export interface AnswerMetadata {
  readonly xCache: XCache;
  readonly outcome: Outcome;
  readonly ageSeconds: number;
  /** The lifetime given to browsers; `null` to keep the origin's. */
  readonly browserTtlSeconds: number | null;
}

/**
 * The fields of hits, made once per entry and second, because making them would take most of the time of a hit on a
 * busy page.
 */
const hitFields = new WeakMap<StoredHead, { readonly ageSeconds: number; readonly fields: Fields }>();

/** The fields of an answer with a stored response. RFC 9111 §4, §5.1. */
export function storedFields(head: StoredHead, metadata: AnswerMetadata): Fields {
  const made = hitFields.get(head);
  const isPlainHit = metadata.xCache === "HIT" && metadata.outcome.kind === "hit";
  if (isPlainHit && made?.ageSeconds === metadata.ageSeconds) return made.fields;
  const fields = Fields.of([...head.fields]);
  fields.set("age", String(metadata.ageSeconds));
  setBrowserLifetime(fields, metadata.browserTtlSeconds, metadata.ageSeconds, head);
  markOutcome(fields, metadata.xCache, metadata.outcome);
  if (isPlainHit) hitFields.set(head, { ageSeconds: metadata.ageSeconds, fields });
  return fields;
}

/** The fields of a 304. `Last-Modified` is among them only if there is no entity tag. RFC 9110 §15.4.5. */
export function notModifiedFields(fields: Fields): Fields {
  const hasTag = fields.has("etag");
  return fields.filter((name) => !NOT_ON_304.has(name) && !(hasTag && name === "last-modified"));
}

/** Sets, in place, the lifetime that the owner gives to browsers; `null` keeps the origin's. */
export function setBrowserLifetime(
  fields: Fields,
  ttlSeconds: number | null,
  ageSeconds: number,
  head: Parameters<typeof mostBrowserSeconds>[0],
): void {
  if (ttlSeconds === null) return;
  const mostSeconds = mostBrowserSeconds(head, fields);
  const text = browserCacheControl(fields.get("cache-control"), ttlSeconds, ageSeconds, mostSeconds);
  if (text === null) return;
  fields.set("cache-control", text);
  fields.delete("expires");
}

/** Adds the outcome to an answer's fields, in place. */
export function markOutcome(fields: Fields, xCache: XCache, outcome: Outcome): void {
  fields.append("via", "1.1 tidemark");
  fields.set("x-cache", xCache);
  fields.append("cache-status", cacheStatusMember(outcome));
}

/** An answer with these fields. A status that has no body gets none. */
export function answerWith(body: Answer["body"], status: number, fields: Fields, statusText = ""): Answer {
  return { status, statusText, fields, body: mayHaveBody(status) ? body : null };
}

/** The answer, with where it comes from if another cache asks. */
export function withSource({ incoming }: RequestContext, answer: Answer, source: AnswerSource): Answer {
  return incoming.child ? { ...answer, source } : answer;
}

const utf8 = new TextEncoder();

/** An answer that the edge makes itself: a text for a person, without `X-Cache`, and never to be stored. */
export function edgeAnswer(status: number, detail: string, words: string): Answer {
  const fields = new Fields([
    ...Object.entries(EDGE_ANSWER_FIELDS),
    ["content-type", "text/plain; charset=utf-8"],
    ["cache-status", cacheStatusMember({ kind: "answered-by-edge", detail })],
  ]);
  return {
    status,
    statusText: "",
    fields,
    body: utf8.encode(`${words}\n`) as Uint8Array<ArrayBuffer>,
  };
}

/** A request, as far as it is known when the edge answers it itself. */
type KnownRequest = Pick<Isolate, "ports"> & Partial<Pick<RequestContext, "resolved" | "arrival">>;

/** The same, reported. It counts for its route, if that is known. */
export function answerOurselves(request: KnownRequest, status: number, detail: string, words: string): Answer {
  reportOwn(request, status, detail);
  return edgeAnswer(status, detail, words);
}

export function reportOwn({ ports, resolved, arrival }: KnownRequest, status: number, detail: string): void {
  ports.reporter.report({
    kind: "answered-by-edge",
    status,
    detail,
    arrivedAt: arrival?.at ?? ports.clock.now(),
    route: resolved?.route.pattern,
    url: resolved?.cacheKey,
    startedAt: arrival?.startedAt,
  });
}

type Tier = AnsweredEvent["tier"];

/** Reports an answer that is being stored, or a part that was cut from it, when its head is there. */
export function reportFetched(context: RequestContext, xCache: XCache, status: number): void {
  report(context, "origin", xCache, status, 0, true);
}

/** Reports an answer that is passed on and not stored, when its head is there. */
export function reportPassedOn(context: RequestContext, xCache: XCache, status: number): void {
  report(context, "origin", xCache, status, 0, false);
}

/** Reports an answer whose body comes out of a stored response. `tier`: the slowest place that it waited for. */
export function reportFromStore(
  context: RequestContext,
  tier: Tier,
  xCache: XCache,
  answer: Answer,
  { head }: FoundResponse,
): void {
  report(context, tier, xCache, answer.status, bodyBytesOf(answer, head.bodyBytes), true);
}

/** The bytes of an answer's body. A body that streams has the announced length, or else that of what is stored. */
function bodyBytesOf({ body, bodyBytes }: Answer, storedBytes: number): number {
  if (body === null) return 0;
  return body instanceof Uint8Array ? body.byteLength : (bodyBytes ?? storedBytes);
}

function report(
  { ports, resolved, arrival, hasLookedAgain }: RequestContext,
  tier: Tier,
  xCache: XCache,
  status: number,
  cachedBytes: number,
  isStored: boolean,
): void {
  const { cacheKey: url, route } = resolved;
  // `hasLookedAgain`: it has waited for the fetch of another request.
  if (hasLookedAgain && xCache === "HIT") ports.reporter.report({ kind: "collapsed" });
  ports.reporter.report({
    kind: "answered",
    xCache,
    status,
    route: route.pattern,
    url,
    tier: hasLookedAgain ? "origin" : tier,
    cachedBytes,
    isStored,
    arrivedAt: arrival.at,
    startedAt: arrival.startedAt,
  });
}
