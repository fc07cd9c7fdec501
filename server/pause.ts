/**
 * Whether a pause goes on that ends at `until`. It takes at most `longestMs`: if more is left, the clock was set back since,
 * and it is over.
 */
export function isPaused(until: number, now: number, longestMs: number): boolean {
  const restMs = until - now;
  return restMs > 0 && restMs <= longestMs;
}
