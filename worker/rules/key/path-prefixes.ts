/** The deepest and the longest prefix that an entry is filed under: what it costs to keep must have a bound. */
export const MAX_PREFIX_SEGMENTS = 12;
export const MAX_PREFIX_CHARACTERS = 1024;

/**
 * The prefixes of a canonical path by whole segments, the shortest first: `/a` and `/a/b` for `/a/b` and for `/a/b/`.
 * An entry is filed under all of them, and a purge by prefix under the last of its own. A prefix beyond the bounds
 * therefore purges by a shorter one: more than it names, and never less.
 */
export function pathPrefixes(path: string): readonly string[] {
  const prefixes: string[] = [];
  let end = 0;
  while (end !== -1 && prefixes.length < MAX_PREFIX_SEGMENTS) {
    end = path.indexOf("/", end + 1);
    const prefix = end === -1 ? path : path.slice(0, end);
    if (prefix.length > MAX_PREFIX_CHARACTERS) break;
    if (!prefix.endsWith("/")) prefixes.push(prefix); // an empty segment is none to be named by
  }
  return prefixes;
}
