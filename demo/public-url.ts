import type { IncomingHttpHeaders } from "node:http";

const ALWAYS_ALLOWED = ["localhost", "127.0.0.1", "[::1]"];

/**
 * The scheme and host that the visitor sees, for absolute URLs.
 *
 * `X-Forwarded-Host` and `X-Forwarded-Proto` come from the edge, or from anybody who reaches the origin; so a name is believed
 * only if it is on the list. Otherwise it is `fallback`: a wrong link is better than somebody else's.
 */
export function publicUrl(fields: IncomingHttpHeaders, allowedHosts: readonly string[], fallback: string): string {
  const claimed = one(fields["x-forwarded-host"]) ?? fields.host ?? "";
  const scheme = one(fields["x-forwarded-proto"]) === "https" ? "https" : "http";
  const url = URL.parse(`${scheme}://${claimed}`);
  if (url === null || url.host !== claimed.toLowerCase()) return fallback;
  return [...ALWAYS_ALLOWED, ...allowedHosts].includes(url.hostname) ? url.origin : fallback;
}

function one(field: string | string[] | undefined): string | undefined {
  return typeof field === "string" ? field.trim() : field?.[0];
}
