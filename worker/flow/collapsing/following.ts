import type { ReceiptToken } from "../../ports.ts";
import { judge } from "../../rules/freshness/judge.ts";
import type { StoredHead, StoredResponse } from "../../rules/storing/stored-response.ts";
import { answerFromStore } from "../answering/answer-from-store.ts";
import { answerMetadata } from "../answering/answer-metadata.ts";
import { forwarded } from "../origin/ask-origin.ts";
import type { Miss, RequestContext } from "../request-context.ts";
import { selects } from "../selection.ts";
import type { SharedFetch, SharedFetchOutcome } from "./flights.ts";

/** A follower waits for the leader, but only against its own timer: the leader's request may die. */
export async function waitFor(
  { ports, site }: RequestContext,
  flight: SharedFetch,
): Promise<SharedFetchOutcome | "waited-enough"> {
  const wait = ports.clock.wait(site.limits.followMs);
  const patience = wait.over.then(() => "waited-enough" as const);
  const outcome = await Promise.race([flight.outcome, patience]);
  wait.cancel();
  return outcome;
}

/**
 * R5: a follower takes what was fetched after it arrived, or what its own judge would accept at this moment. What is to
 * be validated each time, or is stale by now, is for those alone who came before it was asked for. RFC 9111 §4.
 */
export async function mayFollow(
  context: RequestContext,
  flight: SharedFetch,
  stored: StoredHead,
  after: ReceiptToken | null,
): Promise<boolean> {
  if (flight.order > context.order) return true;
  return (await isUnpurged(context, stored, after)) && isReusable(context, stored);
}

async function isUnpurged(context: RequestContext, stored: StoredHead, after: ReceiptToken | null): Promise<boolean> {
  const { ports, background, arrivedAt } = context;
  let still = after;
  if (!ports.purges.isUsable(ports.clock.now(), still)) still = await ports.purges.renew(background, still);
  const usable = ports.purges.isUsable(ports.clock.now(), still);
  const answer = ports.purges.check(stored, usable);
  if (answer === "unknown") return still === null && arrivedAt - stored.fetchedAt < ports.purges.leaseMs;
  return answer === "not-purged";
}

/** Whether it could answer without validation, all else being known. */
function isReusable({ ports, facts }: RequestContext, stored: StoredHead): boolean {
  const { kind } = judge(stored, facts, "not-purged", ports.purges.leaseMs, ports.clock.now());
  return kind === "fresh" || kind === "stale-usable";
}

/** The answer of another one's fetch; `null` if this request does not select it, or its body is gone. */
export async function follow(context: RequestContext, stored: StoredResponse, miss: Miss): Promise<Response | null> {
  const { reporter } = context.ports;
  if (!selects(context, stored)) return null;
  const outcome = forwarded(miss, { status: stored.head.status, stored: false, collapsed: true });
  const answer = await answerFromStore(context, stored, answerMetadata(context, stored, miss.xCache, outcome));
  if (!answer) return null;
  reporter.report({ kind: "collapsed" });
  reporter.report({ kind: "answered", xCache: miss.xCache });
  return answer;
}
