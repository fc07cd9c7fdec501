import type { Answer } from "../../ports/answer.ts";
import { cancelBody } from "../../ports/cancel-body.ts";
import type { FoundResponse } from "../../ports/store.ts";
import { ANYBODY, judge } from "../../rules/freshness/judge.ts";
import { mayServeOnError, type OriginFailure, type StandInBecause } from "../../rules/freshness/stale-if-error.ts";
import type { StoredHead } from "../../rules/storing/stored-response.ts";
import { mayAnswer, renewUnlessUsable } from "../judging.ts";
import type { Miss } from "../miss.ts";
import type { OriginResult } from "../origin/ask-origin.ts";
import { findAgain } from "../reading-bodies.ts";
import type { RequestContext } from "../request-context.ts";
import { answerAsOfNow } from "./answer-from-store.ts";
import { reportFromStore } from "./answers.ts";
import { forwardedOutcome } from "./pass-on.ts";

/**
 * The stored response in place of a failed origin's answer; `null` if none may be used. RFC 5861 §4. The view is
 * renewed first: the request may have waited for the origin longer than a lease, and a response that was purged in the
 * meantime must not be served (R18). `failure` is the origin's answer or the lack of it, or just its kind if another
 * request found it out.
 */
export async function staleAnswer(
  context: RequestContext,
  miss: Miss,
  failure: OriginResult | OriginFailure | "busy",
): Promise<Answer | null> {
  const { background } = context;
  const { selected } = miss;
  if (!selected) return null;
  await renewUnlessUsable(context, null);
  const response = typeof failure === "object" && failure.kind === "answered" ? failure.response : undefined;
  const kind = failureOf(failure);
  const because = mayStandIn(context, selected.head, kind);
  if (because === null) return null;
  const stored = await findAgain(context, selected);
  if (!stored) return null;
  const outcome = forwardedOutcome(miss, {
    status: response?.status,
    stored: false,
    collapsed: typeof failure === "string", // another request has found it out
    because,
  });
  const answer = await answerAsOfNow(context, stored, "STALE", outcome);
  if (!answer) return null;
  if (mayStandIn(context, stored.head, kind) === null) {
    background.run(cancelBody(answer.body)); // it was purged while its body was looked for
    return null;
  }
  if (response) background.run(cancelBody(response.body));
  reportFromStore(context, "origin", "STALE", answer, stored);
  return answer;
}

/** The failure that the rules for stale responses see. A busy origin is reached: the edge's own 503 is the error then. */
export function failureOf(failure: OriginResult | OriginFailure | "busy"): OriginFailure {
  const kind = typeof failure === "string" ? failure : failure.kind;
  const isOriginLost = typeof failure === "object" && failure.kind === "answered" && failure.response.isOriginLost;
  const isError = (kind === "answered" && !isOriginLost) || kind === "error" || kind === "busy";
  return isError ? "error" : "disconnected";
}

/** Why the current view and the rules let this stored response replace the answer of an origin that fails now. */
export function mayStandIn(
  { ports, facts, resolved }: RequestContext,
  head: StoredHead,
  failure: OriginFailure,
): StandInBecause | null {
  const { purges, clock } = ports;
  const now = clock.now();
  const isViewUsable = purges.isUsable(now, null);
  const answer = purges.check(head, isViewUsable);
  const madeStaleAt = answer === "soft" ? purges.madeStaleAt(head) : null;
  return mayServeOnError(head, facts, { answer, isViewUsable, madeStaleAt }, resolved.route.stale, failure, now);
}

/** Whether the selected response may stand in for an origin that is known to be down. */
export function hasStandIn(context: RequestContext, { selected }: Miss): boolean {
  return selected !== null && mayStandIn(context, selected.head, "disconnected") !== null;
}

/** Whether a visitor who asks for nothing special may have what is held, at once or in place of an error. */
export function isOfUseToOthers({ ports, resolved }: RequestContext, held: FoundResponse | null | undefined): boolean {
  if (!held) return false;
  const { head } = held;
  const { purges, clock } = ports;
  const { stale } = resolved.route;
  const now = clock.now();
  const answer = purges.check(head, true);
  const madeStaleAt = answer === "soft" ? purges.madeStaleAt(head) : null;
  if (mayAnswer(judge(head, ANYBODY, { answer, maxViewAgeMs: 0, awaitsToken: false, madeStaleAt }, stale, now)))
    return true;
  return mayServeOnError(head, ANYBODY, { answer, isViewUsable: true, madeStaleAt }, stale, "error", now) !== null;
}
