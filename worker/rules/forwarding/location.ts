/** The origin's address, and the public address that replaces it. Both are without a trailing slash. */
export interface PublicAddress {
  readonly originUrl: string;
  readonly publicUrl: string;
}

/**
 * `Location` or `Content-Location` for clients. If it names the hidden origin, under either scheme, the public address
 * replaces the origin's; any other value is passed on unchanged. RFC 9110 §10.2.2.
 */
export function publicLocation(location: string, address: PublicAddress): string {
  const url = URL.parse(location, `${address.originUrl}/`);
  const origin = URL.parse(address.originUrl);
  if (!url || !origin || url.hostname !== origin.hostname) return location;
  if (url.port !== origin.port && url.port !== "") return location; // another service on the same machine
  if (!/^[a-z][a-z0-9+.-]*:|^[/\\]{2}/i.test(location.trim())) return location; // relative, without a host
  return address.publicUrl + url.pathname + url.search + url.hash;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * The target of a redirect, without its fragment; `null` if the response is not a redirect. RFC 9110 §15.4, §10.2.2.
 */
export function redirectTarget(status: number, location: string | null, url: string): string | null {
  if (location === null || !REDIRECTS.has(status)) return null;
  return URL.parse(location, url)?.href.split("#", 1)[0] ?? null;
}
