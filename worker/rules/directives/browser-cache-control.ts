import { formatCacheControl, parseCacheControl } from "./cache-control.ts";

/**
 * The `Cache-Control` for browsers if the owner lets them keep a response for `ttlSeconds` from now. The age that the
 * response has here is added, since browsers subtract it again (RFC 9111 §4.2.3). `null` if the origin says `no-store`
 * or `no-cache`, which stands. Its other restrictions stand, too; its lifetimes and stale windows are replaced.
 */
export function browserCacheControl(sent: string | null, ttlSeconds: number, ageSeconds: number): string | null {
  const said = parseCacheControl(sent);
  if (said.noStore || said.noCache === "whole") return null;
  return formatCacheControl({
    ...said,
    maxAge: ageSeconds + ttlSeconds,
    sMaxage: "absent",
    staleWhileRevalidate: "absent",
    staleIfError: "absent",
  });
}
