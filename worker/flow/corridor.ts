import type { Answer, FoundResponse, ReceiptToken } from "../ports.ts";
import type { Outcome, XCache } from "../rules/forwarding/cache-status.ts";
import type { RefusedUrl } from "../rules/key/cache-key.ts";
import { notStoredDetail } from "../rules/storing/not-stored.ts";
import type { StoredResponse } from "../rules/storing/stored-response.ts";
import { answerFromStore } from "./answering/answer-from-store.ts";
import { edgeAnswer } from "./answering/answers.ts";
import { bodyBytesOf, reportAnswered } from "./answering/report-answered.ts";
import { collapse } from "./collapsing/collapse.ts";
import { isInMemory, readFound } from "./found-response.ts";
import { judgeBy, judgeNow, maxViewAgeMs, mayAnswer } from "./judging.ts";
import { BODY_GONE, type Miss, missOf, REFRESH, type UnusableResponse, type UsableVerdict } from "./miss.ts";
import { cancelBody } from "./origin/cancel-body.ts";
import { forward } from "./origin/forward.ts";
import { headByGet, mayFetchByGet } from "./origin/head-by-get.ts";
import { forwardHead } from "./origin/head-request.ts";
import { type IncomingRequest, type Isolate, openContext, type RequestContext } from "./request-context.ts";
import { selectInMemory, selectInSharedTier } from "./selection.ts";
import { withoutIdleFields } from "./storing/ask-without-idle-fields.ts";
import { refreshInBackground } from "./storing/background-refresh.ts";
import { fetchAndStore } from "./storing/fetch-and-store.ts";
import { placeOf } from "./storing/second-looks.ts";

/**
 * The one path from request to response. Nothing in it throws on anything that a peer sends. A memory hit is returned
 * without a promise, because a promise takes a third of its cost (`npm run bench -- hit`).
 */
export function handle(incoming: IncomingRequest, isolate: Isolate): Answer | Promise<Answer> {
  const resolved = isolate.resolve(incoming.url);
  if (resolved.kind === "refused") return refuse(isolate, resolved);
  const context = openContext(incoming, isolate, resolved);
  switch (context.facts.mode) {
    case "look-up":
      return passMarked(context) ?? lookUp(context);
    case "refresh":
      return refresh(context);
    case "bypass":
      return bypass(context);
  }
}

/** Passes any request on to the origin, as the last resort when the corridor itself has failed (promise 6). */
export async function handleWithoutCache(incoming: IncomingRequest, isolate: Isolate): Promise<Answer> {
  const resolved = isolate.resolve(incoming.url);
  if (resolved.kind === "refused") return refuse(isolate, resolved);
  return bypass(openContext(incoming, isolate, resolved));
}

function refuse({ ports }: Isolate, { status, because }: RefusedUrl): Answer {
  const detail = status === 421 ? "host-unknown" : "url-refused";
  return answerOurselves({ ports }, status, detail, `Tidemark refused this request: ${because}.`);
}

function answerOurselves({ ports }: Pick<Isolate, "ports">, status: number, detail: string, words: string): Answer {
  ports.reporter.report({ kind: "answered-by-edge", detail });
  return edgeAnswer(status, detail, words);
}

/** A second look has found that a field of the request chooses the page: it is passed on. */
function passMarked(context: RequestContext): Promise<Answer> | undefined {
  const { facts, resolved, secondLooks, arrivedAt } = context;
  if (!secondLooks.hasMarks) return undefined;
  const has = (name: string) => facts.field(name) !== null;
  const marked = secondLooks.markedField(placeOf(resolved), has, arrivedAt);
  if (marked === undefined || facts.directives.onlyIfCached) return undefined;
  const detail = notStoredDetail({ because: "unkeyed-field", field: marked });
  return forward(context, { xCache: "BYPASS", reason: "bypass", detail, selected: null, toValidate: [] });
}

/** Looks in memory under a live lease. It does no I/O and never waits. */
function lookUp(context: RequestContext): Answer | Promise<Answer> {
  const { ports, facts, background } = context;
  const { purges, clock } = ports;
  const token = facts.receiptToken;
  const remembered = selectInMemory(context);
  const now = clock.now();
  if (remembered && purges.isUsable(now, token, maxViewAgeMs(context, remembered.head))) {
    const verdict = judgeBy(context, remembered.head, purges.check(remembered.head, true), token, now);
    if (mayAnswer(verdict)) {
      if (purges.isDue(now)) background.run(purges.renew(background, null));
      return hit(context, remembered, verdict, "memory");
    }
  }
  return lookFurther(context);
}

/** Asks the shared tier and, if the lease is over, renews the view at the same time. Judges when both are done (R4). */
async function lookFurther(context: RequestContext): Promise<Answer> {
  const { ports, facts, background } = context;
  const { purges, clock } = ports;
  const sent = facts.receiptToken;
  const arrivedAt = clock.now();
  const isUsable = purges.isUsable(arrivedAt, sent);
  const renewal = isUsable ? sent : purges.renew(background, sent);
  if (isUsable && purges.isDue(arrivedAt)) background.run(purges.renew(background, null));
  const found = await selectInSharedTier(context);
  const early = isUsable ? undefined : answerBeforeRenewal(context, found);
  if (early) {
    background.run(Promise.resolve(renewal));
    return early();
  }
  let token = await renewal;
  if (!purges.isUsable(clock.now(), token)) token = await purges.renew(background, token);
  for (const stored of candidates(context, found)) {
    const verdict = judgeNow(context, stored.head, token, clock.now());
    if (mayAnswer(verdict)) return hitFound(context, stored, found, verdict);
  }
  const read = found && (await readFound(context, found));
  // While the body was read, a fetch shared with others may have brought a usable response.
  const unusable: UnusableResponse[] = [];
  for (const stored of candidates(context, read)) {
    const verdict = judgeNow(context, stored.head, token, clock.now());
    if (mayAnswer(verdict)) return hitFound(context, stored, read, verdict);
    unusable.push({ stored, verdict });
  }
  return fetchFromOrigin(context, missOf(context, unusable), token);
}

/**
 * The answer that need not wait for the renewal of the view: the route may allow an older view to decide, and a fetch
 * that begins now needs only the view that is held (R1). `undefined` if the request has to wait for the newer view.
 */
function answerBeforeRenewal(
  context: RequestContext,
  found: FoundResponse | undefined,
): (() => Answer | Promise<Answer>) | undefined {
  const { purges, clock } = context.ports;
  if (context.facts.receiptToken !== null) return undefined;
  const stored = candidates(context, found);
  if (stored.length === 0 && purges.stamp() !== null) {
    return () => fetchFromOrigin(context, missOf(context, []), null);
  }
  const now = clock.now();
  for (const each of stored) {
    if (!purges.isUsable(now, null, maxViewAgeMs(context, each.head))) continue;
    const verdict = judgeNow(context, each.head, null, now);
    if (mayAnswer(verdict)) return () => hitFound(context, each, found, verdict);
  }
  return undefined;
}

/**
 * The stored responses that may answer: the one in memory, where a fetch shared with others may have put it in the
 * meantime, and the one in the shared tier.
 */
function candidates<T extends FoundResponse>(context: RequestContext, found: T | undefined): (StoredResponse | T)[] {
  return [selectInMemory(context), found].filter((stored) => stored !== undefined);
}

/**
 * Answers with one of the candidates. A body that is on its way from the shared tier is passed on as it comes; it is read
 * first if the response is stale, because the refresh needs it.
 */
async function hitFound(
  context: RequestContext,
  stored: FoundResponse,
  found: FoundResponse | undefined,
  verdict: UsableVerdict,
): Promise<Answer> {
  const { ports, background } = context;
  if (found && stored !== found) background.run(cancelBody(found.body));
  if (isInMemory(stored)) {
    if (stored === found) ports.store.remember(stored);
    return hit(context, stored, verdict, "shared");
  }
  if (verdict.kind === "fresh") return hit(context, stored, verdict, "shared");
  const read = await readFound(context, stored);
  return read
    ? hitFound(context, read, read, verdict)
    : fetchFromOrigin(context, BODY_GONE, context.facts.receiptToken);
}

/**
 * Answers from the store, and refreshes a stale response in the background. If a body that was stored apart is gone,
 * the request is a miss. `tier`: where the response was found.
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
  if (xCache === "UPDATING" && isInMemory(stored)) refreshInBackground(context, stored);
  const answer = answerFromStore(context, stored, { xCache, outcome, ageSeconds, browserTtlSeconds });
  if (answer instanceof Promise) {
    return answer.then((streamed) => {
      if (!streamed) return fetchFromOrigin(context, BODY_GONE, context.facts.receiptToken);
      reportAnswered(context, "shared", xCache, bodyBytesOf(streamed, stored.head.bodyBytes));
      return streamed;
    });
  }
  reportAnswered(context, tier, xCache, bodyBytesOf(answer, stored.head.bodyBytes));
  return answer;
}

function xCacheOf(verdict: UsableVerdict): XCache {
  if (verdict.kind === "fresh") return "HIT";
  switch (verdict.because) {
    case "max-stale":
      return "STALE";
    case "stale-while-revalidate":
    case "soft-purge":
      return "UPDATING";
  }
}

/**
 * Fetches, because no stored response may answer. `token` is the receipt's token that the answer still has to honour.
 */
async function fetchFromOrigin(context: RequestContext, miss: Miss, token: ReceiptToken | null): Promise<Answer> {
  const { facts, ports } = context;
  if (facts.directives.onlyIfCached) {
    const words = "504: this page is not stored, and only a stored one is wanted.";
    return answerOurselves(context, 504, "only-if-cached", words);
  }
  const needsSession = miss.detail === "session" || losesSession(context);
  if (facts.authorized || needsSession) {
    ports.reporter.report({ kind: "asked-past-the-cache" });
    if (needsSession || !facts.isForWholePage || facts.directives.forbidsStoring) return forward(context, miss);
    // It validates nothing and nobody joins it: until its head is there, its answer may be for one visitor.
    return fetchAndStore(withoutIdleFields(context), { ...miss, selected: null, toValidate: [] }, null);
  }
  if (facts.method === "HEAD") {
    return mayFetchByGet(context, miss) ? headByGet(context, miss, token) : forwardHead(context, miss);
  }
  if (facts.isPartial && !mayFetchWhole(context, miss)) return forward(context, { ...miss, reason: "partial" });
  if (facts.directives.forbidsStoring) return fetchAndStore(context, miss, null);
  return collapse(withoutIdleFields(context), miss, token);
}

/**
 * Whether a request for a part fetches the whole page: if the page may be small, or if a stored response can be
 * confirmed.
 */
function mayFetchWhole({ site }: RequestContext, { toValidate }: Miss): boolean {
  return site.limits.fetchWholeBytes > 0 || toValidate.length > 0;
}

/** Fetches and stores the answer, whatever is stored: `Tidemark-Refresh`. Joins no older fetch (R20). */
async function refresh(context: RequestContext): Promise<Answer> {
  const { ports, facts, background } = context;
  const verdict = await ports.tokens.check(facts.refreshToken, "purge");
  if (verdict.kind === "refused") {
    const status = verdict.because === "unauthorized" ? 401 : 403;
    const words = `Tidemark refused to refresh this page: ${verdict.because}.`;
    return answerOurselves(context, status, "refresh-refused", words);
  }
  if (!ports.purges.isUsable(ports.clock.now(), null)) await ports.purges.renew(background, null);
  return fetchAndStore(context, REFRESH, null);
}

/** Sends a request that is not looked up to the origin unchanged, and stores nothing. */
async function bypass(context: RequestContext): Promise<Answer> {
  const { facts, ports } = context;
  if (facts.maxForwards.kind === "answer") {
    return answerOurselves(context, 200, "max-forwards", "This edge is the last hop that the request may reach.");
  }
  const reason = facts.method === "GET" || facts.method === "HEAD" ? "bypass" : "method";
  const detail = reason === "method" ? undefined : bypassDetail(context);
  if (detail !== undefined && detail !== "route-condition") ports.reporter.report({ kind: "asked-past-the-cache" });
  return forward(context, { xCache: "BYPASS", reason, detail, selected: null, toValidate: [] });
}

/** What of the owner's rules keeps a request from being looked up; `undefined` for none. */
function bypassDetail({ facts, resolved }: RequestContext): string | undefined {
  if (facts.bypassedBy !== null) return `bypass-${facts.bypassedBy}`;
  if (resolved.bypassesByQuery) return "bypass-query";
  return resolved.mayStore ? undefined : "route-condition";
}

/** Whether the origin would not see the session of the request, because the route keys by other cookies alone. */
function losesSession({ facts }: RequestContext): boolean {
  return facts.hasSession && facts.choices.cookie !== undefined;
}
