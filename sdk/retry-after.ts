/**
 * Milliseconds that a `Retry-After` asks for (RFC 9110 §10.2.3). A date is compared with the answer's own `Date`, so
 * that no two clocks meet. Undefined for none and for what is neither seconds nor a date.
 */
export function retryAfterMs(headers: { get(name: string): string | null }): number | undefined {
  const field = headers.get("retry-after")?.trim();
  if (!field) return undefined;
  if (/^\d+$/.test(field)) return Number(field) * 1_000;
  const ms = Date.parse(field) - Date.parse(headers.get("date") ?? "");
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
