import { currentAgeMs } from "./current-age.ts";
import type { RequestDirectives } from "./request-directives.ts";
import type { StoredHead } from "./stored-response.ts";

/**
 * What the purge view says of a stored response: what is known against it, most of all a hard purge (R10). `unknown`: no
 * usable view, and nothing known speaks against it. `unverifiable`: the view cannot tell, since the response is of
 * another log, of none, or below the floor.
 */
export type PurgeAnswer = "not-purged" | "soft" | "invalidated" | "purged" | "unknown" | "unverifiable";

/** Whether a response of which the view says this is worth keeping (R23). */
export function isKeepable(answer: PurgeAnswer): boolean {
  return answer === "not-purged" || answer === "unknown";
}

/** What the request brings that matters for reuse. */
export interface ReuseRequest {
  readonly authorized: boolean;
  readonly directives: RequestDirectives;
  /** True if it carries a receipt's token: its bearer takes nothing stale (R9). */
  readonly awaitsPurge: boolean;
}

/** What a selected response may do for a request. */
export type Verdict =
  | { readonly kind: "fresh"; readonly ageSeconds: number; readonly ttlSeconds: number }
  /** It may answer although it is stale; `ttlSeconds` is not above 0. */
  | {
      readonly kind: "stale-usable";
      readonly because: "stale-while-revalidate" | "max-stale";
      readonly ageSeconds: number;
      readonly ttlSeconds: number;
    }
  /** Only after the origin has said so. */
  | {
      readonly kind: "validate";
      readonly because:
        | "stale"
        | "no-cache"
        | "request-directive"
        | "purge-state-unknown"
        | "unverifiable"
        | "invalidated";
    }
  | { readonly kind: "none"; readonly because: "purged" | "authorization" };

/**
 * Decides whether a stored response may answer. RFC 9111 §4, §4.2, §5.2.1; RFC 5861 §3; rule R8 for the unknown purge
 * state: what was fetched less than a lease ago may still be served, all else is asked of the origin. `now` is epoch
 * milliseconds.
 */
export function judge(
  stored: StoredHead,
  request: ReuseRequest,
  purge: PurgeAnswer,
  leaseMs: number,
  now: number,
): Verdict {
  if (purge === "purged") return { kind: "none", because: "purged" };
  if (request.authorized && !stored.sharedWithAuthorized) return { kind: "none", because: "authorization" };
  if (purge === "unverifiable") return { kind: "validate", because: "unverifiable" };
  if (purge === "invalidated" || purge === "soft") return { kind: "validate", because: "invalidated" };
  if (purge === "unknown" && !(now >= stored.fetchedAt && now - stored.fetchedAt < leaseMs)) {
    return { kind: "validate", because: "purge-state-unknown" };
  }
  if (stored.reuse.validateAlways) return { kind: "validate", because: "no-cache" };

  const { directives } = request;
  const ageMs = currentAgeMs(stored.initialAgeMs, stored.receivedAt, now);
  const lifetimeMs = stored.freshnessSeconds * 1000;
  if (asksForFresher(directives, ageMs, lifetimeMs)) return { kind: "validate", because: "request-directive" };

  const ageSeconds = Math.floor(ageMs / 1000);
  const ttlSeconds = Math.floor(stored.freshnessSeconds - ageSeconds);
  if (ageMs < lifetimeMs) return { kind: "fresh", ageSeconds, ttlSeconds };
  const because = usableWhileStale(stored, request, purge, ageMs - lifetimeMs);
  return because ? { kind: "stale-usable", because, ageSeconds, ttlSeconds } : { kind: "validate", because: "stale" };
}

/** RFC 9111 §5.2.1.1, §5.2.1.3, §5.2.1.4, where the site lets visitors ask for that. */
function asksForFresher(directives: RequestDirectives, ageMs: number, lifetimeMs: number): boolean {
  const { noCache, maxAgeSeconds, minFreshSeconds } = directives;
  if (noCache) return true;
  if (maxAgeSeconds !== null && ageMs > maxAgeSeconds * 1000) return true;
  return minFreshSeconds > 0 && lifetimeMs - ageMs < minFreshSeconds * 1000;
}

function usableWhileStale(
  { reuse }: StoredHead,
  { awaitsPurge, authorized, directives }: ReuseRequest,
  purge: PurgeAnswer,
  staleMs: number,
): "stale-while-revalidate" | "max-stale" | undefined {
  if (!reuse.mayServeStale || awaitsPurge || authorized || purge !== "not-purged") return undefined;
  if (staleMs < reuse.staleWhileRevalidateSeconds * 1000) return "stale-while-revalidate";
  return staleMs < directives.maxStaleSeconds * 1000 ? "max-stale" : undefined;
}
