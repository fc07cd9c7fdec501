import { edgeAnswer, hitAnswer, notModifiedAnswer } from "./answers.ts";
import { askOrigin, stream } from "./ask-origin.ts";
import { fetchAndKeep } from "./fetch-and-keep.ts";
import { follow, mayFollow, waitFor } from "./following.ts";
import { type Arrival, enter, type Isolate, type Miss, type Passage } from "./passage.ts";
import type { ReceiptToken } from "./ports.ts";
import { judge, type Verdict } from "./rules/judge.ts";
import { isNotModified } from "./rules/not-modified.ts";
import { readForwardedCookies, readStoreAsk, type StoreAsk } from "./rules/read-request.ts";
import { readReceiptToken } from "./rules/receipt-token.ts";
import type { StoredHead, StoredResponse } from "./rules/stored-response.ts";
import type { RefusedTarget } from "./rules/target.ts";

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
  ports.reporter.report({ kind: "answered-by-edge", detail });
  return edgeAnswer(target.status, detail, `Tidemark refused this request: ${target.because}.`);
}

/** Memory, under a lease that lives: no I/O, no wait. */
function lookUp(passage: Passage): Response | Promise<Response> {
  const { ports, target, ask, behind } = passage;
  const { purges, store, clock } = ports;
  const after = readReceiptToken(ask.after);
  const remembered = store.recall(target.key);
  const now = clock.now();
  if (remembered && purges.isUsable(now, after)) {
    const verdict = judge(remembered.head, ask, purges.check(remembered.head, true), purges.leaseMs, now);
    if (verdict.kind === "fresh") {
      if (purges.isDue(now)) behind.run(purges.renew(behind, null));
      return hit(passage, remembered, verdict);
    }
  }
  return lookFurther(passage, after);
}

/** The shared tier and, if the lease is over, the view: both at once, and judged after both (R4). */
async function lookFurther(passage: Passage, asked: ReceiptToken | null): Promise<Response> {
  const { ports, target, behind } = passage;
  const { purges, store, clock } = ports;
  const renewal = purges.isUsable(clock.now(), asked) ? asked : purges.renew(behind, asked);
  const [found, stillAsked] = await Promise.all([store.lookUp(target.key), renewal]);
  let after = stillAsked;
  if (!purges.isUsable(clock.now(), after)) after = await purges.renew(behind, after);

  // Memory once more: a fetch that others shared may have landed while this request looked elsewhere.
  const verdicts: Verdict[] = [];
  for (const candidate of [store.recall(target.key), found]) {
    if (!candidate) continue;
    const verdict = judgeNow(passage, candidate.head, after, clock.now());
    if (verdict.kind === "fresh") {
      if (candidate === found) store.remember(found);
      return hit(passage, candidate, verdict);
    }
    verdicts.push(verdict);
  }
  return fetchFromOrigin(passage, missOf(verdicts), after);
}

/** Judges with the clock and the view as they are now; without a usable view by R8, where a token admits nothing (R9). */
function judgeNow({ ports, ask }: Passage, stored: StoredHead, after: ReceiptToken | null, now: number): Verdict {
  const answer = ports.purges.check(stored, ports.purges.isUsable(now, after));
  if (answer === "unknown" && after !== null) return { kind: "none", because: "purge-state-unknown" };
  return judge(stored, ask, answer, ports.purges.leaseMs, now);
}

function missOf(verdicts: readonly Verdict[]): Miss {
  const because = verdicts.flatMap((verdict) => (verdict.kind === "none" ? [verdict.because] : []));
  if (because.length === 0) return { xCache: "MISS", reason: "uri-miss", detail: undefined };
  if (because.includes("purged")) return { xCache: "MISS", reason: "stale", detail: "purged" };
  if (because.includes("stale")) return { xCache: "EXPIRED", reason: "stale", detail: undefined };
  return { xCache: "MISS", reason: "request", detail: because[0] };
}

function hit(
  { ports, ask, request }: Passage,
  stored: StoredResponse,
  { ageSeconds, ttlSeconds }: Verdict & { kind: "fresh" },
): Response {
  ports.reporter.report({ kind: "answered", xCache: "HIT" });
  if (stored.head.status === 200 && isHeldByClient(request.headers, stored.head)) {
    return notModifiedAnswer(stored, ageSeconds, ttlSeconds);
  }
  return hitAnswer(stored, ask.method, ageSeconds, ttlSeconds);
}

/** Whether the client asks under a condition that the stored response already answers. RFC 9111 §4.3.2. */
function isHeldByClient(sent: Headers, { fields }: StoredHead): boolean {
  const ifNoneMatch = sent.get("if-none-match");
  const ifModifiedSince = sent.get("if-modified-since");
  if (ifNoneMatch === null && ifModifiedSince === null) return false;
  const field = (wanted: string) => fields.find(([name]) => name === wanted)?.[1] ?? null;
  const validators = { etag: field("etag"), lastModified: field("last-modified") };
  return isNotModified({ ifNoneMatch, ifModifiedSince }, validators);
}

async function fetchFromOrigin(passage: Passage, miss: Miss, after: ReceiptToken | null): Promise<Response> {
  const { ask, ports, flights, target } = passage;
  const storeAsk = storeAskOf(passage);
  if (ask.method !== "GET" || ask.authorized || storeAsk.partial) return forward(passage, miss);
  const fetchAlone = () => fetchAndKeep(passage, storeAsk, miss, null);
  if (storeAsk.forbidsStoring) return fetchAlone();

  // Visitors with cookies may wait for an anonymous fetch, but nobody waits for one whose answer may be personal.
  const key = storeAsk.identifying ? `cookies ${target.key}` : target.key;
  if (flights.isHitForMiss(key, ports.clock.now())) return fetchAlone();
  for (let failures = 0; ; ) {
    const flight = flights.find(target.key) ?? flights.find(key);
    if (!flight) return fetchAndKeep(passage, storeAsk, miss, key);
    const landed = await waitFor(passage, flight);
    if (landed === "waited-enough") {
      flights.abandon(flight);
      continue;
    }
    if (landed.kind === "not-shareable") return fetchAlone();
    if (landed.kind === "failed") {
      if (++failures > 1) return fetchAlone();
      continue;
    }
    if (await mayFollow(passage, flight, landed.stored.head, after)) return follow(passage, landed.stored, miss);
    // Refused: the next flight begins after this request arrived, and is shared by all who were refused.
  }
}

function storeAskOf({ ask, request, site }: Passage): StoreAsk {
  return readStoreAsk(ask, (name) => request.headers.get(name), site.ignoredCookies);
}

/** Fetches without looking at what is stored, and keeps what comes: `Tidemark-Refresh`. Joins no older fetch (R20). */
async function refresh(passage: Passage): Promise<Response> {
  const { ports, ask, behind } = passage;
  const verdict = await ports.tokens.check(ask.refreshToken, "purge");
  if (verdict.kind === "refused") {
    ports.reporter.report({ kind: "answered-by-edge", detail: "refresh-refused" });
    const status = verdict.because === "unauthorized" ? 401 : 403;
    return edgeAnswer(status, "refresh-refused", `Tidemark refused to refresh this page: ${verdict.because}.`);
  }
  if (!ports.purges.isUsable(ports.clock.now(), null)) await ports.purges.renew(behind, null);
  const miss: Miss = { xCache: "BYPASS", reason: "request", detail: "refresh" };
  return fetchAndKeep(passage, storeAskOf(passage), miss, null);
}

/** What is not looked up: it goes to the origin as it is, and nothing is kept. */
async function bypass(passage: Passage): Promise<Response> {
  const { ask, target } = passage;
  const reason = ask.method === "GET" || ask.method === "HEAD" ? "bypass" : "method";
  const detail = reason === "method" || target.mayStore ? undefined : "route-condition";
  return forward(passage, { xCache: "BYPASS", reason, detail });
}

async function forward(passage: Passage, miss: Miss): Promise<Response> {
  const cookies = readForwardedCookies((name) => passage.request.headers.get(name), []);
  const asked = await askOrigin(passage, false, cookies.forwarded);
  if (asked.kind !== "answered") return asked.response;
  return stream(passage, asked.response, miss, undefined);
}
