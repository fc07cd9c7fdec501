import type { Answer } from "../../ports/answer.ts";
import { cancelBody } from "../../ports/cancel-body.ts";
import type { EndedElsewhere, FetchesElsewhere, FetchTurn } from "../../ports/fetches-elsewhere.ts";
import type { FoundResponse } from "../../ports/store.ts";
import type { FetchKey } from "../../rules/key/fetch-key.ts";
import { judgeNow, mayAnswer } from "../judging.ts";
import { isInMemory, readFound } from "../reading-bodies.ts";
import type { Neighbours, RequestContext } from "../request-context.ts";
import { selectInSharedTier } from "../selection.ts";
import type { CollapsedFetches, SharedFetch } from "./collapsed-fetches.ts";

/** The other isolates, on a platform that knows their fetches. */
export class KnownNeighbours implements Neighbours {
  readonly #fetches: FetchesElsewhere;

  constructor(fetches: FetchesElsewhere) {
    this.#fetches = fetches;
  }

  take(key: FetchKey, collapsed: CollapsedFetches): FetchTurn | SharedFetch | undefined {
    const turn = this.#fetches.take(key);
    return turn instanceof Promise ? elsewhereUntil(turn, key, collapsed) : turn;
  }

  avoid(page: string): void {
    this.#fetches.avoid(page);
  }

  bring(context: RequestContext, fetch: SharedFetch): Promise<unknown> {
    fetch.brought ??= bringIntoMemory(context);
    return fetch.brought;
  }

  async leadUnlessStored(
    ...[context, fetch, { token, lookAgain }, lead]: Parameters<Neighbours["leadUnlessStored"]>
  ): Promise<Answer> {
    const found = await bringIntoMemory(context);
    if (!found || !mayAnswer(judgeNow(context, found.head, token, context.ports.clock.now()))) return lead();
    fetch.tell({ kind: "look-again" });
    return lookAgain();
  }

  async takeOver(context: RequestContext, stale: FoundResponse): Promise<boolean> {
    const { ports, background } = context;
    const found = await selectInSharedTier(context);
    if (!found) return false;
    const verdict = judgeNow(context, found.head, null, ports.clock.now());
    if (found.head.fetchedAt <= stale.head.fetchedAt || verdict.kind !== "fresh") {
      background.run(cancelBody(found.body));
      return false;
    }
    const stored = await readFound(context, found);
    if (stored) ports.store.remember(stored);
    return stored !== undefined;
  }
}

function elsewhereUntil(ended: Promise<EndedElsewhere>, key: FetchKey, collapsed: CollapsedFetches): SharedFetch {
  const outcome = ended.then((news) => {
    collapsed.abandon(fetch);
    if (news.kind === "not-shareable") collapsed.rememberHitForMiss(key);
    return news;
  });
  const fetch: SharedFetch = { key, order: 0, outcome, isElsewhere: true };
  return fetch;
}

async function bringIntoMemory(context: RequestContext): Promise<FoundResponse | undefined> {
  const found = await selectInSharedTier(context);
  if (found && isInMemory(found)) context.ports.store.remember(found);
  else context.background.run(cancelBody(found?.body ?? null));
  return found;
}
