import { mayBeAnsweredBy } from "../identity/identity.ts";
import type { StoredHead } from "../storing/stored-response.ts";
import { currentAgeMs, isAgeUnknown } from "./current-age.ts";
import { isMadeStale, mayBeStale, type PurgeAnswer, type ReuseRequest, type StaleRules } from "./judge.ts";
import { isOriginError } from "./origin-error.ts";
import { mayStandInWhileUnknown } from "./unknown-purge-state.ts";

/** The origin's failure: it answered with an error, or gave no answer. */
export type OriginFailure = "error" | "disconnected";

/** Why a stored response may replace the answer: a directive of its own or of the request, or the owner's rule. */
export type StandInBecause = "stale-if-error" | "stale.ifError" | "stale.ifDisconnected";

/** The knowledge about purges with which a stored response may replace an error. */
export interface PurgeKnowledgeOnError {
  readonly answer: PurgeAnswer;
  /** False if the view is too old. A stronger purge than `answer` shows may then have happened in the meantime. */
  readonly isViewUsable: boolean;
  /** The time when a purge made the response stale: epoch milliseconds; `null` for none. */
  readonly madeStaleAt: number | null;
}

/**
 * Why a stored response may be served although the origin failed; `null` if it may not. RFC 5861 §4, RFC 9111 §4.2.4. A
 * response that is known to be purged is never served (R18), and a request that awaits a purge accepts nothing stale
 * (R9). A response that a purge has made stale counts as stale since `madeStaleAt`. `now` is epoch milliseconds.
 */
export function mayServeOnError(
  stored: StoredHead,
  request: ReuseRequest,
  { answer, isViewUsable, madeStaleAt }: PurgeKnowledgeOnError,
  rules: StaleRules,
  failure: OriginFailure,
  now: number,
): StandInBecause | null {
  const { reuse } = stored;
  // RFC 9111 §4.4: a response that an unsafe request has invalidated must be validated before use.
  if (answer === "purged" || answer === "invalidated" || answer === "unverifiable") return null;
  const isUnknown = answer === "unknown" || !isViewUsable;
  if (isUnknown && !mayStandInWhileUnknown(rules)) return null;
  if (request.awaitsPurge || !mayBeAnsweredBy(stored, request)) return null;
  const ageMs = currentAgeMs(stored.initialAgeMs, stored.receivedAt, now);
  const purgedMs = madeStaleAt === null ? 0 : now - madeStaleAt;
  const staleMs = Math.max(0, ageMs - stored.freshnessSeconds * 1000, purgedMs);
  const isOld = ageMs >= stored.freshnessSeconds * 1000 || isAgeUnknown(stored.receivedAt, now);
  const isStale = isOld || reuse.validateAlways || isMadeStale(answer);
  if (isStale && !mayBeStale(reuse, rules)) return null;
  const { staleIfErrorSeconds: own } = reuse;
  if (staleMs < Math.max(own ?? 0, request.directives.staleIfErrorSeconds) * 1000) return "stale-if-error";
  if (own !== null || isOriginError(stored.status)) return null;
  if (staleMs < rules.ifErrorSeconds * 1000) return "stale.ifError";
  const isCovered = failure === "disconnected" && staleMs < rules.ifDisconnectedSeconds * 1000;
  return isCovered ? "stale.ifDisconnected" : null;
}
