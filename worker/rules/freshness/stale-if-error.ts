import { mayBeAnsweredBy } from "../identity/identity.ts";
import type { StoredHead } from "../storing/stored-response.ts";
import { currentAgeMs } from "./current-age.ts";
import { isMadeStale, type PurgeAnswer, type ReuseRequest } from "./judge.ts";
import { mayStandInWhileUnknown } from "./unknown-purge-state.ts";

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

/** What is known of the purges when a stored response would stand in. */
export interface PurgeKnowledgeOnError {
  readonly answer: PurgeAnswer;
  /** False if the view is too old: then something worse than `answer` may have come meanwhile. */
  readonly isViewUsable: boolean;
  /** Since when a purge has made the response stale: epoch milliseconds; `null` for none. */
  readonly madeStaleAt: number | null;
}

/**
 * Whether a stored response may answer although the origin failed. RFC 5861 §4, RFC 9111 §4.2.4; rules R9 and R18: a
 * response that is known to be purged never does, and a request that awaits a purge takes nothing stale. A response
 * that a purge has made stale counts as stale since `madeStaleAt`. `now` is epoch milliseconds.
 */
export function mayServeOnError(
  stored: StoredHead,
  request: ReuseRequest,
  { answer, isViewUsable, madeStaleAt }: PurgeKnowledgeOnError,
  rules: StaleRules,
  now: number,
): boolean {
  const { reuse } = stored;
  // RFC 9111 §4.4: what an unsafe request has invalidated must be validated before it is used.
  if (answer === "purged" || answer === "invalidated" || answer === "unverifiable") return false;
  const isUnknown = answer === "unknown" || !isViewUsable;
  if (isUnknown && !mayStandInWhileUnknown(rules)) return false;
  if (request.awaitsPurge || !mayBeAnsweredBy(stored, request)) return false;
  const ageMs = currentAgeMs(stored.initialAgeMs, stored.receivedAt, now);
  const purgedMs = madeStaleAt === null ? 0 : now - madeStaleAt;
  const staleMs = Math.max(0, ageMs - stored.freshnessSeconds * 1000, purgedMs);
  const isStale = ageMs >= stored.freshnessSeconds * 1000 || reuse.validateAlways || isMadeStale(answer);
  if (isStale && !reuse.mayServeStale) return false;
  const windowSeconds = reuse.staleIfErrorSeconds ?? rules.ifErrorSeconds;
  return staleMs < Math.max(windowSeconds, request.directives.staleIfErrorSeconds) * 1000;
}
