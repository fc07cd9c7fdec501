const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * The target of a redirect, without its fragment; `null` if the response is not a redirect. RFC 9110 §15.4, §10.2.2.
 */
export function redirectTarget(status: number, location: string | null, url: string): string | null {
  if (location === null || !REDIRECTS.has(status)) return null;
  return URL.parse(location, url)?.href.split("#", 1)[0] ?? null;
}
