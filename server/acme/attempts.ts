const MINUTE_MS = 60_000;

/** The first pause after an attempt that has failed; each further one is twice as long. Milliseconds. */
export const FIRST_PAUSE_MS = {
  /**
   * Let's Encrypt takes five failed validations of a name in an hour, one more every twelve minutes, and an attempt fails two
   * if both challenges do.
   */
  name: 15 * MINUTE_MS,
  /** The pause if the authority is out of reach, for example while the machine's network is not up yet. */
  authority: MINUTE_MS,
  /** The pause if a certificate is here, but cannot be written. */
  disk: MINUTE_MS,
} as const;
const LAST_PAUSE_MS = 6 * 60 * MINUTE_MS;

/** The longest pause that an authority can ask for: no known limit lasts longer. Milliseconds. */
const MOST_TOLD_MS = 7 * 24 * 60 * MINUTE_MS;

/** No pause by `pauseAfter` is longer, with or without an authority that asks for it. Milliseconds. */
export const LONGEST_PAUSE_MS = { name: MOST_TOLD_MS * 1.25, authority: LAST_PAUSE_MS * 1.25 } as const;

/** The shortest pause after the last attempt, also across restarts, because a server may restart again and again. */
export const LEAST_PAUSE_MS = 24 * MINUTE_MS;

/** A limit may hold for one name only, so the other names wait no longer than this. */
export const MOST_FOR_OTHERS_MS = 60 * MINUTE_MS;

/**
 * How long to wait after this many failed attempts in a row; at least as long as the authority says (`Retry-After`).
 * `random`, 0 to 1, spreads machines that failed together. Milliseconds.
 */
export function pauseAfter(
  attempts: number,
  of: keyof typeof FIRST_PAUSE_MS,
  retryAfterMs: number | null,
  random: number,
): number {
  const pause = Math.min(FIRST_PAUSE_MS[of] * 2 ** (attempts - 1), LAST_PAUSE_MS);
  return Math.max(pause, Math.min(retryAfterMs ?? 0, MOST_TOLD_MS)) * (1 + random / 4);
}

/**
 * When a name that was last tried at `lastAt` may be tried again, at a start or when the owner asks for it. Epoch
 * milliseconds.
 */
export function mayStartAt(lastAt: number | null, now: number): number {
  // A time in the future was written while the clock was wrong.
  return lastAt === null || lastAt > now ? now : Math.max(now, lastAt + LEAST_PAUSE_MS);
}
