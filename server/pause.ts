import { setTimeout as sleep } from "node:timers/promises";

/**
 * Whether a pause goes on that ends at `until`. It takes at most `longestMs`: if more is left, the clock was set back since,
 * and it is over.
 */
export function isPaused(until: number, now: number, longestMs: number): boolean {
  const restMs = until - now;
  return restMs > 0 && restMs <= longestMs;
}

/** When such a pause ends; 0 if it is over. */
export function endOfPause(until: number, now: number, longestMs: number): number {
  return isPaused(until, now, longestMs) ? until : 0;
}

/** Waits by a timer that does not keep the process alive. */
export function inBackground(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}
