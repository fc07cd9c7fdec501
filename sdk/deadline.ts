import type { Clock } from "./clock.ts";

/** How long work may still take. */
export interface Limit {
  /** Aborted when the deadline passes or one of the caller's signals does. */
  signal: AbortSignal;
  leftMs(): number;
}

export interface LimitOptions {
  clock: Clock;
  deadlineMs: number;
  /** The caller's signals, any of which ends the work with its reason. */
  signals: readonly AbortSignal[];
  /** The error for a deadline that has passed, made at that moment. */
  timedOut(): Error;
}

/** Does work that ends in time, even if what it waits for does not listen to the signal. */
export async function within<T>(options: LimitOptions, work: (limit: Limit) => Promise<T>): Promise<T> {
  const { clock, deadlineMs, signals, timedOut } = options;
  for (const signal of signals) signal.throwIfAborted();
  const endsAt = clock.now() + deadlineMs;
  const stop = new AbortController();
  const over = new AbortController();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  stop.signal.addEventListener("abort", () => reject(stop.signal.reason), { once: true });

  for (const signal of signals) {
    signal.addEventListener("abort", () => stop.abort(signal.reason), { once: true, signal: over.signal });
  }
  clock.sleep(deadlineMs, over.signal).then(
    () => stop.abort(timedOut()),
    () => {}, // The work was over first.
  );

  try {
    return await Promise.race([work({ signal: stop.signal, leftMs: () => endsAt - clock.now() }), stopped]);
  } finally {
    over.abort();
  }
}
