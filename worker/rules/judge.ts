import { currentAgeMs } from "./current-age.ts";
import type { StoredHead } from "./stored-response.ts";

/** What the purge view says of a stored response. `unknown`: no usable view, and nothing known speaks against it. */
export type PurgeAnswer = "not-purged" | "purged" | "unknown";

/** What the request brings that matters for reuse. */
export interface ReuseRequest {
  readonly authorized: boolean;
}

/** What a selected response may do for a request. */
export type Verdict =
  | { readonly kind: "fresh"; readonly ageSeconds: number; readonly ttlSeconds: number }
  | { readonly kind: "none"; readonly because: "stale" | "purged" | "purge-state-unknown" | "authorization" };

/**
 * Decides whether a stored response may answer. RFC 9111 §4, §4.2; rule R8 for the unknown purge state: what was
 * fetched less than a lease ago may still be served, all else is asked of the origin. `now` is epoch milliseconds.
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
  const ageMs = currentAgeMs(stored.initialAgeMs, stored.receivedAt, now);
  if (ageMs >= stored.freshnessSeconds * 1000) return { kind: "none", because: "stale" };
  if (purge === "unknown" && !(now >= stored.fetchedAt && now - stored.fetchedAt < leaseMs)) {
    return { kind: "none", because: "purge-state-unknown" };
  }
  const ageSeconds = Math.floor(ageMs / 1000);
  return { kind: "fresh", ageSeconds, ttlSeconds: Math.floor(stored.freshnessSeconds - ageSeconds) };
}
