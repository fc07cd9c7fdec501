import type { FoundResponse } from "../../ports/store.ts";
import type { Fields } from "../../rules/fields/fields.ts";
import { plainRequest } from "../../rules/request/second-look.ts";
import { varyFields } from "../../rules/variants/vary.ts";
import type { ReceivedAnswer } from "../origin/ask-origin.ts";
import type { RequestContext } from "../request-context.ts";
import type { StorageDecision } from "../storing/storage-decision.ts";
import { compareBehind } from "./compare-behind.ts";
import { lookBehind } from "./look-behind.ts";
import { placeOf } from "./place.ts";

export { lookAgainAfterConfirmation } from "./look-behind.ts";

// All that the corridor calls of second looks (docs/http.md): before it looks a request up, before it asks the origin,
// with the origin's answer, and where the origin has confirmed what is stored.

/** The field of a request that was found to choose pages here, so that it passes the cache; `undefined` for none. */
export function fieldThatPasses(context: RequestContext): string | undefined {
  const { facts, resolved, arrival } = context;
  const { secondLooks } = context.isolate;
  if (!secondLooks.hasMarks || facts.directives.onlyIfCached) return undefined;
  return secondLooks.markedField(placeOf(resolved), (name) => facts.field(name) !== null, arrival.at);
}

/**
 * The request without fields that are known to be idle where it goes; the same request if there is any other, or if one of
 * them has selected the response that the origin is to confirm.
 */
export function withoutIdleFields(context: RequestContext, toValidate: FoundResponse | null = null): RequestContext {
  const { facts, resolved, isolate, answersHead, incoming } = context;
  const { idleFields } = isolate.secondLooks;
  const { route } = resolved;
  if (idleFields.isEmpty || !route.looksAgain || facts.method !== "GET" || facts.isPartial || answersHead)
    return context;
  // A child has left out what is idle, and sends the rest to learn whether it still is.
  if (facts.directives.forbidsStoring || incoming.child) return context;
  const plain = plainRequest(facts.fields, "anonymous", route.selectingNames, route);
  const isAnonymous = facts.identity === "anonymous";
  if (!plain || !idleFields.mayLeaveOut(placeOf(resolved), plain.leftOut, isAnonymous)) return context;
  const { fields, leftOut } = plain;
  if (toValidate?.head.variant.some(([name]) => leftOut.some(([left]) => left === name))) return context;
  return {
    ...context,
    facts: facts.withFields(fields),
    reduced: { asSent: context, leftOut },
  };
}

/**
 * Begins a second look after an answer that deserves one. Returns the answer, whose body may be read on its way to the
 * client.
 */
export function lookAgain(
  context: RequestContext,
  response: ReceivedAnswer,
  decision: StorageDecision,
): ReceivedAnswer {
  if (decision.kind === "store" || context.facts.isPartial) return response;
  return compareBehind(context, lookBehind(context, response, decision), decision);
}

/**
 * The request as it was sent, if the origin's answer to it without its idle fields is not what it should get: an answer
 * that is not stored, or that varies by one of them. These fields are idle no longer.
 */
export function toAskAgainAsSent(context: RequestContext, mayBeStored: boolean, fields: Fields): RequestContext | null {
  const { reduced, isolate, resolved } = context;
  if (!reduced) return null;
  const { asSent, leftOut } = reduced;
  const names = varyFields(fields.get("vary"));
  if (mayBeStored && !leftOut.some(([name]) => names.includes(name))) return null;
  const isForAll = mayBeStored || asSent.facts.identity === "anonymous";
  isolate.secondLooks.idleFields.refute(placeOf(resolved), leftOut, isForAll);
  return asSent;
}
