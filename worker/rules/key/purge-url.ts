/**
 * Why nothing with this path or host is purged; `null` if it is. A `*` would be part of the URL and purge one page at most,
 * although its author meant many.
 */
export function wildcardFault(path: string, host = ""): string | null {
  if (host.includes("*")) {
    return "a * in a host is not a wildcard; name each host, or a path without host for all";
  }
  if (!path.includes("*")) return null;
  const [prefix] = /^(?:\/[^/*]+(?=\/))+/.exec(path) ?? [];
  const advice = `name whole segments of the path, like prefixes: [${JSON.stringify(prefix ?? "/blog")}], or tags`;
  return `a * is not a wildcard; ${advice}, or write %2A for a * of the path`;
}

/**
 * The URL of a `PURGE` request, in which a `*` is part of the page's name: MediaWiki sends `/wiki/M*A*S*H` and
 * `/wiki/*NSYNC`. One at the beginning of a segment without a letter or digit behind it stays, and is refused: `/img/*` and
 * `/img/*.png` are typed by somebody who means many pages.
 */
export function urlOfPurge(url: string): string {
  return url.replace(/^[^?]+/, (address) => address.replace(/(?<!\/)\*|\*(?=[\p{L}\p{N}])/gu, "%2A"));
}
