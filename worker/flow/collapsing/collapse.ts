import type { Answer, FoundResponse, ReceiptToken } from "../../ports.ts";
import { staleAnswer } from "../answering/stale-answer.ts";
import { isInMemory } from "../found-response.ts";
import { judgeNow, mayAnswer } from "../judging.ts";
import type { Miss } from "../miss.ts";
import { cancelBody } from "../origin/cancel-body.ts";
import type { RequestContext } from "../request-context.ts";
import { selectInSharedTier } from "../selection.ts";
import { fetchAndStore } from "../storing/fetch-and-store.ts";
import { collapsingKeys } from "./collapsing-key.ts";
import { follow, mayFollow, waitFor } from "./followers.ts";
import { MAY_KNOW_ELSEWHERE } from "./known-elsewhere.ts";

/**
 * Fetches a response together with the other requests of this isolate that miss the same one. The first request is the
 * leader; the others are followers and wait for its fetch. Where another isolate fetches it already, all of them follow
 * that one, once, and then look in the store again. `token` is the receipt's token that the answer still has to honour.
 */
export async function collapse(
  context: RequestContext,
  miss: Miss,
  token: ReceiptToken | null,
  lookAgain: () => Promise<Answer>,
): Promise<Answer> {
  const { ports, collapsed } = context;
  const fetchAlone = () => fetchAndStore(context, miss, null);
  let joins = !context.hasLookedAgain;
  for (let failures = 0; ; ) {
    const { own, leader } = collapsingKeys(context);
    if (collapsed.isHitForMiss(own, ports.clock.now())) return fetchAlone();
    if (!leader || (leader.isElsewhere && !joins)) {
      const begun = collapsed.begin(own, joins);
      if (!begun) continue;
      if (MAY_KNOW_ELSEWHERE && failures > 0 && ports.fetchesElsewhere && (await isStored(context, token))) {
        begun.tell({ kind: "look-again" }, ports.clock.now());
        return lookAgain();
      }
      return fetchAndStore(context, miss, begun);
    }
    const outcome = await waitFor(context, leader);
    switch (outcome.kind) {
      case "waited-enough":
        collapsed.abandon(leader);
        joins = false;
        break;
      case "look-again":
        if (MAY_KNOW_ELSEWHERE) {
          leader.brought ??= bringIntoMemory(context);
          await leader.brought;
        }
        return lookAgain();
      case "not-shareable":
        if (leader.isElsewhere) collapsed.rememberHitForMiss(leader.key, ports.clock.now());
        return fetchAlone();
      case "failed": {
        const stale = outcome.byOrigin ? await staleAnswer(context, miss, null) : null;
        if (stale) return stale;
        if (++failures > 1) return fetchAlone();
        break;
      }
      case "storable":
        if (await mayFollow(context, leader, outcome.stored.head, token)) {
          const answer = await follow(context, outcome.stored, miss);
          if (answer) return answer;
        }
        // The answer was refused for this request. The next fetch begins after its arrival, so all requests that were
        // refused can share it.
        break;
    }
  }
}

/** Whether another isolate has stored a usable response since the look of this request: it may have learnt late of a failure. */
async function isStored(context: RequestContext, token: ReceiptToken | null): Promise<boolean> {
  const found = await bringIntoMemory(context);
  return found !== undefined && mayAnswer(judgeNow(context, found.head, token, context.ports.clock.now()));
}

/** Brings the response into memory, so that those who look again need not read it one by one. */
async function bringIntoMemory(context: RequestContext): Promise<FoundResponse | undefined> {
  const found = await selectInSharedTier(context);
  if (found && isInMemory(found)) context.ports.store.remember(found);
  else context.background.run(cancelBody(found?.body ?? null));
  return found;
}
