/** Ticks are halves of a second: with 32 bits they reach for 68 years, so that a wrong clock cannot exceed them. */
const TICKS_PER_MS = 2 / 1000;

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The lifetimes of the table, in seconds. */
export const LIFETIMES: readonly number[] = [MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY];

/** The longest lifetime of pages that do not exist: they may be created. */
export const ERROR_LIFETIME_SECONDS = MINUTE;

/** The statuses to which the config gives its lifetime, and those to which it gives the lifetime of errors. */
export const PAGE_STATUSES: readonly number[] = [200, 301, 308];
export const ERROR_STATUSES: readonly number[] = [404, 410];

export function ticksOf(ms: number): number {
  return Math.floor(ms * TICKS_PER_MS);
}

/** `90` as `90s`, `3600` as `1h`: a duration as a config has it. */
export function inWords(seconds: number): string {
  for (const [unit, size] of [
    ["d", DAY],
    ["h", HOUR],
    ["m", MINUTE],
  ] as const) {
    if (seconds >= size && seconds % size === 0) return `${seconds / size}${unit}`;
  }
  return `${seconds}s`;
}

const SECONDS_PER: Readonly<Record<string, number>> = { s: 1, m: MINUTE, h: HOUR, d: DAY };
const MAX_SECONDS = 365 * DAY;

/** Reads a duration like `90s` or `7d`: whole seconds; `null` if it is invalid or longer than a year. */
export function readLifetime(text: string): number | null {
  const [, amount, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const seconds = Number(amount) * (SECONDS_PER[unit ?? ""] ?? NaN);
  return seconds >= 1 && seconds <= MAX_SECONDS ? seconds : null;
}
