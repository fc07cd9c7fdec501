import type { RouteStats } from "../stats.ts";

/** A finding in a site's stats that the owner can act on. */
export interface Verdict {
  readonly kind:
    | "query"
    | "vary"
    | "missing-lifetime"
    | "short-lifetime"
    | "same-for-all"
    | "unkeyed-field"
    | "too-large"
    | "slower-than-origin"
    | "quiet-pop"
    | "small-memory";
  /** The pattern of its route; `null` where it is about the whole site or a PoP. */
  readonly route: string | null;
  /**
   * The observation, the setting to change, and the effect: sentences without full stops, as Markdown with code spans.
   */
  readonly evidence: string;
  readonly setting: string;
  readonly effect: string;
  /** How many fewer requests would have reached the origin in the time of the stats. Negative if more would. */
  readonly savedFetches: number;
  /** The share of the route's requests that come from the cache, now and after the change. */
  readonly hitRatio?: { readonly now: number; readonly after: number };
}

/** With fewer requests there is no advice. */
export const LEAST_REQUESTS = 100;

/** A page counts as the same for all after this many comparisons without a difference. */
export const LEAST_COMPARISONS = 20;

/** Smaller gains are not worth a setting: this share of the requests. */
export const LEAST_GAIN = 0.01;

/** The routes with enough requests, without the sum of the others. */
export function routesOf(routes: Readonly<Record<string, RouteStats>>): [pattern: string, stats: RouteStats][] {
  return Object.entries(routes).filter(
    ([pattern, { requests }]) => pattern !== "(others)" && requests >= LEAST_REQUESTS,
  );
}

/** The hit ratio of a route with this many more hits, from requests that do not come from the cache now. */
export function withMoreHits({ requests, fromCache }: RouteStats, more: number): { now: number; after: number } {
  return { now: fromCache / requests, after: (fromCache + Math.min(more, requests - fromCache)) / requests };
}

/** Names a route, or the paths without one. */
export function onRoute(pattern: string): string {
  return pattern === "(none)" ? "paths without a route" : `\`${pattern}\``;
}
