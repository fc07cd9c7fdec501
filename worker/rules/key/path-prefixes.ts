import { purgeSpelling } from "./purge-spelling.ts";

/**
 * The most segments and characters of a prefix under which an entry can be purged. They bound the purge keys of an
 * entry.
 */
export const MAX_PREFIX_SEGMENTS = 12;
export const MAX_PREFIX_CHARACTERS = 1024;

/**
 * The prefixes of a path by whole segments, in the spelling of purge keys, the shortest first: `/a` and `/a/b` for `/a/b`
 * and for `/a/b/`. An entry has all of them as purge keys; a purge by prefix has the last of its own. A prefix beyond the
 * bounds therefore purges by a shorter one, which covers more than was named, and never less.
 */
export function pathPrefixes(canonicalPath: string): readonly string[] {
  const path = purgeSpelling(canonicalPath);
  const prefixes: string[] = [];
  let end = 0;
  while (end !== -1 && prefixes.length < MAX_PREFIX_SEGMENTS) {
    end = path.indexOf("/", end + 1);
    const prefix = end === -1 ? path : path.slice(0, end);
    if (prefix.length > MAX_PREFIX_CHARACTERS) break;
    if (!prefix.endsWith("/")) prefixes.push(prefix); // an empty segment cannot be named
  }
  return prefixes;
}
