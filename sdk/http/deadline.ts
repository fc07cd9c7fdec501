import type { Clock } from "../clock.ts";

export interface Deadline {
  /** Aborted when the deadline passes, or when one of the caller's signals is aborted. */
  signal: AbortSignal;
  leftMs(): number;
}

export interface DeadlineOptions {
  clock: Clock;
  deadlineMs: number;
  /** The caller's signals. If one is aborted, the work ends with its reason. */
  signals: readonly AbortSignal[];
  /** Makes the error for a deadline that has passed. It is called at that moment. */
  timedOut(): Error;
}

/** Does work that ends by the deadline, even if it waits for something that ignores the signal. */
export async function withDeadline<T>(options: DeadlineOptions, work: (deadline: Deadline) => Promise<T>): Promise<T> {
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
    () => {}, // The work ended before the deadline, and ended the sleep.
  );

  try {
    return await Promise.race([work({ signal: stop.signal, leftMs: () => endsAt - clock.now() }), stopped]);
  } finally {
    over.abort();
  }
}
