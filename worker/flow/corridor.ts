import type { Answer } from "../ports/answer.ts";
import { cancelBody } from "../ports/cancel-body.ts";
import type { FoundResponse } from "../ports/store.ts";
import type { Outcome } from "../rules/forwarding/cache-status.ts";
import type { RefusedUrl } from "../rules/key/cache-key.ts";
import type { ReceiptToken } from "../rules/request/receipt-token.ts";
import type { StoredResponse } from "../rules/storing/stored-response.ts";
import { answerFromStore } from "./answering/answer-from-store.ts";
import { answerOurselves, reportFromStore } from "./answering/answers.ts";
import { giveTrackersBack } from "./answering/give-trackers-back.ts";
import { collapse, headByGet } from "./collapsing/collapse.ts";
import { judgeAfterWait, judgeAtOnce, mayAnswer, renewUnlessUsable } from "./judging.ts";
import { type Look, lookFurther } from "./looking-up.ts";
import { BODY_GONE, type Miss, missBy, missOf, type UsableVerdict, xCacheOf } from "./miss.ts";
import { forward, forwardHead } from "./origin/forward.ts";
import { bypassOf, type Entry, entryOf, planFetch } from "./plans.ts";
import { type IncomingRequest, type Isolate, openContext, type RequestContext } from "./request-context.ts";
import { withoutIdleFields } from "./second-look/second-look.ts";
import { learnVariants, selectInMemory } from "./selection.ts";
import { refreshInBackground } from "./storing/background-refresh.ts";
import { fetchAndStore, fetchPart } from "./storing/fetch-and-store.ts";

/**
 * The one path from request to response. No input from a client or an origin makes it throw. A memory hit is returned
 * without a promise, because a promise takes a third of its cost (`npm run bench -- hit`).
 */
export function handle(
  incoming: IncomingRequest,
  isolate: Isolate,
  choose: (context: RequestContext) => Entry = entryOf,
): Answer | Promise<Answer> {
  const resolved = isolate.resolve(incoming.url, incoming.child);
  if (resolved.kind === "refused") return refuse(isolate, resolved);
  const context = openContext(incoming, isolate, resolved);
  const entry = choose(context);
  switch (entry.kind) {
    case "look-up":
      return lookUp(context);
    case "refresh":
      return refresh(context);
    case "bypass":
      return bypass(context, entry.miss);
    case "last-hop":
      return answerOurselves(context, 200, "max-forwards", "Max-Forwards ends at this edge.");
  }
}

/** Passes any request on to the origin, as the last resort when the corridor itself has failed (promise 6). */
export async function handleWithoutCache(incoming: IncomingRequest, isolate: Isolate): Promise<Answer> {
  return handle(incoming, isolate, bypassOf);
}

function refuse({ ports }: Isolate, { status, because }: RefusedUrl): Answer {
  const detail = status === 421 ? "host-unknown" : "url-refused";
  return answerOurselves({ ports }, status, detail, `Tidemark refused this request: ${because}.`);
}

/** Looks in memory under a live lease. It does no I/O and never waits. */
function lookUp(context: RequestContext): Answer | Promise<Answer> {
  const { ports, background } = context;
  const { purges, clock } = ports;
  const remembered = selectInMemory(context);
  const now = clock.now();
  const verdict = remembered && judgeAtOnce(context, remembered.head, now);
  if (!remembered || !verdict) return lookBeyondMemory(context, remembered, now);
  if (purges.isDue(now)) background.run(purges.renew(background, null));
  return hit(context, remembered, verdict, "memory");
}

/**
 * Apart from `lookUp`, because of the functions in here: each call of the function around them makes room for the
 * variables that they share, and a hit in memory needs none.
 */
function lookBeyondMemory(
  context: RequestContext,
  remembered: StoredResponse | undefined,
  now: number,
): Answer | Promise<Answer> {
  const look = lookFurther(context, remembered, now);
  return look instanceof Promise ? look.then((done) => goOn(context, done)) : goOn(context, look);
}

function goOn(context: RequestContext, look: Look): Answer | Promise<Answer> {
  if (look.kind === "answers") return hit(context, look.stored, look.verdict, "shared");
  return fetchFromOrigin(context, missOf(context, look.unusable), look.token);
}

/**
 * Answers from the store, and refreshes a stale response in the background. A body that is on its way from the shared tier
 * is passed on as it comes. If a body that was stored separately is missing, the request is a miss. `tier`: where the
 * response was found.
 */
function hit(
  context: RequestContext,
  stored: FoundResponse,
  verdict: UsableVerdict,
  tier: "memory" | "shared",
): Answer | Promise<Answer> {
  const { ageSeconds, ttlSeconds } = verdict;
  const { browserTtlSeconds } = context.resolved.route;
  const xCache = xCacheOf(verdict);
  const outcome: Outcome = { kind: "hit", ttlSeconds, ...(verdict.kind !== "fresh" && { detail: verdict.because }) };
  if (xCache === "UPDATING") refreshInBackground(context, stored);
  const answer = answerFromStore(context, stored, { xCache, outcome, ageSeconds, browserTtlSeconds });
  if (answer instanceof Promise) {
    return answer.then(async (streamed) => {
      if (!streamed) return fetchFromOrigin(context, BODY_GONE, context.facts.receiptToken);
      const later = await judgeAfterWait(context, stored.head);
      const isPurgedSoftly = later.kind === "stale-usable" && later.because === "soft-purge" && xCache === "HIT";
      if (isPurgedSoftly || !mayAnswer(later)) {
        context.background.run(cancelBody(streamed.body));
        // It was purged, or its time ended, while the request waited for its body. Another one may be stored by now.
        if (!context.hasJudgedAgain) return lookUp({ ...context, hasJudgedAgain: true });
        const miss = mayAnswer(later) ? BODY_GONE : missOf(context, [{ stored, verdict: later }]);
        return fetchFromOrigin(context, miss, context.facts.receiptToken);
      }
      reportFromStore(context, "shared", xCache, streamed, stored);
      return giveTrackersBack(context, streamed);
    });
  }
  reportFromStore(context, tier, xCache, answer, stored);
  return giveTrackersBack(context, answer);
}

/**
 * Fetches, because no stored response may answer. `token` is the receipt's token that the answer still has to honour.
 */
function fetchFromOrigin(context: RequestContext, miss: Miss, token: ReceiptToken | null): Answer | Promise<Answer> {
  const plan = planFetch(context, miss);
  const lookAgain = (inLineSince = context.inLineSince) => lookUp({ ...context, hasLookedAgain: true, inLineSince });
  if (plan.kind === "forward" || plan.kind === "fetch-for-one") reportPastTheCache(context);
  // The origin gets the key's query.
  const ofKey = (answer: Answer | Promise<Answer>) =>
    answer instanceof Promise ? answer.then((later) => giveTrackersBack(context, later)) : answer;
  switch (plan.kind) {
    case "only-if-cached":
      return answerOurselves(context, 504, "only-if-cached", NOT_STORED);
    case "forward":
      return forward(context, plan.miss);
    case "part":
    case "date":
      return ofKey(fetchPart(context, miss, plan.kind));
    case "head-by-get":
      return ofKey(headByGet(context, miss, token, lookAgain));
    case "head":
      return ofKey(forwardHead(context, miss));
    case "fetch-unstored":
      return ofKey(fetchAndStore(context, miss, null));
    case "fetch-for-one":
      return ofKey(fetchAndStore(withoutIdleFields(context), plan.miss, null));
    case "fetch":
      return ofKey(collapse({ context: withoutIdleFields(context, miss.toValidate), miss, token, lookAgain }));
  }
}

const NOT_STORED = "504: the request accepts only a stored page.";

/** Fetches and stores the answer, whatever is stored: `Tidemark-Refresh`. Joins no older fetch (R20). */
async function refresh(context: RequestContext): Promise<Answer> {
  const { ports, facts } = context;
  const verdict = await ports.tokens.check(facts.refreshToken, "purge");
  if (verdict.kind === "refused") {
    const status = verdict.because === "unauthorized" ? 401 : 403;
    const words = `Tidemark refused to refresh this page: ${verdict.because}.`;
    return answerOurselves(context, status, "refresh-refused", words);
  }
  await renewUnlessUsable(context, null);
  await learnVariants(context);
  return fetchAndStore(context, missBy({ kind: "refresh" }), null);
}

/** Sends a request that is not looked up to the origin unchanged, and stores nothing. */
async function bypass(context: RequestContext, miss: Miss): Promise<Answer> {
  if (miss.kind === "past-the-cache") reportPastTheCache(context);
  return forward(context, miss);
}

function reportPastTheCache({ ports }: RequestContext): void {
  ports.reporter.report({ kind: "asked-past-the-cache" });
}
