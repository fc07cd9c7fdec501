import type { RequestDirectivesPolicy } from "../directives/request-directives.ts";
import type { StaleRules } from "../freshness/stale-if-error.ts";
import type { KeyAndOwnersFields } from "../request/request-fields.ts";
import type { QueryRules } from "./query.ts";

/** What the owner said about the paths that a pattern matches, ready for use. */
export interface Route extends KeyAndOwnersFields {
  /** The pattern as written, for messages and `Cache-Status`; `null` for what no route matches. */
  readonly pattern: string | null;
  /** The parameters of a matching canonical path, or `undefined`. */
  readonly match: (path: string) => Readonly<Record<string, string>> | undefined;
  /** True if requests go to the origin as they are and nothing is looked up or stored. */
  readonly pass: boolean;
  readonly query: QueryRules;
  /** True if an answer that only an unknown field keeps from being stored leads to a plain look at the page. */
  readonly looksAgain: boolean;
  /** True if answers to GET and HEAD lose their `Set-Cookie`, so that it does not keep them from being stored. */
  readonly stripsSetCookie: boolean;
  /** Query parameters and the most characters that each may have for the answer to be stored. */
  readonly storeWhenQuery: readonly { readonly name: string; readonly maxLength: number }[];
  readonly ttlSeconds?: number | undefined;
  /** Lifetime where the origin gives none, by status; `undefined` where that status gets none. */
  readonly defaultTtlSeconds: (status: number) => number | undefined;
  /** The lifetime that browsers are given for its stored responses; `null` to leave what the origin said. */
  readonly browserTtlSeconds: number | null;
  /** Which directives of visitors are obeyed. */
  readonly requestDirectives: RequestDirectivesPolicy;
  readonly stale: StaleRules;
  /**
   * How old a view may be that judges its responses, and those of them that are `immutable`, where that may be more
   * than the lease (R6).
   */
  readonly purge: { readonly maxViewAgeMs: number; readonly maxViewAgeImmutableMs: number };
  /** The route's tags for these parameters. */
  readonly tags: (parameters: Readonly<Record<string, string>>) => readonly string[];
}

/** The first route that matches, and the path's parameters. The last route of a site matches everything. */
export function findRoute(
  routes: readonly Route[],
  path: string,
): { readonly route: Route; readonly parameters: Readonly<Record<string, string>> } {
  for (const route of routes) {
    const parameters = route.match(path);
    if (parameters) return { route, parameters };
  }
  throw new Error(`no route matches ${path}: the last route of a site must match everything`);
}
