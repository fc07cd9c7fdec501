import type { Clock } from "../../sdk/clock.ts";

export interface VirtualClock extends Clock {
  /** Lets time pass, and ends the sleeps that are over by then. */
  advance(ms: number): void;
  /** Every sleep that was begun, in milliseconds. */
  readonly slept: readonly number[];
}

export interface VirtualClockOptions {
  /** Sleeps of up to this many milliseconds end at once, and time passes. Default: all sleeps wait for `advance`. */
  skipsUpToMs?: number;
  /** Called when a sleep has begun. */
  onSleep?: (ms: number) => void;
}

/** A clock that moves only when `advance` is called. */
export function createVirtualClock({ skipsUpToMs = -1, onSleep }: VirtualClockOptions = {}): VirtualClock {
  const slept: number[] = [];
  const sleepers = new Set<{ until: number; wake(): void }>();
  // Far from zero, so that a test fails if an instant is used as a duration.
  let now = 1_000_000;

  function advance(ms: number): void {
    now += ms;
    for (const sleeper of sleepers) {
      if (sleeper.until > now) continue;
      sleepers.delete(sleeper);
      sleeper.wake();
    }
  }

  return {
    slept,
    advance,
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      if (ms <= skipsUpToMs) {
        advance(ms);
        return;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const sleeper = { until: now + ms, wake: resolve };
      sleepers.add(sleeper);
      signal?.addEventListener("abort", () => {
        sleepers.delete(sleeper);
        reject(signal.reason);
      });
      onSleep?.(ms);
      await promise;
    },
  };
}
