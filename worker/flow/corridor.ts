import type { ReceiptToken } from "../ports.ts";
import type { Outcome, XCache } from "../rules/forwarding/cache-status.ts";
import { maxForwards } from "../rules/forwarding/max-forwards.ts";
import { judge, type PurgeAnswer, type Verdict } from "../rules/freshness/judge.ts";
import type { RefusedTarget } from "../rules/key/cache-key.ts";
import { readReceiptToken } from "../rules/request/receipt-token.ts";
import { readStoreAsk, type StoreAsk } from "../rules/request/request-facts.ts";
import type { StoredHead, StoredResponse } from "../rules/storing/stored-response.ts";
import { answerFromStore } from "./answering/answer-from-store.ts";
import { edgeAnswer } from "./answering/answers.ts";
import { staleAnswer } from "./answering/stale-answer.ts";
import { follow, mayFollow, waitFor } from "./collapsing/following.ts";
import { forward } from "./origin/forward.ts";
import { headOfOrigin } from "./origin/head-request.ts";
import { type Arrival, enter, type Isolate, type Miss, type Passage } from "./request-context.ts";
import { collapseKey, lookUpSelected, otherVariants, recallSelected } from "./selection.ts";
import { refreshBehind } from "./storing/background-refresh.ts";
import { fetchAndKeep } from "./storing/fetch-and-store.ts";

/**
 * The one corridor from request to response. Reads top to bottom; nothing in it throws on what a peer sends.
 * A memory hit comes back at once, without a promise: that is a third of its cost (`npm run bench -- hit`).
 */
export function handle(arrival: Arrival, isolate: Isolate): Response | Promise<Response> {
  const target = isolate.resolve(arrival.url);
  if (target.kind === "refused") return refuse(isolate, target);
  const passage = enter(arrival, isolate, target);
  switch (passage.ask.mode) {
    case "look-up":
      return lookUp(passage);
    case "refresh":
      return refresh(passage);
    case "bypass":
      return bypass(passage);
  }
}

/** Past the cache, whatever the request: what is left to do when the corridor itself failed (promise 6). */
export async function handleWithoutCache(arrival: Arrival, isolate: Isolate): Promise<Response> {
  const target = isolate.resolve(arrival.url);
  if (target.kind === "refused") return refuse(isolate, target);
  return bypass(enter(arrival, isolate, target));
}

function refuse({ ports }: Isolate, target: RefusedTarget): Response {
  const detail = target.status === 421 ? "host-unknown" : "url-refused";
  return answerOurselves({ ports }, target.status, detail, `Tidemark refused this request: ${target.because}.`);
}

function answerOurselves({ ports }: Pick<Isolate, "ports">, status: number, detail: string, words: string): Response {
  ports.reporter.report({ kind: "answered-by-edge", detail });
  return edgeAnswer(status, detail, words);
}

/** Memory, under a lease that lives: no I/O, no wait. */
function lookUp(passage: Passage): Response | Promise<Response> {
  const { ports, ask, behind } = passage;
  const { purges, clock } = ports;
  const after = readReceiptToken(ask.after);
  const remembered = recallSelected(passage);
  const now = clock.now();
  if (remembered && purges.isUsable(now, after, withinMsOf(passage, remembered.head))) {
    const verdict = judgeBy(passage, remembered.head, purges.check(remembered.head, true), now);
    if (mayAnswer(verdict)) {
      if (purges.isDue(now)) behind.run(purges.renew(behind, null));
      return hit(passage, remembered, verdict);
    }
  }
  return lookFurther(passage, after);
}

/** The shared tier and, if the lease is over, the view: both at once, and judged after both (R4). */
async function lookFurther(passage: Passage, asked: ReceiptToken | null): Promise<Response> {
  const { ports, behind } = passage;
  const { purges, clock } = ports;
  const arrivedAt = clock.now();
  const isUsable = purges.isUsable(arrivedAt, asked);
  const renewal = isUsable ? asked : purges.renew(behind, asked);
  if (isUsable && purges.isDue(arrivedAt)) behind.run(purges.renew(behind, null));
  const found = await lookUpSelected(passage);
  const early = isUsable ? undefined : needsNoNewerView(passage, found, asked);
  if (early) {
    behind.run(Promise.resolve(renewal));
    return early();
  }
  let after = await renewal;
  if (!purges.isUsable(clock.now(), after)) after = await purges.renew(behind, after);
  const judged: Judged[] = [];
  for (const stored of inHand(passage, found)) {
    const verdict = judgeNow(passage, stored.head, after, clock.now());
    if (mayAnswer(verdict)) return foundHit(passage, stored, found, verdict);
    judged.push({ stored, verdict });
  }
  return fetchFromOrigin(passage, missOf(passage, judged), after);
}

/**
 * What can be done while the view is being renewed: a route may let an older one decide, and a fetch that begins now needs
 * none but the one that is held (R1). `undefined` if the newer view has to be waited for.
 */
function needsNoNewerView(
  passage: Passage,
  found: StoredResponse | undefined,
  asked: ReceiptToken | null,
): (() => Response | Promise<Response>) | undefined {
  const { purges, clock } = passage.ports;
  if (asked !== null) return undefined;
  const stored = inHand(passage, found);
  if (stored.length === 0 && purges.stamp() !== null) {
    return () => fetchFromOrigin(passage, missOf(passage, []), asked);
  }
  const now = clock.now();
  for (const each of stored) {
    if (!purges.isUsable(now, asked, withinMsOf(passage, each.head))) continue;
    const verdict = judgeNow(passage, each.head, asked, now);
    if (mayAnswer(verdict)) return () => foundHit(passage, each, found, verdict);
  }
  return undefined;
}

/** Memory once more, for a fetch that others shared may have landed meanwhile, and what was found in the shared tier. */
function inHand(passage: Passage, found: StoredResponse | undefined): StoredResponse[] {
  return [recallSelected(passage), found].filter((stored) => stored !== undefined);
}

function foundHit(
  passage: Passage,
  stored: StoredResponse,
  found: StoredResponse | undefined,
  verdict: UsableVerdict,
): Response | Promise<Response> {
  if (found && stored === found) passage.ports.store.remember(found);
  return hit(passage, stored, verdict);
}

type UsableVerdict = Extract<Verdict, { kind: "fresh" | "stale-usable" }>;

function mayAnswer(verdict: Verdict): verdict is UsableVerdict {
  return verdict.kind === "fresh" || verdict.kind === "stale-usable";
}

interface Judged {
  readonly stored: StoredResponse;
  readonly verdict: Exclude<Verdict, UsableVerdict>;
}

/** Judges with the clock and the view as they are now; without a usable view by R8, where a token admits nothing (R9). */
function judgeNow(passage: Passage, stored: StoredHead, after: ReceiptToken | null, now: number): Verdict {
  const { purges } = passage.ports;
  const withinMs = withinMsOf(passage, stored);
  const answer = purges.check(stored, purges.isUsable(now, after, withinMs));
  if (answer === "unknown" && after !== null) return { kind: "validate", because: "purge-state-unknown" };
  return judgeBy(passage, stored, answer, now);
}

function judgeBy(passage: Passage, stored: StoredHead, answer: PurgeAnswer, now: number): Verdict {
  const { ports, ask, site } = passage;
  const { purges } = ports;
  const withinMs = withinMsOf(passage, stored);
  const soft = answer === "soft" ? { seenAt: purges.madeStaleAt(stored), forMs: site.purge.softForMs } : null;
  return judge(stored, ask, answer, Math.max(purges.leaseMs, withinMs), now, soft);
}

/** How old a view may be that judges this response, where its route allows more than the lease. Milliseconds. */
function withinMsOf({ target }: Passage, { reuse }: StoredHead): number {
  const { withinMs, immutableWithinMs } = target.route.purge;
  return reuse.immutable ? immutableWithinMs : withinMs;
}

/** Why the origin is asked, and what it may be asked to confirm. What was purged hard is not offered (R10). */
function missOf(passage: Passage, judged: readonly Judged[]): Miss {
  const [latest] = judged
    .filter(({ verdict }) => verdict.kind === "validate")
    .sort((a, b) => b.stored.head.fetchedAt - a.stored.head.fetchedAt);
  if (latest) {
    const { stored, verdict } = latest;
    const { because } = verdict;
    const isStale = !DOUBTS.has(because);
    return {
      xCache: isStale ? "EXPIRED" : "MISS",
      reason: isStale ? "stale" : "request",
      detail: because === "stale" ? undefined : because,
      selected: stored,
      held: [stored, ...otherVariants(passage, stored)],
    };
  }
  const [first] = judged;
  if (first?.verdict.because === "purged") {
    return { xCache: "MISS", reason: "stale", detail: "purged", selected: null, held: [] };
  }
  const held = otherVariants(passage, null);
  if (first) return { xCache: "MISS", reason: "request", detail: first.verdict.because, selected: null, held: [] };
  return {
    xCache: "MISS",
    reason: held.length > 0 ? "vary-miss" : "uri-miss",
    detail: undefined,
    selected: null,
    held,
  };
}

/** Why something is validated that is not known to be stale. */
const DOUBTS: ReadonlySet<Judged["verdict"]["because"]> = new Set([
  "request-directive",
  "purge-state-unknown",
  "unverifiable",
]);

/** From store; what is stale is fetched anew behind the answer. A body that was stored apart may be gone: a miss. */
function hit(passage: Passage, stored: StoredResponse, verdict: UsableVerdict): Response | Promise<Response> {
  const { reporter } = passage.ports;
  const { ageSeconds, ttlSeconds } = verdict;
  const { browserTtlSeconds } = passage.target.route;
  const xCache = xCacheOf(verdict);
  const outcome: Outcome = { kind: "hit", ttlSeconds, ...(verdict.kind !== "fresh" && { detail: verdict.because }) };
  if (xCache === "UPDATING") refreshBehind(passage, stored, storeAskOf(passage));
  const answer = answerFromStore(passage, stored, { xCache, outcome, ageSeconds, browserTtlSeconds });
  if (answer instanceof Promise) {
    return answer.then((streamed) => {
      if (!streamed) return fetchFromOrigin(passage, BODY_GONE, readReceiptToken(passage.ask.after));
      reporter.report({ kind: "answered", xCache });
      return streamed;
    });
  }
  reporter.report({ kind: "answered", xCache });
  return answer;
}

const BODY_GONE: Miss = { xCache: "MISS", reason: "uri-miss", detail: "body-gone", selected: null, held: [] };

function xCacheOf(verdict: UsableVerdict): XCache {
  if (verdict.kind === "fresh") return "HIT";
  return verdict.because === "max-stale" ? "STALE" : "UPDATING";
}

async function fetchFromOrigin(passage: Passage, miss: Miss, after: ReceiptToken | null): Promise<Response> {
  const { ask, ports, flights } = passage;
  if (ask.directives.onlyIfCached) {
    return answerOurselves(
      passage,
      504,
      "only-if-cached",
      "504: this page is not stored, and only a stored one is wanted.",
    );
  }
  const storeAsk = storeAskOf(passage);
  if (ask.authorized) {
    ports.reporter.report({ kind: "asked-past-the-cache" });
    return forward(passage, miss);
  }
  if (ask.method === "HEAD") return headOfOrigin(passage, miss);
  if (storeAsk.partial && !mayFetchWhole(passage, miss)) return forward(passage, { ...miss, reason: "partial" });
  const fetchAlone = () => fetchAndKeep(passage, storeAsk, miss, null);
  if (ask.directives.forbidsStoring) return fetchAlone();

  // Visitors with cookies may wait for an anonymous fetch, but nobody waits for one whose answer may be personal.
  for (let failures = 0; ; ) {
    const anonymousKey = collapseKey(passage);
    const key = storeAsk.identifying ? `cookies ${anonymousKey}` : anonymousKey;
    if (flights.isHitForMiss(key, ports.clock.now())) return fetchAlone();
    const flight = flights.find(anonymousKey) ?? flights.find(key);
    if (!flight) return fetchAndKeep(passage, storeAsk, miss, key);
    const landed = await waitFor(passage, flight);
    if (landed === "waited-enough") {
      flights.abandon(flight);
      continue;
    }
    if (landed.kind === "not-shareable") return fetchAlone();
    if (landed.kind === "failed") {
      const stale = landed.byOrigin ? await staleAnswer(passage, miss, null) : null;
      if (stale) return stale;
      if (++failures > 1) return fetchAlone();
      continue;
    }
    if (await mayFollow(passage, flight, landed.stored.head, after)) {
      const answer = await follow(passage, landed.stored, miss);
      if (answer) return answer;
    }
    // Refused: the next flight begins after this request arrived, and is shared by all who were refused.
  }
}

/** Whether the whole is fetched for somebody who asked for a part: where it is small, or can be confirmed. */
function mayFetchWhole({ site }: Passage, { held }: Miss): boolean {
  return site.limits.fetchWholeBytes > 0 || held.length > 0;
}

function storeAskOf({ ask, request, site }: Passage): StoreAsk {
  return readStoreAsk(ask, (name) => request.headers.get(name), site.ignoredCookies);
}

/** Fetches without looking at what is stored, and keeps what comes: `Tidemark-Refresh`. Joins no older fetch (R20). */
async function refresh(passage: Passage): Promise<Response> {
  const { ports, ask, behind } = passage;
  const verdict = await ports.tokens.check(ask.refreshToken, "purge");
  if (verdict.kind === "refused") {
    const status = verdict.because === "unauthorized" ? 401 : 403;
    const words = `Tidemark refused to refresh this page: ${verdict.because}.`;
    return answerOurselves(passage, status, "refresh-refused", words);
  }
  if (!ports.purges.isUsable(ports.clock.now(), null)) await ports.purges.renew(behind, null);
  return fetchAndKeep(passage, storeAskOf(passage), REFRESH, null);
}

const REFRESH: Miss = { xCache: "BYPASS", reason: "request", detail: "refresh", selected: null, held: [] };

/** What is not looked up: it goes to the origin as it is, and nothing is kept. */
async function bypass(passage: Passage): Promise<Response> {
  const { ask, target, request } = passage;
  if (maxForwards(ask.method, request.headers.get("max-forwards")).kind === "answer") {
    return answerOurselves(passage, 200, "max-forwards", "This edge is the last hop that the request may reach.");
  }
  const reason = ask.method === "GET" || ask.method === "HEAD" ? "bypass" : "method";
  const detail = reason === "method" || target.mayStore ? undefined : "route-condition";
  return forward(passage, { xCache: "BYPASS", reason, detail, selected: null, held: [] });
}
