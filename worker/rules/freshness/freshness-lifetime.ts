import { secondsOrNone } from "../directives/delta-seconds.ts";
import type { EffectiveCacheControl } from "../directives/targeted-fields.ts";
import { parseHttpDate } from "../fields/http-date.ts";
import { type HeuristicRules, heuristicFreshnessSeconds } from "./heuristic-freshness.ts";

/** How long a response is fresh, counted from its generation, and who said so. */
export interface FreshnessLifetime {
  readonly seconds: number;
  readonly source: "route" | "s-maxage" | "max-age" | "expires" | "heuristic" | "route-default" | "none";
}

/** A response, as far as its lifetime depends on it. */
export interface ReceivedResponse {
  readonly status: number;
  /** When it arrived: epoch milliseconds. */
  readonly receivedAt: number;
  /** A field's text, several lines joined with commas; `null` if absent. */
  readonly field: (name: string) => string | null;
}

/** What the owner says about lifetimes; absent where that is left to the origin. */
export interface LifetimeRules {
  /** Replaces what the origin says, but for statuses of `OBEYS_TTL` alone. */
  readonly ttlSeconds?: number | undefined;
  /** Stands in where the origin says nothing, and nothing can be guessed. */
  readonly defaultTtlSeconds?: number | undefined;
  /** `null`: nothing is guessed. */
  readonly heuristic: HeuristicRules | null;
}

/** An owner who gives a page a day does not mean its failures: their lifetime is the one that the origin says. */
const OBEYS_TTL = new Set([200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 410]);

/**
 * RFC 9111 §4.2.1 for a shared cache: `s-maxage`, else `max-age`, else `Expires` less `Date`; then §4.2.2. An invalid
 * value makes the response stale; it never lets a weaker source speak.
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
  if (rules.heuristic !== null) {
    // A `Date` ahead of us must not lengthen a guess.
    const generatedAt = Math.min(generationOf(response), response.receivedAt);
    const lastModified = response.field("last-modified");
    const seconds = heuristicFreshnessSeconds(response.status, lastModified, generatedAt, rules.heuristic);
    if (seconds !== undefined) return { seconds, source: "heuristic" };
  }
  if (rules.defaultTtlSeconds !== undefined) return { seconds: rules.defaultTtlSeconds, source: "route-default" };
  return { seconds: 0, source: "none" };
}

/** Whether the origin itself said how long, be it nothing at all. RFC 9111 §4.2.1. */
export function isExplicit({ source }: FreshnessLifetime): boolean {
  return source === "s-maxage" || source === "max-age" || source === "expires";
}

/** §5.3: a text that is no date, two dates in one field included, counts as a time in the past. */
function secondsToExpiry(expires: string, response: ReceivedResponse): number {
  const expiresAt = parseHttpDate(expires, response.receivedAt);
  if (expiresAt === undefined) return 0;
  return Math.max(0, Math.floor((expiresAt - generationOf(response)) / 1000));
}

function generationOf({ field, receivedAt }: ReceivedResponse): number {
  return parseHttpDate(field("date"), receivedAt) ?? receivedAt;
}
