import { fetchKeyOf } from "./collapsing/begin-fetch.ts";
import { conditionsOf, type Miss } from "./miss.ts";
import type { RequestContext } from "./request-context.ts";

/** How a request that no stored response may answer goes to the origin. Deciding it changes nothing. */
export interface FetchPlan {
  /**
   * - `only-if-cached`: answered with 504, because the request accepts only a stored answer.
   * - `forward`: passed on, and the answer is not stored.
   * - `fetch-for-one`: the answer may be for one visitor, so nobody waits for it. It is stored if it is for everybody.
   * - `head-by-get`: a HEAD for which the page is fetched by GET, and stored.
   * - `head`: a HEAD that is passed on. It may freshen what is stored.
   * - `fetch-unstored`: fetched for this request alone, because it forbids storing.
   * - `fetch`: fetched, and stored if that is allowed. Others may wait for the answer.
   */
  readonly kind: "only-if-cached" | "forward" | "fetch-for-one" | "head-by-get" | "head" | "fetch-unstored" | "fetch";
  readonly miss: Miss;
  /** True if only its credentials or its session send it to the origin. */
  readonly isPastTheCache: boolean;
}

export function planFetch(context: RequestContext, miss: Miss): FetchPlan {
  const { facts } = context;
  const { forbidsStoring, onlyIfCached } = facts.directives;
  if (onlyIfCached) return plan("only-if-cached", miss);
  const needsSession = (miss.kind === "refused" && miss.because === "session") || losesSession(context);
  if (facts.authorized || needsSession) {
    if (needsSession || !facts.isForWholePage || forbidsStoring) return { kind: "forward", miss, isPastTheCache: true };
    // It validates nothing and nobody joins it: until its head is there, its answer may be for one visitor.
    return { kind: "fetch-for-one", miss: { ...miss, selected: null, toValidate: null }, isPastTheCache: true };
  }
  if (facts.method === "HEAD") return plan(mayFetchByGet(context, miss) ? "head-by-get" : "head", miss);
  if (facts.isPartial && !mayFetchWhole(context, miss)) return plan("forward", { ...miss, isForPart: true });
  return plan(forbidsStoring ? "fetch-unstored" : "fetch", miss);
}

function plan(kind: FetchPlan["kind"], miss: Miss): FetchPlan {
  return { kind, miss, isPastTheCache: false };
}

/**
 * Whether the page is fetched by GET and stored for a HEAD that misses. What is held is validated by the HEAD itself
 * (RFC 9111 §4.3.5), which costs the origin less.
 */
function mayFetchByGet(context: RequestContext, { selected, toValidate }: Miss): boolean {
  const { facts, resolved, isolate, ports } = context;
  if (!resolved.route.storesOnHead || facts.directives.forbidsStoring) return false;
  if (selected !== null || toValidate !== null) return false;
  const key = fetchKeyOf(context);
  return !isolate.unstored.has(key, ports.clock.now()) && !isolate.collapsed.isHitForMiss(key);
}

/**
 * Whether a request for a part fetches the whole page: if the page may be small, or if a stored response can be
 * confirmed.
 */
function mayFetchWhole(context: RequestContext, miss: Miss): boolean {
  return context.isolate.site.limits.fetchWholeBytes > 0 || conditionsOf(context, miss) !== null;
}

/** Whether the request's session does not reach the origin, because the route keys only by other cookies. */
function losesSession({ facts }: RequestContext): boolean {
  return facts.hasSession && facts.choices.cookie !== undefined;
}
