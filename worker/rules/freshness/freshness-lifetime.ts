import { secondsOrNone } from "../directives/delta-seconds.ts";
import type { EffectiveCacheControl } from "../directives/targeted-fields.ts";
import { parseHttpDate } from "../fields/http-date.ts";
import { type HeuristicRules, heuristicFreshnessSeconds, isHeuristicallyCacheable } from "./heuristic-freshness.ts";

/**
 * How long a response is fresh, counted from its generation, and the source of that lifetime. Its age (`current-age.ts`) is
 * not taken off.
 */
export interface FreshnessLifetime {
  readonly seconds: number;
  readonly source: "route" | "s-maxage" | "max-age" | "expires" | "heuristic" | "route-default" | "none";
}

/** The parts of a response that determine its lifetime. */
export interface ReceivedResponse {
  readonly status: number;
  /** The time of its arrival: epoch milliseconds. */
  readonly receivedAt: number;
  /** A field's text, in which several lines are joined with commas; `null` if absent. */
  readonly field: (name: string) => string | null;
}

/** The owner's rules for lifetimes. An absent rule leaves the lifetime to the origin. */
export interface LifetimeRules {
  /** Replaces the origin's lifetime, for the statuses of `OBEYS_TTL` only. */
  readonly ttlSeconds?: number | undefined;
  /** Used if the origin gives no lifetime and none can be guessed. */
  readonly defaultTtlSeconds?: number | undefined;
  /** `null`: nothing is guessed. */
  readonly heuristic: HeuristicRules | null;
}

/**
 * Statuses to which the owner's lifetime applies. Failures keep the origin's lifetime, because an owner who gives a
 * page a day does not mean its failures.
 */
const OBEYS_TTL = new Set([200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 410]);

/**
 * RFC 9111 §4.2.1 for a shared cache: `s-maxage`, otherwise `max-age`, otherwise `Expires` minus `Date`, otherwise a
 * guess (§4.2.2). An invalid value makes the response stale; the next source is not used instead.
 */
export function freshnessLifetime(
  response: ReceivedResponse,
  { cacheControl, source }: EffectiveCacheControl,
  rules: LifetimeRules,
): FreshnessLifetime {
  if (rules.ttlSeconds !== undefined && OBEYS_TTL.has(response.status)) {
    return { seconds: rules.ttlSeconds, source: "route" };
  }
  const { maxAge, sMaxage } = cacheControl;
  if (sMaxage !== "absent") return { seconds: secondsOrNone(sMaxage), source: "s-maxage" };
  if (maxAge !== "absent") return { seconds: secondsOrNone(maxAge), source: "max-age" };
  const expires = source === "cache-control" ? response.field("expires") : null;
  if (expires !== null) return { seconds: secondsToExpiry(expires, response), source: "expires" };
  if (rules.heuristic !== null && isHeuristicallyCacheable(response.status, cacheControl.public)) {
    // A `Date` in the future must not lengthen a guess.
    const generatedAt = Math.min(generationOf(response), response.receivedAt);
    const lastModified = response.field("last-modified");
    const seconds = heuristicFreshnessSeconds(lastModified, generatedAt, rules.heuristic);
    if (seconds !== undefined) return { seconds, source: "heuristic" };
  }
  if (rules.defaultTtlSeconds !== undefined) return { seconds: rules.defaultTtlSeconds, source: "route-default" };
  return { seconds: 0, source: "none" };
}

/** Whether the origin itself gave the lifetime, even a lifetime of zero. RFC 9111 §4.2.1. */
export function isExplicit({ source }: FreshnessLifetime): boolean {
  return source === "s-maxage" || source === "max-age" || source === "expires";
}

/** §5.3: a text that is not a date, including two dates in one field, counts as a time in the past. */
function secondsToExpiry(expires: string, response: ReceivedResponse): number {
  const expiresAt = parseHttpDate(expires, response.receivedAt);
  if (expiresAt === undefined) return 0;
  return Math.max(0, Math.floor((expiresAt - generationOf(response)) / 1000));
}

function generationOf({ field, receivedAt }: ReceivedResponse): number {
  return parseHttpDate(field("date"), receivedAt) ?? receivedAt;
}
