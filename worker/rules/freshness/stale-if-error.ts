import type { StoredHead } from "../storing/stored-response.ts";
import { currentAgeMs } from "./current-age.ts";
import { isMadeStale, type PurgeAnswer, type ReuseRequest } from "./judge.ts";

/** What the site says of stale answers. */
export interface StaleRules {
  /** For how long, where the origin does not say, a stale response may stand in for a failed origin. */
  readonly ifErrorSeconds: number;
  /** Whether it may also while the purge state is unknown (R18): it may have been purged meanwhile. */
  readonly ifErrorWhileUnknown: boolean;
}

/** Statuses by which an origin says that it failed. RFC 5861 §4. */
const ORIGIN_FAILED = new Set([500, 502, 503, 504]);

export function isOriginError(status: number): boolean {
  return ORIGIN_FAILED.has(status);
}

/**
 * Whether a stored response may answer although the origin failed. RFC 5861 §4, RFC 9111 §4.2.4; rules R9 and R18: what
 * is known to be purged never does, and whoever awaits a purge takes nothing stale. What a purge has made stale counts as
 * stale since `madeStaleAt`. Instants are epoch milliseconds.
 */
export function mayServeOnError(
  stored: StoredHead,
  request: ReuseRequest,
  purge: PurgeAnswer,
  rules: StaleRules,
  now: number,
  madeStaleAt: number | null = null,
): boolean {
  const { reuse } = stored;
  // RFC 9111 §4.4: what an unsafe request has invalidated must be validated before it is used.
  if (purge === "purged" || purge === "invalidated" || purge === "unverifiable") return false;
  if (purge === "unknown" && !rules.ifErrorWhileUnknown) return false;
  if (request.awaitsPurge || (request.authorized && !stored.sharedWithAuthorized)) return false;
  const ageMs = currentAgeMs(stored.initialAgeMs, stored.receivedAt, now);
  const purgedMs = madeStaleAt === null ? 0 : now - madeStaleAt;
  const staleMs = Math.max(0, ageMs - stored.freshnessSeconds * 1000, purgedMs);
  const isStale = ageMs >= stored.freshnessSeconds * 1000 || reuse.validateAlways || isMadeStale(purge);
  if (isStale && !reuse.mayServeStale) return false;
  const windowSeconds = reuse.staleIfErrorSeconds ?? rules.ifErrorSeconds;
  return staleMs < Math.max(windowSeconds, request.directives.staleIfErrorSeconds) * 1000;
}
