/**
 * Why no URL with this path is purged; `null` if it is. A `*` would be part of the URL and purge one page at most, although
 * its author meant many.
 */
export function wildcardFault(path: string): string | null {
  if (!path.includes("*")) return null;
  const [prefix] = /^(?:\/[^/*]+(?=\/))+/.exec(path) ?? [];
  const advice = `name whole segments of the path, like prefixes: [${JSON.stringify(prefix ?? "/blog")}], or tags`;
  return `a * in a URL is not a wildcard; ${advice}, or write %2A for a * of the URL`;
}
