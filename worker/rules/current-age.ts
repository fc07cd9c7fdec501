import { parseHttpDate } from "./http-date.ts";

/**
 * How old a response already was when it arrived, in milliseconds: RFC 9111 §4.2.3, `corrected_initial_age`.
 * `requestedAt` and `receivedAt` are epoch milliseconds of the fetch that brought it. A malformed `Age` counts as
 * zero (§5.1), a `Date` ahead of us as now.
 */
export function initialAgeMs(age: string | null, date: string | null, requestedAt: number, receivedAt: number): number {
  const generatedAt = parseHttpDate(date);
  // `Date` counts whole seconds, so the arrival does too; else an answer of this very second would look old.
  const receivedSecondAt = Math.floor(receivedAt / 1000) * 1000;
  const apparentAgeMs = generatedAt === undefined ? 0 : Math.max(0, receivedSecondAt - generatedAt);
  const statedAgeMs = age !== null && /^[0-9]+$/.test(age) ? Math.min(Number(age), 2_147_483_648) * 1000 : 0;
  const responseDelayMs = Math.max(0, receivedAt - requestedAt);
  return Math.max(apparentAgeMs, statedAgeMs + responseDelayMs);
}

/** RFC 9111 §4.2.3, `current_age`: the initial age and the time held since, in milliseconds. */
export function currentAgeMs(initialAge: number, receivedAt: number, now: number): number {
  return initialAge + Math.max(0, now - receivedAt);
}
