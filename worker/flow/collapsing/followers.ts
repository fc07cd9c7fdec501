import type { Answer } from "../../ports/answer.ts";
import type { SharedFetchOutcome } from "../../ports/fetches-elsewhere.ts";
import { judge, type ReuseRequest } from "../../rules/freshness/judge.ts";
import { mayAnswerWhileUnknown } from "../../rules/freshness/unknown-purge-state.ts";
import { mayBeAnsweredInSession } from "../../rules/identity/identity.ts";
import type { ReceiptToken } from "../../rules/request/receipt-token.ts";
import type { StoredHead } from "../../rules/storing/stored-response.ts";
import { within } from "../../within.ts";
import { answerAsOfNow } from "../answering/answer-from-store.ts";
import { reportFromStore } from "../answering/answers.ts";
import { forwardedOutcome } from "../answering/pass-on.ts";
import { mayAnswer, mustAskForItself, renewUnlessUsable } from "../judging.ts";
import { type Miss, wordsOf } from "../miss.ts";
import type { RequestContext } from "../request-context.ts";
import { selects } from "../selection.ts";
import type { SharedFetch } from "./collapsed-fetches.ts";

type StorableOutcome = Extract<SharedFetchOutcome, { kind: "storable" }>;

/**
 * Waits for the leader, and no longer than a timer of the follower's own allows, because the leader's request may die.
 */
export function waitFor(
  { ports, isolate }: RequestContext,
  fetch: SharedFetch,
): Promise<SharedFetchOutcome | { readonly kind: "waited-enough" }> {
  const enough = () => ({ kind: "waited-enough" }) as const;
  return within(ports.clock, isolate.site.limits.followTimeoutMs, fetch.outcome, enough);
}

/**
 * R5: a follower may take a response that was fetched after the follower arrived, or that its own judgement would
 * accept now. A response that always needs validation, or is already stale, is only for requests that arrived before
 * its fetch began, and where it always does, for none with cookies. RFC 9111 §4. One that a 304 has confirmed was fetched
 * earlier, so it may have been purged since (R10).
 */
export async function mayFollow(
  context: RequestContext,
  fetch: SharedFetch,
  { stored, status, isOfEarlierFetch }: StorableOutcome,
  receiptToken: ReceiptToken | null,
): Promise<boolean> {
  const { ports, arrival } = context;
  const { purges } = ports;
  const { head } = stored;
  const isLater = fetch.order > arrival.order && !isOfEarlierFetch && !mustAskForItself(context, stored);
  if (isLater && status !== 304) return true;
  const token = await renewUnlessUsable(context, receiptToken);
  const now = ports.clock.now();
  const answer = purges.check(head, purges.isUsable(now, token));
  if (!isLater && !isReusable(context, head)) return false;
  if (answer !== "unknown") return answer === "not-purged";
  const sinceFetchMs = Math.max(0, arrival.at - head.fetchedAt);
  const maxViewAgeMs = purges.unknownForMs(now, 0);
  return mayAnswerWhileUnknown({ sinceFetchMs, maxViewAgeMs, awaitsToken: token !== null });
}

/** Whether the response could answer without validation, leaving purges aside. */
export function isReusable(
  { ports, facts, resolved }: RequestContext,
  head: StoredHead,
  request: ReuseRequest = facts,
): boolean {
  const { clock } = ports;
  const unpurged = { answer: "not-purged", maxViewAgeMs: 0, awaitsToken: false, madeStaleAt: null } as const;
  return mayAnswer(judge(head, request, unpurged, resolved.route.stale, clock.now()));
}

/** The answer of the leader's fetch; `null` if this request does not select it, or if its body is gone. */
export async function follow(
  context: RequestContext,
  { stored, status }: StorableOutcome,
  miss: Miss,
): Promise<Answer | null> {
  const { reporter } = context.ports;
  if (!selects(context.reduced?.asSent ?? context, stored)) return null;
  if (!mayBeAnsweredInSession(stored.head, context.facts)) return null;
  const outcome = forwardedOutcome(miss, { status, stored: false, collapsed: true });
  const xCache = status === 304 ? "REVALIDATED" : wordsOf(miss).xCache;
  const answer = await answerAsOfNow(context, stored, xCache, outcome);
  if (!answer) return null;
  reporter.report({ kind: "collapsed" });
  reportFromStore(context, "origin", xCache, answer, stored);
  return answer;
}
