import type { ResolvedUrl } from "../rules/key/cache-key.ts";
import { canonicalUrl } from "../rules/key/canonical-url.ts";
import type { Route } from "../rules/key/route.ts";

/** A purge of thousands of items may be wrong in one way thousands of times. */
const MAX_WARNINGS = 20;

/** What an owner may not have expected of a URL. Only what the site's rules tell: what the origin says is not known here. */
export function urlWarnings(
  url: string,
  absoluteUrl: string,
  { route, cacheKey, mayStore }: ResolvedUrl,
): readonly string[] {
  const named = JSON.stringify(url);
  if (route.pass) return [`${named} is on the route ${route.pattern}, which stores nothing.`];
  if (!mayStore) return [`${named} has a query that the route ${route.pattern} does not store.`];
  const asked = canonicalUrl(absoluteUrl);
  const isDropped =
    asked.kind === "url" && parametersIn(asked.search) > parametersIn(URL.parse(cacheKey)?.search ?? "");
  if (!isDropped) return [];
  const owner = route.pattern === null ? "the site" : `the route ${route.pattern}`;
  return [`${named} has query parameters that ${owner} does not keep apart: what is stored without them is purged.`];
}

/** What an owner may not have expected of a prefix that is purged by this one. */
export function prefixWarnings(
  text: string,
  { prefix, isWidened, hadQuery }: { readonly prefix: string; readonly isWidened: boolean; readonly hadQuery: boolean },
): readonly string[] {
  const warnings: string[] = [];
  if (isWidened) warnings.push(`${JSON.stringify(text)} is too deep or too long: all below ${prefix} is purged.`);
  if (hadQuery) warnings.push(`${JSON.stringify(text)} has a query, which a prefix does not look at.`);
  return warnings;
}

/** Routes whose pages browsers were told to keep for longer than the edge is: no purge reaches a browser. */
export function browserWarnings(routes: Iterable<Route>): readonly string[] {
  return [...routes].flatMap(({ pattern, browserTtlSeconds, ttlSeconds, defaultTtlSeconds }) => {
    const edgeSeconds = ttlSeconds ?? defaultTtlSeconds(200);
    if (browserTtlSeconds === null || edgeSeconds === undefined || browserTtlSeconds <= edgeSeconds) return [];
    const lifetimes = `${browserTtlSeconds} s, longer than the edge (${edgeSeconds} s)`;
    return [`Browsers may keep pages of the route ${pattern} for ${lifetimes}, and no purge reaches them.`];
  });
}

/** Whether pages below a prefix may be on a route: as far as both are written out, one begins like the other. */
export function mayTouch({ pattern }: Route, prefix: string): boolean {
  if (pattern === null) return true;
  const literal = pattern.split(/[:*{(?+\\]/, 1)[0]!;
  return literal.startsWith(prefix) || prefix.startsWith(literal);
}

/** Each once, and not too many of them. */
export function firstWarnings(warnings: readonly string[]): string[] {
  const different = [...new Set(warnings)];
  const more = different.length - MAX_WARNINGS;
  return more > 0 ? [...different.slice(0, MAX_WARNINGS), `And ${more} more warnings.`] : different;
}

function parametersIn(search: string): number {
  return search.slice(1).split("&").filter(Boolean).length;
}
