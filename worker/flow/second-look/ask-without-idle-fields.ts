import { plainRequest } from "../../rules/request/second-look.ts";
import { varyFields } from "../../rules/variants/vary.ts";
import type { RequestContext } from "../request-context.ts";
import type { StorageDecision } from "../storing/storage-decision.ts";
import { placeOf } from "./second-looks.ts";

/** The request without fields that are known to be idle where it goes; the same request if there is any other. */
export function withoutIdleFields(context: RequestContext): RequestContext {
  const { facts, resolved, isolate, answersHead } = context;
  const { idleFields } = isolate;
  const { route } = resolved;
  if (idleFields.isEmpty || !route.looksAgain || facts.method !== "GET" || facts.isPartial || answersHead)
    return context;
  if (facts.directives.forbidsStoring) return context;
  const plain = plainRequest(facts.fields, "anonymous", route.selectingNames, route);
  const isAnonymous = facts.identity === "anonymous";
  if (!plain || !idleFields.mayLeaveOut(placeOf(resolved), plain.leftOut, isAnonymous)) return context;
  const { fields, leftOut } = plain;
  return {
    ...context,
    facts: facts.withFields(fields),
    reduced: { asSent: context, leftOut },
  };
}

/**
 * The request as it was sent, if the origin's answer to it without its idle fields is not what it should get: an answer
 * that is not stored, or that varies by one of them. These fields are idle no longer.
 */
export function toAskAgainAsSent(
  context: RequestContext,
  decision: StorageDecision,
  vary: string | null,
): RequestContext | null {
  const { reduced, isolate, resolved } = context;
  if (!reduced) return null;
  const { asSent, leftOut } = reduced;
  const names = varyFields(vary);
  if (decision.kind === "store" && !leftOut.some((name) => names.includes(name))) return null;
  isolate.idleFields.refute(
    placeOf(resolved),
    leftOut,
    decision.kind === "store" || asSent.facts.identity === "anonymous",
  );
  return asSent;
}
