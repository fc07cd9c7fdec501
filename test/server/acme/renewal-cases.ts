import type { pauseAfter } from "../../../server/acme/attempts.ts";
import type { RenewalVerdict, RenewalWindow } from "../../../server/acme/renewal.ts";

export const DAY = 86_400_000;
export const MINUTE = 60_000;
/** The lifetime to come. */
export const OF_45_DAYS = { validFrom: 0, validUntil: 45 * DAY };
export const WINDOW = { startAt: 28 * DAY, endAt: 30 * DAY };

type RenewalCase = readonly [
  name: string,
  window: RenewalWindow | null,
  share: number,
  now: number,
  kind: RenewalVerdict["kind"],
];

/** When a certificate of 45 days is renewed. */
export const RENEWAL_CASES: readonly RenewalCase[] = [
  ["without a window: not before a third of its lifetime is left", null, 0.5, 30 * DAY - 1, "wait"],
  ["without a window: when a third is left", null, 0.5, 30 * DAY, "renew"],
  ["in a window: not before its moment there", WINDOW, 0.5, 29 * DAY - 1, "wait"],
  ["in a window: at its moment there", WINDOW, 0.5, 29 * DAY, "renew"],
  ["in a window: at its beginning, if its share is none", WINDOW, 0, 28 * DAY, "renew"],
  ["at once, if the window is over, as after a revocation", { startAt: -2 * DAY, endAt: -DAY }, 1, DAY, "renew"],
  ["not later than with a tenth left: before", { startAt: 50 * DAY, endAt: 60 * DAY }, 0, 40.5 * DAY - 1, "wait"],
  ["not later than with a tenth left: then", { startAt: 50 * DAY, endAt: 60 * DAY }, 0, 40.5 * DAY, "renew"],
  ["in a window later than the last third", { startAt: 36 * DAY, endAt: 38 * DAY }, 0, 36 * DAY - 1, "wait"],
];

type PauseCase = readonly [
  attempts: number,
  of: Parameters<typeof pauseAfter>[1],
  retryAfterMs: number | null,
  random: number,
  minutes: number,
];

/** How long after attempts in vain the next one is. */
export const PAUSE_CASES: readonly PauseCase[] = [
  [1, "name", null, 0, 15],
  [2, "name", null, 0, 30],
  [5, "name", null, 0, 240],
  [6, "name", null, 0, 360],
  [50, "name", null, 0, 360],
  [1, "name", null, 1, 18.75],
  [1, "name", 60 * MINUTE, 0, 60],
  [1, "name", 60 * MINUTE, 1, 75],
  [4, "name", MINUTE, 0, 120],
  [1, "name", 400 * DAY, 0, 7 * 24 * 60],
  [1, "authority", null, 0, 1],
  [3, "authority", null, 0, 4],
  [20, "authority", null, 0, 360],
];
