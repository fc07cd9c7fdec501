import { canonicalUrl } from "./canonical-url.ts";
import { pathPrefixes } from "./path-prefixes.ts";
import { canonicalQuery, queryValues } from "./query.ts";
import { findRoute, type Route } from "./route.ts";

/** What a request asks for: its route, its key, and what the origin is asked. */
export interface Target {
  readonly kind: "target";
  /** The primary cache key: scheme, public host, canonical path and query. RFC 9111 §2. */
  readonly key: string;
  readonly scheme: "http" | "https";
  /** The public host, with its port unless that is the scheme's default. */
  readonly host: string;
  /** Path and query for the origin; on a route that stores, exactly what stands in the key. */
  readonly pathAndQuery: string;
  /** The names under which purges by URL, prefix and host find this target: with its host, and on every host. */
  readonly purgeKeys: readonly string[];
  readonly route: Route;
  /** The tags that the route gives. */
  readonly routeTags: readonly string[];
  /** False if the route's conditions on the query keep this target from being stored. */
  readonly mayStore: boolean;
}

export interface RefusedTarget {
  readonly kind: "refused";
  /** 400 for a URL that is ambiguous or none, 421 for a host that is not the site's (RFC 9110 §15.5.20). */
  readonly status: 400 | 421;
  readonly because: string;
}

/** What the key needs to know of the site. */
export interface TargetRules {
  /** Public hosts; `null` for any. */
  readonly hosts: readonly string[] | null;
  /** The public scheme and host that stand in for the request's own; `null` for the request's own. */
  readonly publicUrl: { readonly scheme: "http" | "https"; readonly host: string } | null;
  readonly routes: readonly Route[];
}

/**
 * The one key function: look-up, purge and refresh all come through here.
 * `url` is absolute, as it came over the wire or as a purge names it.
 */
export function resolveTarget(url: string, rules: TargetRules): Target | RefusedTarget {
  const asked = canonicalUrl(url);
  if (asked.kind === "refused") return { kind: "refused", status: 400, because: asked.because };
  const scheme = rules.publicUrl?.scheme ?? asked.scheme;
  const host = rules.publicUrl?.host ?? asked.host;
  if (rules.hosts && !rules.hosts.includes(host)) {
    return { kind: "refused", status: 421, because: `${host} is not a host of this site` };
  }
  if (asked.path.startsWith("/_tidemark/")) {
    return { kind: "refused", status: 400, because: "this spelling of the control plane's path is not served" };
  }
  const { route, parameters } = findRoute(rules.routes, asked.path);
  const keyed = asked.path + canonicalQuery(asked.search, route.query);
  return {
    kind: "target",
    key: `${scheme}://${host}${keyed}`,
    scheme,
    host,
    pathAndQuery: route.pass ? asked.path + asked.search : keyed,
    purgeKeys: [
      urlPurgeKey(host, keyed),
      pathPurgeKey(keyed),
      hostPurgeKey(host),
      ...pathPrefixes(asked.path).flatMap((prefix) => [prefixPurgeKey(prefix), hostPurgeKey(host, prefix)]),
    ],
    route,
    routeTags: route.tags(parameters),
    mayStore: withinConditions(asked.search, route),
  };
}

/** What a purge of this URL on one host is filed under; it means http and https. */
export function urlPurgeKey(host: string, pathAndQuery: string): string {
  return `//${host}${pathAndQuery}`;
}

/** What a purge of this path on every host is filed under. */
export function pathPurgeKey(pathAndQuery: string): string {
  return `path:${pathAndQuery}`;
}

/** What a purge of this prefix on every host is filed under. */
export function prefixPurgeKey(prefix: string): string {
  return `prefix:${prefix}`;
}

/** What a purge of all of one host is filed under, or of one of its prefixes. */
export function hostPurgeKey(host: string, prefix = ""): string {
  return `host:${host}${prefix}`;
}

/** What a purge of this tag is filed under. */
export function tagPurgeKey(tag: string): string {
  return `#${tag}`;
}

/** The path and query that stand in the key, also on a route that passes more of the query to the origin. */
export function keyedPath({ key, scheme, host }: Target): string {
  return key.slice(`${scheme}://${host}`.length);
}

export function isTagPurgeKey(key: string): boolean {
  return key.startsWith("#");
}

/** What a purge of a cache group is filed under: groups are scoped to their origin. RFC 9875 §2. */
export function groupPurgeKey({ scheme, host }: Pick<Target, "scheme" | "host">, group: string): string {
  return `group:${scheme}://${host} ${group}`;
}

/** What a purge of everything is filed under. */
export const EVERYTHING_PURGE_KEY = "*";

function withinConditions(search: string, route: Route): boolean {
  return route.storeWhenQuery.every(({ name, maxLength }) =>
    queryValues(search, name).every((value) => value.length <= maxLength),
  );
}
