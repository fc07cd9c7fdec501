const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 2_000;

/**
 * Milliseconds to pause before the next attempt, after `attempts` of them. The pause doubles with each attempt up to a
 * limit, and half of it is random (`random` is from 0 up to 1), so that clients that were refused together do not
 * return together. For the same reason the pause is added to a `Retry-After`.
 */
export function retryPauseMs(attempts: number, retryAfterMs: number | undefined, random: number): number {
  const ceilingMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1));
  return (retryAfterMs ?? 0) + ceilingMs * (0.5 + random / 2);
}

/**
 * Milliseconds that a `Retry-After` asks for (RFC 9110 §10.2.3); undefined if there is none, or if it is neither a
 * number of seconds nor a date. A date is compared with the `Date` of the same answer, so the two clocks need not
 * agree.
 */
export function retryAfterMs(headers: { get(name: string): string | null }): number | undefined {
  const field = headers.get("retry-after")?.trim();
  if (!field) return undefined;
  if (/^\d+$/.test(field)) return Number(field) * 1_000;
  const ms = Date.parse(field) - Date.parse(headers.get("date") ?? "");
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
