import type { Answer } from "../../ports/answer.ts";
import { cancelBody } from "../../ports/cancel-body.ts";
import { fetchKeyText } from "../../rules/key/fetch-key.ts";
import { outlasts } from "../../rules/queueing/queue-order.ts";
import type { ReceiptToken } from "../../rules/request/receipt-token.ts";
import type { NotStored } from "../../rules/storing/not-stored.ts";
import { staleAnswer } from "../answering/stale-answer.ts";
import { judgeAfterWait, mayAnswer } from "../judging.ts";
import type { Miss } from "../miss.ts";
import { answerBusy } from "../origin/ask-origin.ts";
import { forwardHead } from "../origin/forward.ts";
import { planFetch } from "../plans.ts";
import { clientOf, type RequestContext } from "../request-context.ts";
import { selectInMemory } from "../selection.ts";
import { fetchAndStore, fetchPart } from "../storing/fetch-and-store.ts";
import { beginFetch, fetchKeyOf } from "./begin-fetch.ts";
import type { SharedFetch } from "./collapsed-fetches.ts";
import { follow, mayFollow, waitFor } from "./followers.ts";

/** A request that misses, before it waits for a fetch or after a wait that brought no answer. */
export interface Attempt {
  readonly context: RequestContext;
  readonly miss: Miss;
  /** The receipt's token that the answer still has to honour. */
  readonly token: ReceiptToken | null;
  /** `inLineSince`: when the request began to wait for its turn at the origin, if it did: epoch milliseconds. */
  readonly lookAgain: (inLineSince?: number) => Answer | Promise<Answer>;
  /** It has waited as long as the site allows, and waits for nobody any more. */
  readonly hasWaitedEnough?: true;
  /** A leader has failed. */
  readonly hasFailed?: true;
  /** The key of the fetch whose answer this request could not use. */
  readonly refused?: string;
}

/**
 * Fetches a response together with the other requests of this isolate that miss the same one. The first request is the
 * leader; the others are followers and wait for its fetch. If another isolate is fetching it already, all of them
 * follow that one, once, and then look in the store again.
 */
export function collapse(attempt: Attempt): Answer | Promise<Answer> {
  const { context, miss } = attempt;
  const { neighbours } = context.isolate;
  const begun = beginFetch(context, !attempt.hasWaitedEnough && !context.hasLookedAgain);
  switch (begun.kind) {
    case "alone":
      return fetchAndStore(context, miss, null);
    case "follow":
      return attempt.hasWaitedEnough ? fetchAndStore(context, miss, null) : followOrTryAgain(attempt, begun.fetch);
    case "lead": {
      const lead = () => fetchAndStore(context, miss, begun.fetch);
      if (!attempt.hasFailed || !neighbours) return lead();
      return neighbours.leadUnlessStored(context, begun.fetch, attempt, lead);
    }
  }
}

async function followOrTryAgain(attempt: Attempt, fetch: SharedFetch): Promise<Answer> {
  const { context, miss, token, lookAgain } = attempt;
  const { collapsed, neighbours, originGate } = context.isolate;
  if (fetch.place) originGate?.share(fetch.place, clientOf(context));
  const fetchAlone = () => fetchAndStore(context, miss, null);
  const outcome = await waitFor(context, fetch);
  const turnAt = fetch.place?.turnAt ?? 0;
  /** If the leader had to wait for its turn, so did this request. */
  const endSharedWait = () => turnAt > context.arrival.at && endWait(context, turnAt);
  switch (outcome.kind) {
    case "waited-enough": {
      collapsed.abandon(fetch);
      const stored = selectInMemory(context);
      if (stored && mayAnswer(await judgeAfterWait(context, stored.head))) return lookAgain();
      return collapse({ ...attempt, hasWaitedEnough: true });
    }
    case "look-again":
      endSharedWait();
      await neighbours?.bring(context, fetch);
      return lookAgain();
    case "not-shareable":
      return context.facts.isPartial ? fetchPart(context, miss) : fetchAlone();
    case "failed": {
      const isBusy = outcome.byOrigin === "busy";
      const answer = outcome.byOrigin ? await staleAnswer(context, miss, outcome.byOrigin) : null;
      // A fetch elsewhere did not wait in this client's place, and one that began long before this request came has waited
      // longer. The next one waits in this client's place, and joins none elsewhere.
      const goesOn = !fetch.place || outlasts(context.arrival.at, fetch.place, collapsed.now);
      if (isBusy && !answer && goesOn) return lookAgain(context.arrival.at);
      if (isBusy) endWait(context, undefined);
      if (answer) return answer;
      if (isBusy) return answerBusy(context);
      // The whole of which the request wants a part has turned out not to be stored.
      if (context.facts.isPartial && planFetch(context, miss).kind === "part") return fetchPart(context, miss);
      return attempt.hasFailed ? fetchAlone() : collapse({ ...attempt, hasFailed: true });
    }
    case "storable": {
      const isRefusedAgain = attempt.refused === fetchKeyText(fetch.key);
      if (await mayFollow(context, fetch, outcome, token)) {
        const answer = await follow(context, outcome, miss);
        if (answer) endSharedWait();
        if (answer) return answer;
      }
      // The answer was refused for this request. The next fetch begins after its arrival, so all requests that were
      // refused can share it. If it is refused again, they would wait for one another: each asks for itself.
      return isRefusedAgain ? fetchAlone() : collapse({ ...attempt, refused: fetchKeyText(fetch.key) });
    }
  }
}

/** The fetch that this request followed has had its turn at the origin after it came, or gets none. */
function endWait(context: RequestContext, turnAt: number | undefined): void {
  const { isolate, ports, incoming, arrival } = context;
  isolate.originGate?.endWaitOf(clientOf(context), arrival.at, turnAt, ports.reporter, incoming.request);
}

/** Fetches the page as a GET would, and answers with its head. */
export async function headByGet(
  context: RequestContext,
  miss: Miss,
  token: ReceiptToken | null,
  lookAgain: Attempt["lookAgain"],
): Promise<Answer> {
  const { isolate, ports, background } = context;
  const askByHead = (notStored: NotStored) => {
    isolate.unstored.remember(fetchKeyOf(context), ports.clock.now(), "HEAD");
    return forwardHead(context, miss, notStored);
  };
  const asGet = { ...context, facts: context.facts.forWholePage(), askByHead };
  const answer = await collapse({ context: asGet, miss, token, lookAgain });
  background.run(cancelBody(answer.body)); // it is read for the store alone
  return { ...answer, body: null };
}
