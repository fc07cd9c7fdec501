const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Milliseconds to pause after so many attempts. Half of each pause is chance (`random` is from 0 to 1), so that the
 * many who were refused together do not come back together; for the same reason it comes on top of a `Retry-After`.
 */
export function backOffMs(attempts: number, retryAfterMs: number | undefined, random: number): number {
  const ceilingMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1));
  return (retryAfterMs ?? 0) + ceilingMs * (0.5 + random / 2);
}
