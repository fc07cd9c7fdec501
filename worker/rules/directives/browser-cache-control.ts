import { formatCacheControl, parseCacheControl } from "./cache-control.ts";

/**
 * What browsers are told of a response that the owner gives them for so long, from now on: what it has aged here is
 * added, since they take it off again (RFC 9111 §4.2.3). `null` where the origin keeps it from being stored, or used
 * again unasked, by anyone downstream: that stands. All that it restricts beside stands, too; its own lifetimes and
 * stale windows go.
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
