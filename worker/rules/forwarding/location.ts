/** The origin's address and the public one that stands for it. Both without a trailing slash. */
export interface PublicAddress {
  readonly originUrl: string;
  readonly publicUrl: string;
}

/**
 * `Location` or `Content-Location` as clients may see it: one that names the hidden origin, under either scheme, names
 * the public site instead; anything else is passed on as it is. RFC 9110 §10.2.2.
 */
export function publicLocation(location: string, address: PublicAddress): string {
  const url = URL.parse(location, `${address.originUrl}/`);
  const origin = URL.parse(address.originUrl);
  if (!url || !origin || url.hostname !== origin.hostname) return location;
  if (url.port !== origin.port && url.port !== "") return location; // another service of that machine
  if (!/^[a-z][a-z0-9+.-]*:|^[/\\]{2}/i.test(location.trim())) return location; // relative: names no host
  return address.publicUrl + url.pathname + url.search + url.hash;
}
