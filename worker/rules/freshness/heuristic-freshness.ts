import { parseHttpDate } from "../fields/http-date.ts";

/** The owner's rules for guessing a lifetime that nobody states. RFC 9111 §4.2.2. */
export interface HeuristicRules {
  /** The fraction of the time since the last modification: 0.1 is usual. */
  readonly fraction: number;
  readonly maxSeconds: number;
}

/** Statuses for which a lifetime may be guessed, whatever the response says. RFC 9110 §15.1; 206 is left out, because it is never stored. */
const HEURISTICALLY_CACHEABLE = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]);

/** Whether a response may be stored without explicit freshness: by its status, or because it is `public`. RFC 9111 §3, §4.2.2. */
export function isHeuristicallyCacheable(status: number, isPublic: boolean): boolean {
  return isPublic || HEURISTICALLY_CACHEABLE.has(status);
}

/**
 * The guessed lifetime of a response without explicit freshness: a fraction of the time between its last modification
 * and its generation. `undefined` without a `Last-Modified`.
 */
export function heuristicFreshnessSeconds(
  lastModified: string | null,
  generatedAt: number,
  rules: HeuristicRules,
): number | undefined {
  const modifiedAt = parseHttpDate(lastModified, generatedAt);
  if (modifiedAt === undefined || modifiedAt > generatedAt) return undefined;
  const guessedSeconds = Math.floor(((generatedAt - modifiedAt) / 1000) * rules.fraction);
  return Math.min(guessedSeconds, rules.maxSeconds);
}
