import type { Fields } from "../fields/fields.ts";
import { freshnessLifetime } from "../freshness/freshness-lifetime.ts";
import type { StoredHead } from "../storing/stored-response.ts";
import { formatCacheControl, parseCacheControl } from "./cache-control.ts";

/**
 * The `Cache-Control` for browsers if the owner lets them keep a response for `ttlSeconds` from now. The response's
 * current age is added, because browsers subtract it (RFC 9111 §4.2.3). Lifetimes and stale windows of the origin are
 * replaced; its other restrictions are kept. `null` if the origin's is kept as it is: if it says `no-store` or
 * `no-cache`, or if the owner's time is longer than `mostSeconds`, the longest lifetime of the response.
 */
export function browserCacheControl(
  sent: string | null,
  ttlSeconds: number,
  ageSeconds: number,
  mostSeconds: number,
): string | null {
  const said = parseCacheControl(sent);
  if (said.noStore || said.noCache === "whole" || ttlSeconds > mostSeconds) return null;
  return formatCacheControl({
    ...said,
    maxAge: Math.min(ageSeconds + ttlSeconds, mostSeconds),
    sMaxage: "absent",
    staleWhileRevalidate: "absent",
    staleIfError: "absent",
  });
}

/**
 * The longest lifetime that the owner's time may give to a stored response in browsers, in seconds. An owner who means
 * pages does not mean their errors, which keep the lifetime that the origin gives to browsers, or else the edge's.
 */
export function mostBrowserSeconds(
  { status, receivedAt, freshnessSeconds }: Pick<StoredHead, "status" | "receivedAt" | "freshnessSeconds">,
  fields: Fields,
): number {
  if (status < 400) return Number.POSITIVE_INFINITY;
  const field = (name: string) => fields.get(name);
  const cacheControl = { ...parseCacheControl(field("cache-control")), sMaxage: "absent" } as const;
  const rules = { heuristic: null, defaultTtlSeconds: Math.floor(freshnessSeconds) };
  return freshnessLifetime({ status, receivedAt, field }, { cacheControl, source: "cache-control" }, rules).seconds;
}
