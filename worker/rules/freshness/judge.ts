import { NO_DIRECTIVES, type RequestDirectives } from "../directives/request-directives.ts";
import type { ReuseRules } from "../directives/reuse-rules.ts";
import { mayBeAnsweredBy, mayBeAnsweredInSession } from "../identity/identity.ts";
import type { StoredHead } from "../storing/stored-response.ts";
import { currentAgeMs, isAgeUnknown } from "./current-age.ts";
import { isOriginError } from "./origin-error.ts";
import { mayAnswerWhileUnknown } from "./unknown-purge-state.ts";

/**
 * The purge view's answer for a stored response (R10). If there are several purges, the hardest counts. `unknown`: no
 * usable view is held, and the held view, if any, knows of no purge of the response. `unverifiable`: the view cannot
 * tell, because the response is of another log, of none, or below the floor.
 */
export type PurgeAnswer = "not-purged" | "soft" | "invalidated" | "purged" | "unknown" | "unverifiable";

/** Whether a response with this answer is worth storing (R23). */
export function isWorthStoring(answer: PurgeAnswer): boolean {
  return answer === "not-purged" || answer === "unknown";
}

/**
 * Whether a purge has made a response stale but not removed it: it may be used again once the origin has confirmed it.
 */
export function isMadeStale(answer: PurgeAnswer): answer is "soft" | "invalidated" {
  return answer === "soft" || answer === "invalidated";
}

/** The knowledge about purges with which a stored response is judged. */
export interface PurgeKnowledge {
  readonly answer: PurgeAnswer;
  /** How old a view that judges the response may be, in milliseconds: the lease, or more if the route allows that. */
  readonly maxViewAgeMs: number;
  /** True if the request carries a receipt's token that the view has not reached (R9). */
  readonly awaitsToken: boolean;
  /**
   * Epoch milliseconds of a soft purge; without them, it leaves nothing usable. The view holds no times, so the purge counts
   * from the time when this isolate first knew of it (R10).
   */
  readonly madeStaleAt: number | null;
}

/** The properties of a request that affect reuse. */
export interface ReuseRequest {
  readonly authorized: boolean;
  /** True if it carries a session, where some pages are not for those who do. */
  readonly hasSession: boolean;
  readonly directives: RequestDirectives;
  /** True if it carries a receipt's token. It then accepts nothing stale (R9). */
  readonly awaitsPurge: boolean;
}

/** A visitor who asks for nothing special. */
export const ANYBODY: ReuseRequest = {
  authorized: false,
  hasSession: false,
  directives: NO_DIRECTIVES,
  awaitsPurge: false,
};

/** The owner's rules for stale answers. They cover responses that do not say the same themselves. */
export interface StaleRules {
  /** How long a stale response may replace an error of the origin, or an answer that does not come. */
  readonly ifErrorSeconds: number;
  /** The same for an answer that does not come alone. The longer of the two counts. */
  readonly ifDisconnectedSeconds: number;
  /** Whether both also hold while the purge state is unknown (R18), although the response may have been purged. */
  readonly ifErrorWhileUnknown: boolean;
  /** How long a response that has a lifetime may be served stale while it is fetched again. */
  readonly whileRevalidateSeconds: number;
  /** How long a response without `stale-while-revalidate` may be used after a soft purge. */
  readonly softForMs: number;
  /** Whether the rules also cover a response with an `s-maxage` and no window beside it. */
  readonly overSMaxage: boolean;
}

/** Why a stale response may answer at once: a directive of its own, the owner's rule, or the request's word. */
type StaleBecause = "stale-while-revalidate" | "stale.whileRevalidate" | "max-stale";

/** The permitted use of a selected response for a request. */
export type Verdict =
  | { readonly kind: "fresh"; readonly ageSeconds: number; readonly ttlSeconds: number }
  /** It may be served although it is stale; `ttlSeconds` is 0 or less. */
  | {
      readonly kind: "stale-usable";
      readonly because: StaleBecause | "soft-purge";
      readonly ageSeconds: number;
      readonly ttlSeconds: number;
    }
  /** It may be served once the origin has confirmed it. RFC 9111 §4.3. */
  | {
      readonly kind: "validate";
      readonly because:
        | "stale"
        | "no-cache"
        | "request-directive"
        | "purge-state-unknown"
        | "invalidated"
        | "soft-purge";
    }
  /** Neither it nor the origin's word that it is unchanged may answer: it is fetched in full (R10). */
  | { readonly kind: "none"; readonly because: "purged" | "unverifiable" | "authorization" | "session" };

/**
 * Decides whether a stored response may answer. RFC 9111 §4, §4.2, §5.2.1; RFC 5861 §3; rule R8 for the unknown purge
 * state. `now` is epoch milliseconds.
 */
export function judge(
  stored: StoredHead,
  request: ReuseRequest,
  purge: PurgeKnowledge,
  rules: StaleRules,
  now: number,
): Verdict {
  const { answer, maxViewAgeMs, awaitsToken, madeStaleAt } = purge;
  if (answer === "purged") return { kind: "none", because: "purged" };
  if (!mayBeAnsweredBy(stored, request)) return { kind: "none", because: "authorization" };
  if (!mayBeAnsweredInSession(stored, request)) return { kind: "none", because: "session" };
  if (answer === "unverifiable") return { kind: "none", because: "unverifiable" };
  if (answer === "invalidated") return { kind: "validate", because: "invalidated" };
  if (answer === "unknown") {
    if (!mayAnswerWhileUnknown({ sinceFetchMs: now - stored.fetchedAt, maxViewAgeMs, awaitsToken })) {
      return { kind: "validate", because: "purge-state-unknown" };
    }
  }
  if (stored.reuse.validateAlways) return { kind: "validate", because: "no-cache" };
  if (isAgeUnknown(stored.receivedAt, now)) return { kind: "validate", because: "stale" };

  const { directives } = request;
  const ageMs = currentAgeMs(stored.initialAgeMs, stored.receivedAt, now);
  const lifetimeMs = stored.freshnessSeconds * 1000;
  if (asksForFresher(directives, ageMs, lifetimeMs)) return { kind: "validate", because: "request-directive" };

  const ageSeconds = Math.floor(ageMs / 1000);
  const ttlSeconds = Math.floor(stored.freshnessSeconds - ageSeconds);
  if (answer === "soft") {
    const usable = madeStaleAt !== null && isUsableAfterSoftPurge(stored, request, madeStaleAt, rules, ageMs, now);
    if (!usable) return { kind: "validate", because: "soft-purge" };
    return { kind: "stale-usable", because: "soft-purge", ageSeconds, ttlSeconds: Math.min(0, ttlSeconds) };
  }
  if (ageMs < lifetimeMs) return { kind: "fresh", ageSeconds, ttlSeconds };
  const because = usableWhileStale(stored, request, answer, rules, ageMs - lifetimeMs);
  return because ? { kind: "stale-usable", because, ageSeconds, ttlSeconds } : { kind: "validate", because: "stale" };
}

/** RFC 9111 §5.2.1.1, §5.2.1.3, §5.2.1.4, if the site lets visitors ask for that. */
function asksForFresher(directives: RequestDirectives, ageMs: number, lifetimeMs: number): boolean {
  const { noCache, maxAgeSeconds, minFreshSeconds } = directives;
  if (noCache) return true;
  if (maxAgeSeconds !== null && ageMs > maxAgeSeconds * 1000) return true;
  return minFreshSeconds > 0 && lifetimeMs - ageMs < minFreshSeconds * 1000;
}

/** Whether no directive forbids that a response is served stale. RFC 9111 §4.2.4, §5.2.2.10. */
export function mayBeStale(reuse: ReuseRules, { overSMaxage }: StaleRules): boolean {
  return reuse.mayServeStale || (overSMaxage && reuse.mayServeStaleOverSMaxage);
}

/**
 * Whether a response that was purged softly may be served stale while it is refetched (R10). It may for as long after
 * the purge as its own `stale-while-revalidate` says or, without one, as the site says, but never for longer than
 * without a purge. A response that must not be used stale may not.
 */
function isUsableAfterSoftPurge(
  { reuse, freshnessSeconds }: StoredHead,
  { awaitsPurge, authorized }: ReuseRequest,
  madeStaleAt: number,
  rules: StaleRules,
  ageMs: number,
  now: number,
): boolean {
  if (!mayBeStale(reuse, rules) || awaitsPurge || authorized) return false;
  const ownMs = (reuse.staleWhileRevalidateSeconds ?? 0) * 1000;
  return now - madeStaleAt < (ownMs > 0 ? ownMs : rules.softForMs) && ageMs < freshnessSeconds * 1000 + ownMs;
}

/** For how long a response that may be stale is used while it is fetched again. RFC 5861 §3. */
export function secondsWhileRevalidated(
  { reuse, freshnessSeconds, status }: Pick<StoredHead, "reuse" | "freshnessSeconds" | "status">,
  { whileRevalidateSeconds }: StaleRules,
): number {
  // An origin that gives no lifetime at all is asked each time, and one that has failed may work again.
  const isCovered = freshnessSeconds > 0 && !isOriginError(status);
  return reuse.staleWhileRevalidateSeconds ?? (isCovered ? whileRevalidateSeconds : 0);
}

function usableWhileStale(
  stored: StoredHead,
  { awaitsPurge, authorized, directives }: ReuseRequest,
  answer: PurgeAnswer,
  rules: StaleRules,
  staleMs: number,
): StaleBecause | undefined {
  const { reuse } = stored;
  if (!mayBeStale(reuse, rules) || awaitsPurge || authorized || answer !== "not-purged") return undefined;
  const isWithin = staleMs < secondsWhileRevalidated(stored, rules) * 1000;
  if (isWithin) return reuse.staleWhileRevalidateSeconds === null ? "stale.whileRevalidate" : "stale-while-revalidate";
  return staleMs < directives.maxStaleSeconds * 1000 ? "max-stale" : undefined;
}
