import type { StaleRules } from "../freshness/judge.ts";
import type { RequestRules } from "../request/request-facts.ts";
import { routeSpelling } from "./canonical-url.ts";
import type { PathMatcher } from "./path-matcher.ts";
import type { QueryRules } from "./query.ts";

/** The owner's rules for the paths that a pattern matches, ready for use. */
export interface Route extends RequestRules {
  /** The pattern as written, for messages and `Cache-Status`; `null` for paths that match no route. */
  readonly pattern: string | null;
  readonly match: PathMatcher;
  /** True if requests go to the origin unchanged, and nothing is looked up or stored. */
  readonly pass: boolean;
  /** True if bodies of requests are passed on as they come, also where they are otherwise taken in first. */
  readonly streamsBody: boolean;
  readonly query: QueryRules;
  /** Fields, in lower case, that go to the origin as sent and select among stored responses, whatever `Vary` says. */
  readonly keyFields: readonly string[];
  /** `keyFields` and the names of the choices: they select, whatever `Vary` says. */
  readonly selectingNames: readonly string[];
  /** The trusted fields that the owner trusts for errors, too. */
  readonly trustedForErrors: readonly string[];
  /** True if a HEAD that finds nothing stored fetches the page by GET and stores it. */
  readonly storesOnHead: boolean;
  /** True if an answer that only an unknown field keeps from being stored leads to a plain look at the page. */
  readonly looksAgain: boolean;
  /** True if `Set-Cookie` is removed from answers to GET and HEAD, so that it does not keep them from being stored. */
  readonly stripsSetCookie: boolean;
  /** Query parameters, each with the most characters that its value may have if the answer is to be stored. */
  readonly storeWhenQuery: readonly { readonly name: string; readonly maxLength: number }[];
  /** True if the owner gives a lifetime, so that pages without a lifetime from the origin may be stored. */
  readonly hasOwnLifetime: boolean;
  readonly ttlSeconds?: number | undefined;
  /** The lifetime by status if the origin gives none; `undefined` if the status gets none. */
  readonly defaultTtlSeconds: (status: number) => number | undefined;
  /** The lifetime that browsers are given for stored responses; `null` to keep the origin's. */
  readonly browserTtlSeconds: number | null;
  readonly stale: StaleRules;
  /**
   * The greatest ages of a view that may judge the route's responses, and those of them that are `immutable`. They may
   * exceed the lease (R6).
   */
  readonly purge: { readonly maxViewAgeMs: number; readonly maxViewAgeImmutableMs: number };
  /** The route's tags for these parameters. */
  readonly tags: (parameters: Readonly<Record<string, string>>) => readonly string[];
}

/**
 * The first route that matches, with the path's parameters, and with those of the path's own spelling, if the route matches
 * that, too. The last route of a site matches everything.
 */
export function findRoute(
  routes: readonly Route[],
  path: string,
): { readonly route: Route; readonly readings: readonly Readonly<Record<string, string>>[] } {
  const plain = routeSpelling(path);
  for (const route of routes) {
    const parameters = route.match(plain);
    if (!parameters) continue;
    const own = plain === path ? undefined : route.match(path);
    return { route, readings: own ? [parameters, own] : [parameters] };
  }
  throw new Error(`no route matches ${path}: the last route of a site must match everything`);
}
