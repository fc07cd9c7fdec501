import { collapsedAnswer, edgeAnswer, hitAnswer, markForwarded, mayHaveBody } from "./answers.ts";
import { type FillBudget, fillBeside, type ReadBody } from "./fill.ts";
import type { Flight, FlightOutcome, Flights } from "./flights.ts";
import type { Behind, Ports, ReceiptToken } from "./ports.ts";
import { parseCacheControl } from "./rules/cache-control.ts";
import type { ForwardReason, Outcome, XCache } from "./rules/cache-status.ts";
import { toClientFields } from "./rules/client-response-fields.ts";
import { currentAgeMs } from "./rules/current-age.ts";
import { judge, type Verdict } from "./rules/judge.ts";
import { mayStore, type NotStorableBecause } from "./rules/may-store.ts";
import { hasLooped, originRequestFields } from "./rules/origin-request-fields.ts";
import { type Ask, isWebSocket, readRequest, storeRequest } from "./rules/read-request.ts";
import { readReceiptToken } from "./rules/receipt-token.ts";
import type { Stamp, StoredHead, StoredResponse } from "./rules/stored-response.ts";
import { collectTags, TAG_FIELDS } from "./rules/tags.ts";
import { EVERYTHING_PURGE_KEY, type RefusedTarget, type Target, tagPurgeKey } from "./rules/target.ts";
import type { Site } from "./site.ts";

/** What one isolate works with. */
export interface Isolate {
  readonly site: Site;
  readonly ports: Ports;
  readonly flights: Flights;
  readonly fills: FillBudget;
  readonly resolve: (url: string) => Target | RefusedTarget;
}

/** A request on its way through the corridor. */
interface Passage extends Isolate, Arrival {
  readonly target: Target;
  readonly ask: Ask;
  /** Its place among arrivals (R5), and when it arrived. */
  readonly order: number;
  readonly arrivedAt: number;
}

/** A request as it arrives, with what the runtime tells of it. */
export interface Arrival {
  readonly request: Request;
  /** `request.url`, read once: each reading of it goes through the runtime. */
  readonly url: string;
  readonly behind: Behind;
  /** `null` where the runtime does not tell. */
  readonly clientAddress: string | null;
}

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

function enter(arrival: Arrival, isolate: Isolate, target: Target): Passage {
  const { method, headers } = arrival.request;
  return {
    ...isolate,
    ...arrival,
    target,
    ask: readRequest(method, (name) => headers.get(name), target.route.pass || !target.mayStore),
    order: isolate.flights.arrive(),
    arrivedAt: isolate.ports.clock.now(),
  };
}

function refuse({ ports }: Isolate, target: RefusedTarget): Response {
  const detail = target.status === 421 ? "host-unknown" : "url-refused";
  ports.reporter.report({ kind: "answered-by-edge", detail });
  return edgeAnswer(target.status, detail, `Tidemark refused this request: ${target.because}.`);
}

// ---------------------------------------------------------------------------------------------------------------------
// Look up and judge

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

/** How a look-up that found nothing usable is told. */
interface Miss {
  readonly xCache: XCache;
  readonly reason: ForwardReason;
  readonly detail: string | undefined;
}

function missOf(verdicts: readonly Verdict[]): Miss {
  const because = verdicts.flatMap((verdict) => (verdict.kind === "none" ? [verdict.because] : []));
  if (because.length === 0) return { xCache: "MISS", reason: "uri-miss", detail: undefined };
  if (because.includes("purged")) return { xCache: "MISS", reason: "stale", detail: "purged" };
  if (because.includes("stale")) return { xCache: "EXPIRED", reason: "stale", detail: undefined };
  return { xCache: "MISS", reason: "request", detail: because[0] };
}

function hit(
  { ports, ask }: Passage,
  stored: StoredResponse,
  { ageSeconds, ttlSeconds }: Verdict & { kind: "fresh" },
): Response {
  ports.reporter.report({ kind: "answered", xCache: "HIT" });
  return hitAnswer(stored, ask.method, ageSeconds, ttlSeconds);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fetch, alone or collapsed

async function fetchFromOrigin(passage: Passage, miss: Miss, after: ReceiptToken | null): Promise<Response> {
  const { request, ask, ports, flights, site, target } = passage;
  const { identifying, partial } = storeRequest(ask, (name) => request.headers.get(name), site.ignoredCookies);
  if (ask.method !== "GET" || ask.authorized || partial) return forward(passage, miss);
  if (parseCacheControl(request.headers.get("cache-control")).noStore) return fetchAndKeep(passage, miss, null);

  // Visitors with cookies may wait for an anonymous fetch, but nobody waits for one whose answer may be personal.
  const key = identifying ? `cookies ${target.key}` : target.key;
  if (flights.isHitForMiss(key, ports.clock.now())) return fetchAndKeep(passage, miss, null);
  for (;;) {
    const flight = flights.find(target.key) ?? flights.find(key);
    if (!flight) return fetchAndKeep(passage, miss, key);
    const landed = await waitFor(passage, flight);
    if (landed === "waited-enough") {
      flights.abandon(flight);
      continue;
    }
    if (landed.kind === "not-shared") return fetchAndKeep(passage, miss, null);
    if (await mayFollow(passage, flight, landed.stored.head, after)) return follow(passage, landed.stored, miss);
    // Refused: the next flight begins after this request arrived, and is shared by all who were refused.
  }
}

/** A follower waits for the leader, but only against its own timer: the leader's request may die. */
async function waitFor({ ports, site }: Passage, flight: Flight): Promise<FlightOutcome | "waited-enough"> {
  const wait = ports.clock.wait(site.limits.followMs);
  const patience = wait.over.then(() => "waited-enough" as const);
  const outcome = await Promise.race([flight.outcome, patience]);
  wait.cancel();
  return outcome;
}

/** R5: a follower takes what was fetched after it arrived, or what its own judge would accept at this moment. */
async function mayFollow(
  passage: Passage,
  flight: Flight,
  stored: StoredHead,
  after: ReceiptToken | null,
): Promise<boolean> {
  const { ports, behind, order, arrivedAt } = passage;
  if (flight.order > order) return true;
  let still = after;
  if (!ports.purges.isUsable(ports.clock.now(), still)) still = await ports.purges.renew(behind, still);
  const usable = ports.purges.isUsable(ports.clock.now(), still);
  const answer = ports.purges.check(stored, usable);
  if (answer === "unknown") return still === null && arrivedAt - stored.fetchedAt < ports.purges.leaseMs;
  return answer === "not-purged";
}

function follow({ ports }: Passage, stored: StoredResponse, miss: Miss): Response {
  ports.reporter.report({ kind: "collapsed" });
  ports.reporter.report({ kind: "answered", xCache: miss.xCache });
  const { initialAgeMs, receivedAt, status } = stored.head;
  const ageSeconds = Math.floor(currentAgeMs(initialAgeMs, receivedAt, ports.clock.now()) / 1000);
  const outcome: Outcome = forwarded(miss, { status, stored: false, collapsed: true });
  return collapsedAnswer(stored, ageSeconds, miss.xCache, outcome);
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
  return fetchAndKeep(passage, { xCache: "BYPASS", reason: "request", detail: "refresh" }, null);
}

/** What the answer tells of a fetch. */
function forwarded(
  { reason, detail }: Miss,
  done: { status?: number; stored: boolean; collapsed: boolean; because?: string | undefined },
): Outcome {
  const { because, ...rest } = done;
  const told = because ?? detail;
  return { kind: "forwarded", reason, ...rest, ...(told === undefined ? {} : { detail: told }) };
}

/** Fetches, answers, and keeps the answer if it may be kept. With a flight key, others may wait for it meanwhile. */
async function fetchAndKeep(passage: Passage, miss: Miss, flightKey: string | null): Promise<Response> {
  const { ports, flights, behind } = passage;
  const flight = flightKey === null ? null : flights.takeOff(flightKey);
  const land = (outcome: FlightOutcome) => flight?.land(outcome);
  /** Later requests for this key do not wait for each other: the answer itself cannot be shared (R19). */
  const setFollowersFree = () => {
    if (flightKey !== null) flights.rememberHitForMiss(flightKey, ports.clock.now());
  };
  if (flight) behind.run(flight.outcome);
  try {
    const stamp = ports.purges.stamp(); // what was held before the fetch began (R1)
    const fetchedAt = ports.clock.now();
    const asked = await askOrigin(passage, true);
    if (asked.kind !== "answered") {
      land({ kind: "not-shared" });
      return asked.response;
    }
    const { response } = asked;
    const verdict = keepable(passage, response, stamp, fetchedAt);
    if (verdict.kind === "pass") {
      if (response.status < 500) setFollowersFree();
      land({ kind: "not-shared" });
      return stream(passage, response, miss, verdict.because);
    }
    return keepBeside(passage, response, verdict.head, miss, land, setFollowersFree);
  } catch (bug) {
    land({ kind: "not-shared" }); // no follower waits for a leader that is no more
    throw bug;
  }
}

/** Streams the answer to the client and keeps a verified copy: the flight lands when the whole body has been read. */
function keepBeside(
  passage: Passage,
  response: Response,
  head: Omit<StoredHead, "bodyBytes">,
  miss: Miss,
  land: (outcome: FlightOutcome) => void,
  setFollowersFree: () => void,
): Response {
  const { ports, site, fills, behind } = passage;
  const hasBody = mayHaveBody(response.status);
  const share = fills.open(ports.clock.now());
  const fill = fillBeside(
    hasBody ? response.body : null,
    hasBody ? contentLength(response) : null,
    site.limits.storeBytes,
    share,
    ports.bodies,
  );
  const kept = fill.read.then((read) => {
    if (read.kind === "too-large") setFollowersFree();
    return keep(passage, head, read, land);
  });
  behind.run(kept);
  behind.run(fill.delivered);
  const fields = clientFields(passage, response);
  markForwarded(fields, miss.xCache, forwarded(miss, { status: response.status, stored: true, collapsed: false }));
  ports.reporter.report({ kind: "answered", xCache: miss.xCache });
  return new Response(fill.body, { status: response.status, statusText: response.statusText, headers: fields });
}

async function keep(
  { ports }: Passage,
  head: Omit<StoredHead, "bodyBytes">,
  read: ReadBody,
  land: (outcome: FlightOutcome) => void,
): Promise<void> {
  if (read.kind !== "whole") {
    if (read.kind === "cut-off") ports.reporter.report({ kind: "body-cut-off" });
    else ports.reporter.report({ kind: "fill-discarded", because: read.kind });
    return land({ kind: "not-shared" });
  }
  const stored: StoredResponse = { head: { ...head, bodyBytes: read.bytes.byteLength }, body: read.bytes };
  // What the view of now already calls purged goes to those who asked in time, and is not kept (R23).
  const isPurged = ports.purges.check(stored.head, false) === "purged";
  const kept = isPurged ? Promise.resolve() : ports.store.keep(stored);
  if (isPurged) ports.reporter.report({ kind: "fill-discarded", because: "purged" });
  land({ kind: "storable", stored });
  await kept;
}

type Keepable =
  | { readonly kind: "store"; readonly head: Omit<StoredHead, "bodyBytes"> }
  | { readonly kind: "pass"; readonly because: NotStorableBecause | "too-many-tags" | "tag-invalid" | "too-large" };

/** Whether this answer may be kept, and as what. RFC 9111 §3 in `mayStore`; tags and size are our own limits. */
function keepable(passage: Passage, response: Response, stamp: Stamp | null, fetchedAt: number): Keepable {
  const { request, ask, target, site, ports } = passage;
  const sent = (name: string) => request.headers.get(name);
  const { identifying, partial } = storeRequest(ask, sent, site.ignoredCookies);
  const field = (name: string) => response.headers.get(name);
  const receivedAt = ports.clock.now();
  const verdict = mayStore(
    {
      method: ask.method,
      authorized: ask.authorized,
      identifying,
      partialOrConditional: partial,
      cacheControl: sent("cache-control"),
    },
    { status: response.status, requestedAt: fetchedAt, receivedAt, field },
    { ttlSeconds: target.route.ttlSeconds, defaultTtlSeconds: target.route.defaultTtlSeconds(response.status) },
  );
  if (verdict.kind === "pass") return verdict;
  if ((contentLength(response) ?? 0) > site.limits.storeBytes) return { kind: "pass", because: "too-large" };
  const tagTexts = TAG_FIELDS.flatMap((name) => field(name) ?? []);
  const tags = collectTags(target.routeTags, tagTexts, site.limits.tags);
  if (tags.kind === "unkeepable") return { kind: "pass", because: tags.because };
  const kept = clientFields(passage, response);
  for (const name of ["age", "content-length"]) kept.delete(name); // told anew with each answer
  return {
    kind: "store",
    head: {
      key: target.key,
      status: response.status,
      fields: [...kept].map(([name, value]) => [name, value] as const),
      fetchedAt,
      receivedAt,
      initialAgeMs: verdict.initialAgeMs,
      freshnessSeconds: verdict.freshness.seconds,
      sharedWithAuthorized: verdict.sharedWithAuthorized,
      purgeKeys: [EVERYTHING_PURGE_KEY, ...target.purgeKeys, ...tags.tags.map(tagPurgeKey)],
      stamp,
    },
  };
}

// ---------------------------------------------------------------------------------------------------------------------
// Ask the origin

/** What is not looked up: it goes to the origin as it is, and nothing is kept. */
async function bypass(passage: Passage): Promise<Response> {
  const { ask, target } = passage;
  const reason = ask.method === "GET" || ask.method === "HEAD" ? "bypass" : "method";
  const detail = reason === "method" || target.mayStore ? undefined : "route-condition";
  return forward(passage, { xCache: "BYPASS", reason, detail });
}

async function forward(passage: Passage, miss: Miss): Promise<Response> {
  const asked = await askOrigin(passage, false);
  if (asked.kind !== "answered") return asked.response;
  return stream(passage, asked.response, miss, undefined);
}

function stream(passage: Passage, response: Response, miss: Miss, because: string | undefined): Response {
  const fields = clientFields(passage, response);
  const outcome = forwarded(miss, { status: response.status, stored: false, collapsed: false, because });
  markForwarded(fields, miss.xCache, outcome);
  passage.ports.reporter.report({ kind: "answered", xCache: miss.xCache });
  const body = mayHaveBody(response.status) ? response.body : null;
  return new Response(body, { status: response.status, statusText: response.statusText, headers: fields });
}

type Asked =
  | { readonly kind: "answered"; readonly response: Response }
  /** Another protocol took over, or the edge has to answer in the origin's place. */
  | { readonly kind: "switched" | "failed"; readonly response: Response };

async function askOrigin(passage: Passage, storing: boolean): Promise<Asked> {
  const { request, target, ask, ports, site, clientAddress } = passage;
  if (hasLooped(request.headers.get("cdn-loop"), target.host)) {
    return { kind: "failed", response: edgeFailure(passage, 508, "loop", "the request came back to this edge") };
  }
  const field = (name: string) => request.headers.get(name);
  const { cookie } = storeRequest(ask, field, storing ? site.ignoredCookies : []);
  const fields = originRequestFields(request.headers, {
    scheme: target.scheme,
    host: target.host,
    clientAddress,
    storing,
    cookie,
    extra: site.originFields,
  });
  if (isWebSocket(field("upgrade"))) fields.push(["upgrade", "websocket"], ["connection", "upgrade"]);
  ports.reporter.report({ kind: "origin-asked" });
  const sendsBody = ask.method !== "GET" && ask.method !== "HEAD";
  const answer = await ports.origin.fetch({
    method: ask.method,
    pathAndQuery: target.pathAndQuery,
    fields,
    body: sendsBody ? request.body : null,
  });
  switch (answer.kind) {
    case "answered":
      ports.reporter.report({ kind: "origin-answered" });
      return answer;
    case "switched":
      ports.reporter.report({ kind: "answered", xCache: "BYPASS" });
      return answer;
    case "failed": {
      ports.reporter.report({ kind: "origin-failed", because: answer.because, cause: answer.cause });
      const status = answer.because === "timed-out" ? 504 : 502;
      const words = {
        unreachable: "the origin cannot be reached, or hung up before it answered",
        "timed-out": "the origin took too long to answer",
        "bad-response": "the origin's answer was not one that HTTP allows",
      }[answer.because];
      return { kind: "failed", response: edgeFailure(passage, status, `origin-${answer.because}`, words) };
    }
  }
}

function edgeFailure({ ports }: Passage, status: number, detail: string, words: string): Response {
  ports.reporter.report({ kind: "answered-by-edge", detail });
  return edgeAnswer(status, detail, `${status}: ${words}.`);
}

function clientFields({ ports, target }: Passage, response: Response): Headers {
  const fields = new Headers(response.headers);
  toClientFields(fields, { originUrl: ports.origin.url, publicUrl: `${target.scheme}://${target.host}` });
  return fields;
}

/** The length that the origin announced; chunks outrank it. RFC 9112 §6.3. */
function contentLength(response: Response): number | null {
  if (response.headers.get("transfer-encoding") !== null) return null;
  const text = response.headers.get("content-length");
  return text !== null && /^[0-9]+$/.test(text) ? Number(text) : null;
}
