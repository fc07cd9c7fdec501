import type { ResolvedUrl } from "../../rules/key/cache-key.ts";
import { canonicalUrl } from "../../rules/key/canonical-url.ts";
import { purgeSpelling } from "../../rules/key/purge-spelling.ts";
import type { Route } from "../../rules/key/route.ts";

/** A purge of thousands of items may have the same warning thousands of times. */
const MAX_WARNINGS = 20;

/** Warnings about the purge of a URL whose effect may surprise the owner, as far as the site's rules show it. */
export function urlWarnings(
  url: string,
  absoluteUrl: string,
  { route, cacheKey, mayStore }: ResolvedUrl,
): readonly string[] {
  const named = JSON.stringify(url);
  if (route.pass) return [`${named} is on the route ${route.pattern}, which stores nothing.`];
  const owner = route.pattern === null ? "the site" : `the route ${route.pattern}`;
  if (!mayStore) return [`${named} has a query or session that ${owner} does not store.`];
  const asked = canonicalUrl(absoluteUrl);
  const isDropped =
    asked.kind === "url" && parametersIn(asked.search) > parametersIn(URL.parse(cacheKey)?.search ?? "");
  if (!isDropped) return [];
  return [`${named} has query parameters that ${owner} does not keep apart: the page without them is purged.`];
}

/** Warnings about the purge of a prefix whose effect may surprise the owner. */
export function prefixWarnings(
  text: string,
  { prefix, isWidened, hadQuery }: { readonly prefix: string; readonly isWidened: boolean; readonly hadQuery: boolean },
): readonly string[] {
  const warnings: string[] = [];
  if (isWidened)
    warnings.push(`${JSON.stringify(text)} is too deep or too long: everything below ${prefix} is purged.`);
  if (hadQuery) warnings.push(`${JSON.stringify(text)} has a query, but a prefix matches paths only.`);
  return warnings;
}

/**
 * Warns of an item that names an address of the developer's machine, if the edge gets requests as ones for another host:
 * `wrangler dev` gives them that of the worker's route. `own`: the host of the purge itself, as the edge gets it.
 */
export function machineWarnings(item: string, host: string, own: string): readonly string[] {
  const isMachine = (each: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(each);
  if (!isMachine(host) || isMachine(own)) return [];
  const named = JSON.stringify(item);
  return [
    `${named} names this machine, but the edge gets requests as ones for ${own}: name that host, or only a path.`,
  ];
}

/** Warns of routes whose pages browsers keep longer than the edge does, because a purge does not reach browsers. */
export function browserWarnings(routes: Iterable<Route>): readonly string[] {
  return [...routes].flatMap(({ pattern, browserTtlSeconds, ttlSeconds, defaultTtlSeconds }) => {
    const edgeSeconds = ttlSeconds ?? defaultTtlSeconds(200);
    if (browserTtlSeconds === null || edgeSeconds === undefined || browserTtlSeconds <= edgeSeconds) return [];
    const lifetimes = `${browserTtlSeconds} s, longer than the edge (${edgeSeconds} s)`;
    return [`Browsers may keep pages of the route ${pattern} for ${lifetimes}, and no purge reaches them.`];
  });
}

/** Whether pages below a prefix of purge keys may be on a route: it and the literal start of the pattern agree. */
export function mayTouch({ pattern }: Route, prefix: string): boolean {
  if (pattern === null) return true;
  const literal = purgeSpelling(pattern.split(/[:*{(?+\\]/, 1)[0]!);
  return literal.startsWith(prefix) || prefix.startsWith(literal);
}

/** Removes repeated warnings, and keeps at most `MAX_WARNINGS`. */
export function limitWarnings(warnings: readonly string[]): string[] {
  const different = [...new Set(warnings)];
  const more = different.length - MAX_WARNINGS;
  return more > 0 ? [...different.slice(0, MAX_WARNINGS), `And ${more} more warnings.`] : different;
}

function parametersIn(search: string): number {
  return search.slice(1).split("&").filter(Boolean).length;
}
