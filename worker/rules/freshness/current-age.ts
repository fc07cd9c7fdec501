import { readDeltaSeconds } from "../directives/delta-seconds.ts";
import { parseHttpDate } from "../fields/http-date.ts";
import type { StoredHead } from "../storing/stored-response.ts";
import { MAX_SKEW_MS } from "./unknown-purge-state.ts";

/**
 * The age of a response at its arrival, in milliseconds: RFC 9111 §4.2.3, `corrected_initial_age`. `requestedAt` and
 * `receivedAt` are epoch milliseconds of its fetch. A malformed `Age` counts as zero (§5.1), a `Date` in the future as
 * now.
 */
export function initialAgeMs(age: string | null, date: string | null, requestedAt: number, receivedAt: number): number {
  const generatedAt = parseHttpDate(date, receivedAt);
  // `Date` counts whole seconds, so the arrival is rounded down, too. Otherwise an answer generated in this second
  // would look old.
  const receivedSecondAt = Math.floor(receivedAt / 1000) * 1000;
  const apparentAgeMs = generatedAt === undefined ? 0 : Math.max(0, receivedSecondAt - generatedAt);
  const responseDelayMs = Math.max(0, receivedAt - requestedAt);
  return Math.max(apparentAgeMs, statedAgeMs(age) + responseDelayMs);
}

/** §5.1: of several members the first that is not empty counts. A value that is not a whole number is ignored. */
function statedAgeMs(age: string | null): number {
  const members = age?.split(",").map((member) => member.trim());
  const seconds = readDeltaSeconds(members?.find(Boolean));
  return seconds === "invalid" ? 0 : seconds * 1000;
}

/** When a stored response is no longer fresh: epoch milliseconds. RFC 9111 §4.2. */
export function freshUntil({
  receivedAt,
  freshnessSeconds,
  initialAgeMs,
}: Pick<StoredHead, "receivedAt" | "freshnessSeconds" | "initialAgeMs">): number {
  return receivedAt + freshnessSeconds * 1000 - initialAgeMs;
}

/**
 * Whether a response arrived further ahead of `now` than clocks may differ. Then the clock was set back, and the time
 * held is unknown. Both are epoch milliseconds.
 */
export function isAgeUnknown(receivedAt: number, now: number): boolean {
  return receivedAt > now + MAX_SKEW_MS;
}

/** RFC 9111 §4.2.3, `current_age`: the initial age and the time held since, in milliseconds. */
export function currentAgeMs(initialAge: number, receivedAt: number, now: number): number {
  return initialAge + Math.max(0, now - receivedAt);
}
