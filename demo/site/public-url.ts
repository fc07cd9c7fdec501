const ALWAYS_ALLOWED = ["localhost", "127.0.0.1", "[::1]"];

/**
 * The scheme and host that the visitor sees, for absolute URLs.
 *
 * `X-Forwarded-Host` and `X-Forwarded-Proto` come from the edge, or from anybody who reaches the origin directly. A
 * host is therefore accepted only if it is on the list. Otherwise the answer is `fallback`, because a link to the
 * wrong address of this site does less harm than a link to a stranger's site.
 */
export function publicUrl(
  fields: Readonly<Record<string, string | undefined>>,
  allowedHosts: readonly string[],
  fallback: string,
): string {
  const claimed = (fields["x-forwarded-host"] ?? fields.host ?? "").trim();
  const scheme = fields["x-forwarded-proto"]?.trim() === "https" ? "https" : "http";
  const url = URL.parse(`${scheme}://${claimed}`);
  if (url === null || url.host !== claimed.toLowerCase()) return fallback;
  return [...ALWAYS_ALLOWED, ...allowedHosts].includes(url.hostname) ? url.origin : fallback;
}
