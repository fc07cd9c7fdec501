/** What one purge key stands for. */
export type PurgeItem =
  /** One URL of one host, under http and https. */
  | { readonly kind: "url"; readonly host: string; readonly pathAndQuery: string }
  /** One path and query, on every host. */
  | { readonly kind: "path"; readonly pathAndQuery: string }
  /** All that lies below a path, on one host or, for `null`, on every host. */
  | { readonly kind: "prefix"; readonly host: string | null; readonly prefix: string }
  | { readonly kind: "host"; readonly host: string }
  | { readonly kind: "tag"; readonly tag: string }
  /** A cache group of one origin. RFC 9875 §2. */
  | { readonly kind: "group"; readonly scheme: string; readonly host: string; readonly group: string }
  | { readonly kind: "everything" };

/** What a purge of everything is filed under. */
export const EVERYTHING_PURGE_KEY = "*";

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

/** What a purge of a cache group is filed under: groups are scoped to their origin. RFC 9875 §2. */
export function groupPurgeKey(
  { scheme, host }: { readonly scheme: string; readonly host: string },
  group: string,
): string {
  return `group:${scheme}://${host} ${group}`;
}

/** Reads what the functions above write; `null` for any other text. */
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

/**
 * A purge key as a person reads it, and as `tidemark purge -` takes it: `/about`, `https://www.example.com/about`
 * (which means http, too), `tag:song:42`, `prefix:/shop`, `prefix:www.example.com/shop`, `host:www.example.com`,
 * `everything`.
 */
export function purgeItemText(key: string): string {
  const item = readPurgeKey(key);
  switch (item?.kind) {
    case undefined:
      return key;
    case "url":
      return `https://${item.host}${item.pathAndQuery}`;
    case "path":
      return item.pathAndQuery;
    case "prefix":
      return `prefix:${item.host ?? ""}${item.prefix}`;
    case "host":
      return `host:${item.host}`;
    case "tag":
      return `tag:${item.tag}`;
    case "group":
      return `group:${item.scheme}://${item.host} ${item.group}`;
    case "everything":
      return "everything";
  }
}
