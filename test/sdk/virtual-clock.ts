import type { Clock } from "../../sdk/clock.ts";

export interface VirtualClock extends Clock {
  /** Lets time pass, and wakes whoever slept until then. */
  advance(ms: number): void;
  /** Every sleep that was begun, in milliseconds. */
  readonly slept: readonly number[];
}

export interface VirtualClockOptions {
  /** Sleeps of up to so many milliseconds are over at once, and time has passed. Default: none, all wait for `advance`. */
  skipsUpToMs?: number;
  /** Called when a sleep has begun. */
  onSleep?: (ms: number) => void;
}

/** Time that moves only when told to. */
export function createVirtualClock({ skipsUpToMs = -1, onSleep }: VirtualClockOptions = {}): VirtualClock {
  const slept: number[] = [];
  const sleepers = new Set<{ until: number; wake(): void }>();
  // Far from zero, so that an instant taken for a duration shows.
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
