import type { ReceiptToken } from "../ports.ts";
import type { Outcome, XCache } from "../rules/forwarding/cache-status.ts";
import { maxForwards } from "../rules/forwarding/max-forwards.ts";
import { judge, type PurgeAnswer, type Verdict } from "../rules/freshness/judge.ts";
import type { RefusedTarget } from "../rules/key/cache-key.ts";
import { readReceiptToken } from "../rules/request/receipt-token.ts";
import { readStorageRequest, type StorageRequest } from "../rules/request/request-facts.ts";
import type { StoredHead, StoredResponse } from "../rules/storing/stored-response.ts";
import { answerFromStore } from "./answering/answer-from-store.ts";
import { edgeAnswer } from "./answering/answers.ts";
import { staleAnswer } from "./answering/stale-answer.ts";
import { follow, mayFollow, waitFor } from "./collapsing/following.ts";
import { forward } from "./origin/forward.ts";
import { forwardHead } from "./origin/head-request.ts";
import { type IncomingRequest, type Isolate, type Miss, openContext, type RequestContext } from "./request-context.ts";
import { collapseKey, otherVariants, selectInMemory, selectInSharedTier } from "./selection.ts";
import { refreshInBackground } from "./storing/background-refresh.ts";
import { fetchAndStore } from "./storing/fetch-and-store.ts";

/**
 * The one corridor from request to response. Reads top to bottom; nothing in it throws on what a peer sends.
 * A memory hit comes back at once, without a promise: that is a third of its cost (`npm run bench -- hit`).
 */
export function handle(arrival: IncomingRequest, isolate: Isolate): Response | Promise<Response> {
  const target = isolate.resolve(arrival.url);
  if (target.kind === "refused") return refuse(isolate, target);
  const context = openContext(arrival, isolate, target);
  switch (context.facts.mode) {
    case "look-up":
      return lookUp(context);
    case "refresh":
      return refresh(context);
    case "bypass":
      return bypass(context);
  }
}

/** Past the cache, whatever the request: what is left to do when the corridor itself failed (promise 6). */
export async function handleWithoutCache(arrival: IncomingRequest, isolate: Isolate): Promise<Response> {
  const target = isolate.resolve(arrival.url);
  if (target.kind === "refused") return refuse(isolate, target);
  return bypass(openContext(arrival, isolate, target));
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
function lookUp(context: RequestContext): Response | Promise<Response> {
  const { ports, facts, background } = context;
  const { purges, clock } = ports;
  const after = readReceiptToken(facts.after);
  const remembered = selectInMemory(context);
  const now = clock.now();
  if (remembered && purges.isUsable(now, after, withinMsOf(context, remembered.head))) {
    const verdict = judgeBy(context, remembered.head, purges.check(remembered.head, true), now);
    if (mayAnswer(verdict)) {
      if (purges.isDue(now)) background.run(purges.renew(background, null));
      return hit(context, remembered, verdict);
    }
  }
  return lookFurther(context, after);
}

/** The shared tier and, if the lease is over, the view: both at once, and judged after both (R4). */
async function lookFurther(context: RequestContext, asked: ReceiptToken | null): Promise<Response> {
  const { ports, background } = context;
  const { purges, clock } = ports;
  const arrivedAt = clock.now();
  const isUsable = purges.isUsable(arrivedAt, asked);
  const renewal = isUsable ? asked : purges.renew(background, asked);
  if (isUsable && purges.isDue(arrivedAt)) background.run(purges.renew(background, null));
  const found = await selectInSharedTier(context);
  const early = isUsable ? undefined : needsNoNewerView(context, found, asked);
  if (early) {
    background.run(Promise.resolve(renewal));
    return early();
  }
  let after = await renewal;
  if (!purges.isUsable(clock.now(), after)) after = await purges.renew(background, after);
  const judged: Judged[] = [];
  for (const stored of inHand(context, found)) {
    const verdict = judgeNow(context, stored.head, after, clock.now());
    if (mayAnswer(verdict)) return foundHit(context, stored, found, verdict);
    judged.push({ stored, verdict });
  }
  return fetchFromOrigin(context, missOf(context, judged), after);
}

/**
 * What can be done while the view is being renewed: a route may let an older one decide, and a fetch that begins now needs
 * none but the one that is held (R1). `undefined` if the newer view has to be waited for.
 */
function needsNoNewerView(
  context: RequestContext,
  found: StoredResponse | undefined,
  asked: ReceiptToken | null,
): (() => Response | Promise<Response>) | undefined {
  const { purges, clock } = context.ports;
  if (asked !== null) return undefined;
  const stored = inHand(context, found);
  if (stored.length === 0 && purges.stamp() !== null) {
    return () => fetchFromOrigin(context, missOf(context, []), asked);
  }
  const now = clock.now();
  for (const each of stored) {
    if (!purges.isUsable(now, asked, withinMsOf(context, each.head))) continue;
    const verdict = judgeNow(context, each.head, asked, now);
    if (mayAnswer(verdict)) return () => foundHit(context, each, found, verdict);
  }
  return undefined;
}

/** Memory once more, for a fetch that others shared may have landed meanwhile, and what was found in the shared tier. */
function inHand(context: RequestContext, found: StoredResponse | undefined): StoredResponse[] {
  return [selectInMemory(context), found].filter((stored) => stored !== undefined);
}

function foundHit(
  context: RequestContext,
  stored: StoredResponse,
  found: StoredResponse | undefined,
  verdict: UsableVerdict,
): Response | Promise<Response> {
  if (found && stored === found) context.ports.store.remember(found);
  return hit(context, stored, verdict);
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
function judgeNow(context: RequestContext, stored: StoredHead, after: ReceiptToken | null, now: number): Verdict {
  const { purges } = context.ports;
  const withinMs = withinMsOf(context, stored);
  const answer = purges.check(stored, purges.isUsable(now, after, withinMs));
  if (answer === "unknown" && after !== null) return { kind: "validate", because: "purge-state-unknown" };
  return judgeBy(context, stored, answer, now);
}

function judgeBy(context: RequestContext, stored: StoredHead, answer: PurgeAnswer, now: number): Verdict {
  const { ports, facts, site } = context;
  const { purges } = ports;
  const withinMs = withinMsOf(context, stored);
  const soft = answer === "soft" ? { seenAt: purges.madeStaleAt(stored), forMs: site.purge.softForMs } : null;
  return judge(stored, facts, answer, Math.max(purges.leaseMs, withinMs), now, soft);
}

/** How old a view may be that judges this response, where its route allows more than the lease. Milliseconds. */
function withinMsOf({ target }: RequestContext, { reuse }: StoredHead): number {
  const { withinMs, immutableWithinMs } = target.route.purge;
  return reuse.immutable ? immutableWithinMs : withinMs;
}

/** Why the origin is asked, and what it may be asked to confirm. What was purged hard is not offered (R10). */
function missOf(context: RequestContext, judged: readonly Judged[]): Miss {
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
      held: [stored, ...otherVariants(context, stored)],
    };
  }
  const [first] = judged;
  if (first?.verdict.because === "purged") {
    return { xCache: "MISS", reason: "stale", detail: "purged", selected: null, held: [] };
  }
  const held = otherVariants(context, null);
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
function hit(context: RequestContext, stored: StoredResponse, verdict: UsableVerdict): Response | Promise<Response> {
  const { reporter } = context.ports;
  const { ageSeconds, ttlSeconds } = verdict;
  const { browserTtlSeconds } = context.target.route;
  const xCache = xCacheOf(verdict);
  const outcome: Outcome = { kind: "hit", ttlSeconds, ...(verdict.kind !== "fresh" && { detail: verdict.because }) };
  if (xCache === "UPDATING") refreshInBackground(context, stored, storeAskOf(context));
  const answer = answerFromStore(context, stored, { xCache, outcome, ageSeconds, browserTtlSeconds });
  if (answer instanceof Promise) {
    return answer.then((streamed) => {
      if (!streamed) return fetchFromOrigin(context, BODY_GONE, readReceiptToken(context.facts.after));
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

async function fetchFromOrigin(context: RequestContext, miss: Miss, after: ReceiptToken | null): Promise<Response> {
  const { facts, ports, collapsed } = context;
  if (facts.directives.onlyIfCached) {
    return answerOurselves(
      context,
      504,
      "only-if-cached",
      "504: this page is not stored, and only a stored one is wanted.",
    );
  }
  const storageRequest = storeAskOf(context);
  if (facts.authorized) {
    ports.reporter.report({ kind: "asked-past-the-cache" });
    return forward(context, miss);
  }
  if (facts.method === "HEAD") return forwardHead(context, miss);
  if (storageRequest.partial && !mayFetchWhole(context, miss)) return forward(context, { ...miss, reason: "partial" });
  const fetchAlone = () => fetchAndStore(context, storageRequest, miss, null);
  if (facts.directives.forbidsStoring) return fetchAlone();

  // Visitors with cookies may wait for an anonymous fetch, but nobody waits for one whose answer may be personal.
  for (let failures = 0; ; ) {
    const anonymousKey = collapseKey(context);
    const key = storageRequest.identifying ? `cookies ${anonymousKey}` : anonymousKey;
    if (collapsed.isHitForMiss(key, ports.clock.now())) return fetchAlone();
    const flight = collapsed.find(anonymousKey) ?? collapsed.find(key);
    if (!flight) return fetchAndStore(context, storageRequest, miss, key);
    const landed = await waitFor(context, flight);
    if (landed === "waited-enough") {
      collapsed.abandon(flight);
      continue;
    }
    if (landed.kind === "not-shareable") return fetchAlone();
    if (landed.kind === "failed") {
      const stale = landed.byOrigin ? await staleAnswer(context, miss, null) : null;
      if (stale) return stale;
      if (++failures > 1) return fetchAlone();
      continue;
    }
    if (await mayFollow(context, flight, landed.stored.head, after)) {
      const answer = await follow(context, landed.stored, miss);
      if (answer) return answer;
    }
    // Refused: the next flight begins after this request arrived, and is shared by all who were refused.
  }
}

/** Whether the whole is fetched for somebody who asked for a part: where it is small, or can be confirmed. */
function mayFetchWhole({ site }: RequestContext, { held }: Miss): boolean {
  return site.limits.fetchWholeBytes > 0 || held.length > 0;
}

function storeAskOf({ facts, request, site }: RequestContext): StorageRequest {
  return readStorageRequest(facts, (name) => request.headers.get(name), site.ignoredCookies);
}

/** Fetches without looking at what is stored, and keeps what comes: `Tidemark-Refresh`. Joins no older fetch (R20). */
async function refresh(context: RequestContext): Promise<Response> {
  const { ports, facts, background } = context;
  const verdict = await ports.tokens.check(facts.refreshToken, "purge");
  if (verdict.kind === "refused") {
    const status = verdict.because === "unauthorized" ? 401 : 403;
    const words = `Tidemark refused to refresh this page: ${verdict.because}.`;
    return answerOurselves(context, status, "refresh-refused", words);
  }
  if (!ports.purges.isUsable(ports.clock.now(), null)) await ports.purges.renew(background, null);
  return fetchAndStore(context, storeAskOf(context), REFRESH, null);
}

const REFRESH: Miss = { xCache: "BYPASS", reason: "request", detail: "refresh", selected: null, held: [] };

/** What is not looked up: it goes to the origin as it is, and nothing is kept. */
async function bypass(context: RequestContext): Promise<Response> {
  const { facts, target, request } = context;
  if (maxForwards(facts.method, request.headers.get("max-forwards")).kind === "answer") {
    return answerOurselves(context, 200, "max-forwards", "This edge is the last hop that the request may reach.");
  }
  const reason = facts.method === "GET" || facts.method === "HEAD" ? "bypass" : "method";
  const detail = reason === "method" || target.mayStore ? undefined : "route-condition";
  return forward(context, { xCache: "BYPASS", reason, detail, selected: null, held: [] });
}
