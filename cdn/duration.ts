/** Milliseconds, or a number with its unit: `"500ms"`, `"2s"`, `"10m"`, `"1h"`, `"7d"`. */
export type SimulatedDuration = number | string;

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Milliseconds. Throws a `TypeError` at what is no duration. */
export function durationMs(duration: SimulatedDuration): number {
  if (typeof duration === "number" && Number.isFinite(duration)) return duration;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(String(duration)) ?? [];
  if (amount === undefined) {
    throw new TypeError(
      `${JSON.stringify(duration)} is no duration. It is a number of milliseconds, or like "500ms", "2s", "10m", "1h".`,
    );
  }
  return Number(amount) * UNIT_MS[unit!]!;
}
