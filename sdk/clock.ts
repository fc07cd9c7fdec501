/** The time that the SDK sees. Tests give it their own. */
export interface Clock {
  /** Milliseconds on a clock that only goes forward. Only differences mean something. */
  now(): number;
  /**
   * Resolves after at least `ms` milliseconds, which may be at most `MAX_SLEEP_MS`. Rejects with the signal's reason if
   * the signal is aborted first.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest time that a timer of Node or a browser can wait: a signed 32-bit number of milliseconds. */
export const MAX_SLEEP_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep(ms, signal) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal?.aborted) {
      reject(signal.reason);
      return promise;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, Math.ceil(ms));
    signal?.addEventListener("abort", stop, { once: true });
    return promise;
  },
};
