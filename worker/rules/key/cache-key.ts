import type { VariantFields } from "../variants/vary.ts";
import { canonicalUrl } from "./canonical-url.ts";
import { canonicalQuery, isPickedQuery, queryValues } from "./query.ts";
import { findRoute, type Route } from "./route.ts";
import { unknownHost } from "./unknown-host.ts";

/** The result of resolving a URL: its route, its cache key, and the path and query for the origin. */
export interface ResolvedUrl {
  readonly kind: "resolved";
  /** The primary cache key: scheme, public host, canonical path and query. RFC 9111 §2. */
  readonly cacheKey: string;
  readonly scheme: "http" | "https";
  /** The public host, with its port unless that is the scheme's default. */
  readonly host: string;
  /** Path and query for the origin. Those of a resolved URL are exactly those in the key. */
  readonly pathAndQuery: string;
  /** The same path with the query as it came, for the origin of a request that stores nothing. */
  readonly pathAndWholeQuery: string;
  readonly route: Route;
  /** The tags that the route gives. */
  readonly routeTags: readonly string[];
  /** False if the route's conditions on the query keep it from being stored, or it bypasses the cache. */
  readonly mayStore: boolean;
  /** What of it sends it past the cache: a parameter, or a session in its path; `null` for nothing. */
  readonly bypassedBy: "query" | "session" | null;
}

export interface RefusedUrl {
  readonly kind: "refused";
  /** 400 for a URL that is ambiguous or not valid, 421 for a host that is not the site's (RFC 9110 §15.5.20). */
  readonly status: 400 | 421;
  readonly because: string;
}

/** The site's settings that determine keys. */
export interface KeyRules {
  /** Public hosts; `null` for any. */
  readonly hosts: readonly string[] | null;
  /** The scheme that replaces the request's own; `null` to keep that. */
  readonly publicScheme: "http" | "https" | null;
  /** The host that replaces the request's own; `null` to keep that. */
  readonly publicHost: string | null;
  readonly routes: readonly Route[];
}

/** As servlet containers (Tomcat, Jetty) write a session for a client without cookies. Jakarta Servlet 6.0 §7.1.3. */
const SESSION_IN_PATH = /;jsessionid=/i;

/**
 * Resolves a URL. Lookups, purges and refreshes all use this one function. `url` is absolute, as it came over the wire
 * or as a purge names it.
 */
export function resolveUrl(url: string, rules: KeyRules): ResolvedUrl | RefusedUrl {
  const asked = canonicalUrl(url);
  if (asked.kind === "refused") return { kind: "refused", status: 400, because: asked.because };
  const scheme = rules.publicScheme ?? asked.scheme;
  const host = rules.publicHost ?? asked.host;
  if (rules.hosts && !rules.hosts.includes(host)) {
    return { kind: "refused", status: 421, because: unknownHost(host, rules.hosts) };
  }
  // A purge to an endpoint that ends with a slash comes with two: the origin would get its token, and could answer 200.
  if (/^\/+_tidemark\//.test(asked.path)) {
    return { kind: "refused", status: 400, because: "the control plane's path begins with /_tidemark/, spelt so" };
  }
  const { route, readings } = findRoute(rules.routes, asked.path);
  const query = canonicalQuery(asked.search, route.query);
  const keyed = asked.path + query;
  const picked = isPickedQuery(asked.search, query, route.bypass.query) ? "query" : null;
  const bypassedBy = SESSION_IN_PATH.test(asked.path) ? "session" : picked;
  return {
    kind: "resolved",
    cacheKey: `${scheme}://${host}${keyed}`,
    scheme,
    host,
    pathAndQuery: keyed,
    pathAndWholeQuery: asked.path + asked.search,
    route,
    routeTags: readings.flatMap(route.tags),
    mayStore: withinConditions(asked.search, route) && bypassedBy === null,
    bypassedBy,
  };
}

/**
 * The cache key of a variant: the primary key, a space, which no URL contains, and the selecting fields. No two
 * variants share a key. It can be escaped for a URL, because JSON has no unpaired surrogates. Without selecting fields,
 * it is the primary key itself.
 */
export function variantKey(primaryKey: string, variant: VariantFields): string {
  return variant.length === 0 ? primaryKey : `${primaryKey} ${JSON.stringify(variant)}`;
}

/**
 * The key of the marker that leads to the parts of a page, for which frameworks ask by fields. No variant has it, because
 * one without selecting fields has the primary key.
 */
export function partsKey(primaryKey: string): string {
  return `${primaryKey} []`;
}

function withinConditions(search: string, route: Route): boolean {
  return route.storeWhenQuery.every(({ name, maxLength }) =>
    queryValues(search, name).every((value) => value.length <= maxLength),
  );
}
