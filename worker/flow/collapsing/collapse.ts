import type { Answer } from "../../ports/answer.ts";
import type { FoundResponse } from "../../ports/store.ts";
import type { ReceiptToken } from "../../rules/request/receipt-token.ts";
import { staleAnswer } from "../answering/stale-answer.ts";
import { isInMemory } from "../found-response.ts";
import { judgeNow, mayAnswer } from "../judging.ts";
import type { Miss } from "../miss.ts";
import { cancelBody } from "../origin/cancel-body.ts";
import type { RequestContext } from "../request-context.ts";
import { selectInSharedTier } from "../selection.ts";
import { fetchAndStore } from "../storing/fetch-and-store.ts";
import type { LeadingFetch, SharedFetch } from "./collapsed-fetches.ts";
import { collapsingKeys } from "./collapsing-key.ts";
import { follow, mayFollow, waitFor } from "./followers.ts";
import { MAY_KNOW_ELSEWHERE } from "./known-elsewhere.ts";

/** A request that misses, before it has waited for a fetch or after it has waited in vain. */
export interface Attempt {
  readonly context: RequestContext;
  readonly miss: Miss;
  /** The receipt's token that the answer still has to honour. */
  readonly token: ReceiptToken | null;
  readonly lookAgain: () => Answer | Promise<Answer>;
  /** It has waited as long as the site allows, and waits for no other isolate any more. */
  readonly hasWaitedEnough?: true;
  /** A leader has failed. */
  readonly hasFailed?: true;
}

/**
 * Fetches a response together with the other requests of this isolate that miss the same one. The first request is the
 * leader; the others are followers and wait for its fetch. Where another isolate fetches it already, all of them follow
 * that one, once, and then look in the store again.
 */
export function collapse(attempt: Attempt): Answer | Promise<Answer> {
  const { context, miss } = attempt;
  const { ports, collapsed } = context;
  const joins = MAY_KNOW_ELSEWHERE && !attempt.hasWaitedEnough && !context.hasLookedAgain;
  const { own, leader } = collapsingKeys(context);
  if (collapsed.isHitForMiss(own)) return fetchAndStore(context, miss, null);
  if (leader && !(MAY_KNOW_ELSEWHERE && leader.isElsewhere && !joins)) return followOrTryAgain(attempt, leader);
  const begun = collapsed.begin(own, joins);
  if (MAY_KNOW_ELSEWHERE) {
    if (!begun) return collapse(attempt);
    if (attempt.hasFailed && ports.fetchesElsewhere) return leadUnlessStored(attempt, begun);
  }
  return fetchAndStore(context, miss, begun);
}

/** Another isolate may have stored a usable response since the look of this request: it may have learnt late of a failure. */
async function leadUnlessStored(attempt: Attempt, begun: LeadingFetch): Promise<Answer> {
  const { context, miss, token, lookAgain } = attempt;
  const { clock } = context.ports;
  const found = await bringIntoMemory(context);
  if (!found || !mayAnswer(judgeNow(context, found.head, token, clock.now())))
    return fetchAndStore(context, miss, begun);
  begun.tell({ kind: "look-again" });
  return lookAgain();
}

async function followOrTryAgain(attempt: Attempt, leader: SharedFetch): Promise<Answer> {
  const { context, miss, token, lookAgain } = attempt;
  const { collapsed } = context;
  const fetchAlone = () => fetchAndStore(context, miss, null);
  const outcome = await waitFor(context, leader);
  switch (outcome.kind) {
    case "waited-enough":
      collapsed.abandon(leader);
      return collapse({ ...attempt, hasWaitedEnough: true });
    case "look-again":
      if (MAY_KNOW_ELSEWHERE) {
        leader.brought ??= bringIntoMemory(context);
        await leader.brought;
      }
      return lookAgain();
    case "not-shareable":
      if (MAY_KNOW_ELSEWHERE && leader.isElsewhere) collapsed.rememberHitForMiss(leader.key);
      return fetchAlone();
    case "failed": {
      const stale = outcome.byOrigin ? await staleAnswer(context, miss, null) : null;
      if (stale) return stale;
      return attempt.hasFailed ? fetchAlone() : collapse({ ...attempt, hasFailed: true });
    }
    case "storable":
      if (await mayFollow(context, leader, outcome, token)) {
        const answer = await follow(context, outcome.stored, miss);
        if (answer) return answer;
      }
      // The answer was refused for this request. The next fetch begins after its arrival, so all requests that were
      // refused can share it.
      return collapse(attempt);
  }
}

/** Brings the response into memory, so that those who look again need not read it one by one. */
async function bringIntoMemory(context: RequestContext): Promise<FoundResponse | undefined> {
  const found = await selectInSharedTier(context);
  if (found && isInMemory(found)) context.ports.store.remember(found);
  else context.background.run(cancelBody(found?.body ?? null));
  return found;
}
