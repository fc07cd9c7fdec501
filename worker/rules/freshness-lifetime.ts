import type { CacheControl } from "./cache-control.ts";
import { parseHttpDate } from "./http-date.ts";

/** How long a response is fresh, counted from its generation, and who said so. */
export interface FreshnessLifetime {
  readonly seconds: number;
  readonly source: "route" | "s-maxage" | "max-age" | "expires" | "route-default" | "none";
}

/** What a route says about lifetimes; absent where it leaves that to the origin. */
export interface LifetimeRules {
  /** Replaces what the origin says. */
  readonly ttlSeconds?: number | undefined;
  /** Stands in where the origin says nothing. */
  readonly defaultTtlSeconds?: number | undefined;
}

/**
 * RFC 9111 §4.2.1 for a shared cache: `s-maxage`, else `max-age`, else `Expires` less `Date`. An invalid value makes
 * the response stale; it never lets a weaker source speak. There are no heuristics (§4.2.2).
 */
export function freshnessLifetime(
  cacheControl: CacheControl,
  expires: string | null,
  date: string | null,
  receivedAt: number,
  rules: LifetimeRules,
): FreshnessLifetime {
  if (rules.ttlSeconds !== undefined) return { seconds: rules.ttlSeconds, source: "route" };
  if (cacheControl.sMaxage !== "absent") return { seconds: secondsOrNone(cacheControl.sMaxage), source: "s-maxage" };
  if (cacheControl.maxAge !== "absent") return { seconds: secondsOrNone(cacheControl.maxAge), source: "max-age" };
  if (expires !== null) {
    const expiresAt = parseHttpDate(expires);
    const generatedAt = parseHttpDate(date) ?? receivedAt;
    const seconds = expiresAt === undefined ? 0 : Math.max(0, Math.floor((expiresAt - generatedAt) / 1000));
    return { seconds, source: "expires" };
  }
  if (rules.defaultTtlSeconds !== undefined) return { seconds: rules.defaultTtlSeconds, source: "route-default" };
  return { seconds: 0, source: "none" };
}

function secondsOrNone(value: number | "invalid"): number {
  return value === "invalid" ? 0 : value;
}
