/**
 * A number with its unit: `"250ms"`, `"90s"`, `"10m"`, `"1h"`, `"7d"`, `"2w"`. A minus sign makes it count backwards.
 * At most a hundred years.
 */
export type SimulatedDuration = `${number}${"ms" | "s" | "m" | "h" | "d" | "w"}`;

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Time never goes back, and a date has an end: a longer time would leave a CDN without any. */
const MAX_DAYS = 36_500;

/**
 * Milliseconds. Throws a `TypeError` for anything but a number with its unit, and a `RangeError` for more than a hundred
 * years.
 */
export function durationMs(duration: SimulatedDuration): number {
  const [, amount, unit] = /^(-?\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(String(duration)) ?? [];
  if (amount !== undefined) {
    const ms = Number(amount) * UNIT_MS[unit!]!;
    if (Math.abs(ms) <= MAX_DAYS * UNIT_MS.d!) return ms;
    throw new RangeError(`"${duration}" is too long: write at most "${MAX_DAYS}d", which is a hundred years.`);
  }
  if (typeof duration === "number") {
    throw new TypeError(`${duration} has no unit. Write "${duration}s" or "${duration}ms".`);
  }
  throw new TypeError(
    `${JSON.stringify(duration)} is not a duration. Write a number with its unit, like "500ms", "2s", "10m", "1h" or "7d".`,
  );
}
