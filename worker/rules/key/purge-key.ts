import { pathPrefixes } from "./path-prefixes.ts";
import { purgeSpelling } from "./purge-spelling.ts";
import { canonicalQuery, type QueryRules } from "./query.ts";

/** The items that one purge key can stand for. */
export type PurgeItem =
  /** One URL of one host, under http and https. */
  | { readonly kind: "url"; readonly host: string; readonly pathAndQuery: string }
  /** One path and query, on every host. */
  | { readonly kind: "path"; readonly pathAndQuery: string }
  /** Everything below a path, on one host or, for `null`, on every host. */
  | { readonly kind: "prefix"; readonly host: string | null; readonly prefix: string }
  | { readonly kind: "host"; readonly host: string }
  | { readonly kind: "tag"; readonly tag: string }
  /** A cache group of one origin. RFC 9875 §2. */
  | { readonly kind: "group"; readonly scheme: string; readonly host: string; readonly group: string }
  | { readonly kind: "everything" };

/** The key under which a purge of everything is recorded. */
export const EVERYTHING_PURGE_KEY = "*";

/** The key under which a purge of this URL on one host, under http and https, is recorded. */
export function urlPurgeKey(host: string, pathAndQuery: string): string {
  return `//${host}${purgeSpelling(pathAndQuery)}`;
}

/** The key under which a purge of this path on every host is recorded. */
export function pathPurgeKey(pathAndQuery: string): string {
  return `path:${purgeSpelling(pathAndQuery)}`;
}

/** The key under which a purge of this prefix on every host is recorded. */
export function prefixPurgeKey(prefix: string): string {
  return `prefix:${prefix}`;
}

/** The key under which a purge of a host, or of one of its prefixes, is recorded. */
export function hostPurgeKey(host: string, prefix = ""): string {
  return `host:${host}${prefix}`;
}

/** The key under which a purge of this tag is recorded. */
export function tagPurgeKey(tag: string): string {
  return `#${tag}`;
}

/** The key under which a purge of a cache group is recorded. Groups belong to their origin. RFC 9875 §2. */
export function groupPurgeKey(
  { scheme, host }: { readonly scheme: string; readonly host: string },
  group: string,
): string {
  return `group:${scheme}://${host} ${group}`;
}

/** Next's router asks for a page's data at the page's own URL with `_rsc`, whose value is a hash that no backend knows. */
const PAGE_OF_ITS_DATA: QueryRules = { ignore: ["_rsc"], lowercase: [], trim: [], sort: false };

/**
 * The keys under which purges by URL, path, prefix and host find what is stored under this cache key, also of a variant. The
 * data that Next's router fetches of a page are filed under the page's URL, too.
 */
export function urlPurgeKeys(key: string): string[] {
  const [, host = "", path = "", query = ""] = /\/\/([^/]*)([^? ]*)([^ ]*)/.exec(key) ?? [];
  const keys = [hostPurgeKey(host)];
  for (const each of new Set([query, canonicalQuery(query, PAGE_OF_ITS_DATA)])) {
    keys.push(urlPurgeKey(host, path + each), pathPurgeKey(path + each));
  }
  for (const prefix of pathPrefixes(path)) keys.push(prefixPurgeKey(prefix), hostPurgeKey(host, prefix));
  return keys;
}

/** Reads a key that the functions above have written; `null` for any other text. */
export function readPurgeKey(key: string): PurgeItem | null {
  if (key === EVERYTHING_PURGE_KEY) return { kind: "everything" };
  if (key.startsWith("#")) return { kind: "tag", tag: key.slice(1) };
  if (key.startsWith("path:")) return { kind: "path", pathAndQuery: key.slice("path:".length) };
  if (key.startsWith("prefix:")) return { kind: "prefix", host: null, prefix: key.slice("prefix:".length) };
  const [, hostOfUrl, pathAndQuery] = /^\/\/([^/]*)(\/.*)$/s.exec(key) ?? [];
  if (hostOfUrl !== undefined) return { kind: "url", host: hostOfUrl, pathAndQuery: pathAndQuery! };
  const [, host, prefix] = /^host:([^/]*)(\/.*)?$/s.exec(key) ?? [];
  if (host !== undefined) return prefix === undefined ? { kind: "host", host } : { kind: "prefix", host, prefix };
  const [, scheme, hostOfGroup, group] = /^group:([^:]*):\/\/([^ ]*) (.*)$/s.exec(key) ?? [];
  if (scheme !== undefined) return { kind: "group", scheme, host: hostOfGroup!, group: group! };
  return null;
}
