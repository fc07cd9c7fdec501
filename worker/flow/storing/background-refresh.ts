import type { FoundResponse } from "../../ports/store.ts";
import type { StoredResponse } from "../../rules/storing/stored-response.ts";
import type { LeadingFetch } from "../collapsing/collapsed-fetches.ts";
import { collapsingKeys } from "../collapsing/collapsing-key.ts";
import { MAY_KNOW_ELSEWHERE } from "../collapsing/known-elsewhere.ts";
import { isInMemory, readFound } from "../found-response.ts";
import { judgeNow } from "../judging.ts";
import type { Miss } from "../miss.ts";
import { cancelBody } from "../origin/cancel-body.ts";
import type { RequestContext } from "../request-context.ts";
import { selectInSharedTier } from "../selection.ts";
import { fetchAndStore } from "./fetch-and-store.ts";
import { takeFromElsewhere } from "./take-from-elsewhere.ts";
import { withoutAnswerEvents } from "./without-answer-events.ts";

/**
 * Refetches, in the background, a response that has just been served stale. RFC 5861 §3. A page has one refresh at a
 * time, which other requests may join like any fetch. A request with `no-store` must not start it; the next request
 * will. Where another isolate refreshes the page, or has done so, its response is taken from the shared tier.
 */
export function refreshInBackground(context: RequestContext, stored: FoundResponse): void {
  const { facts, background, collapsed } = context;
  if (facts.directives.forbidsStoring) return;
  const { own, leader } = collapsingKeys(context);
  if (leader) return;
  const begun = collapsed.begin(own);
  if (!MAY_KNOW_ELSEWHERE || begun) background.run(refresh(context, stored, begun));
  else {
    const elsewhere = collapsed.find(own)!;
    background.run(elsewhere.outcome.then(() => takeFromElsewhere(context, stored)));
  }
}

async function refresh(context: RequestContext, stored: FoundResponse, begun: LeadingFetch | null): Promise<void> {
  const { facts, ports } = context;
  if (MAY_KNOW_ELSEWHERE && ports.fetchesElsewhere && (await takeFromElsewhere(context, stored))) {
    return begun?.tell({ kind: "look-again" });
  }
  const unseen: RequestContext = {
    ...context,
    facts: facts.forWholePage(),
    answersHead: false,
    ports: { ...ports, reporter: withoutAnswerEvents(ports.reporter) },
  };
  const found = isInMemory(stored) ? stored : await readAgain(context);
  // A purge may have come meanwhile (R10).
  const toValidate = found && judgeNow(context, found.head, null, ports.clock.now()).kind !== "none" ? found : null;
  const miss: Miss = { kind: "stale", because: "stale", selected: null, toValidate };
  const answer = await fetchAndStore(unseen, miss, begun);
  await cancelBody(answer.body);
}

/** What is stored, once more: the body of what answers is on its way to the client. */
async function readAgain(context: RequestContext): Promise<StoredResponse | undefined> {
  const found = await selectInSharedTier(context);
  return found && readFound(context, found);
}
