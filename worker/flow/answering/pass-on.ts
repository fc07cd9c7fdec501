import type { Answer } from "../../ports/answer.ts";
import type { OriginResponse } from "../../ports/origin.ts";
import type { Fields } from "../../rules/fields/fields.ts";
import type { Outcome } from "../../rules/forwarding/cache-status.ts";
import { type PublicAddress, toClientFields } from "../../rules/forwarding/client-response-fields.ts";
import { type NotStored, notStoredDetail } from "../../rules/storing/not-stored.ts";
import { type Miss, wordsOf } from "../miss.ts";
import { pageOf, type RequestContext } from "../request-context.ts";
import { answerWith, markOutcome, reportPassedOn, withSource } from "./answers.ts";

/** The fields of the origin's answer as clients see them. `receivedAt`: when its head arrived. Default: now. */
export function clientFields(context: RequestContext, sent: Fields, receivedAt = context.ports.clock.now()): Fields {
  const { resolved, isolate, facts } = context;
  const fields = toClientFields(sent, publicAddress(context), isolate.site.hiddenFields, receivedAt);
  if (resolved.route.stripsSetCookie && (facts.method === "GET" || facts.method === "HEAD"))
    fields.delete("set-cookie");
  return fields;
}

/** The origin's address, and the public address that replaces it. */
export function publicAddress({ ports, resolved }: RequestContext): PublicAddress {
  const publicUrl = `${resolved.scheme}://${resolved.host}`;
  return { originUrl: ports.origin.url, publicUrl, requestedUrl: publicUrl + resolved.pathAndQuery };
}

/**
 * Streams the origin's answer to the client. `notStored` is the reason why it is not stored, if it was considered for
 * storing. `countedStatus`: the one to count, if the client gets another one than the origin's.
 */
export function passOn(
  context: RequestContext,
  response: OriginResponse,
  miss: Miss,
  notStored: NotStored | undefined,
  countedStatus = response.status,
): Answer {
  const fields = clientFields(context, response.fields);
  const because = notStored && notStoredDetail(notStored);
  const outcome = forwardedOutcome(miss, { status: response.status, stored: false, collapsed: false, because });
  const { xCache } = wordsOf(miss);
  markOutcome(fields, xCache, outcome);
  // What a cache in place of the origin says for a lost origin is no page.
  if (notStored !== undefined && !response.isOriginLost) reportNotStored(context, notStored);
  reportPassedOn(context, xCache, countedStatus);
  if (response.body !== null)
    context.ports.bodies.readAhead?.(response.body, context.isolate.site.limits.readAheadBytes);
  const answer = answerWith(response.body, response.status, fields, response.statusText);
  return withSource(context, answer, { passedOn: response });
}

export function reportNotStored(context: RequestContext, notStored: NotStored): void {
  const { reporter, clock } = context.ports;
  reporter.report({ ...notStored, ...pageOf(context), kind: "not-stored", at: clock.now() });
}

/** The outcome of a fetch for `Cache-Status`. */
export function forwardedOutcome(
  miss: Miss,
  done: { status?: number | undefined; stored: boolean; collapsed: boolean; because?: string | undefined },
): Outcome {
  const { because, ...rest } = done;
  const { reason, detail } = wordsOf(miss);
  return { kind: "forwarded", reason, ...rest, detail: because ?? detail };
}
