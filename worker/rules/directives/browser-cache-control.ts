import { formatCacheControl, parseCacheControl } from "./cache-control.ts";

/**
 * The `Cache-Control` for browsers if the owner lets them keep a response for `ttlSeconds` from now. The response's
 * current age is added, because browsers subtract it (RFC 9111 §4.2.3). Lifetimes and stale windows of the origin are
 * replaced; its other restrictions are kept. `null` if the origin says `no-store` or `no-cache`, which is kept as it
 * is.
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
