/** Time as the SDK sees it. */
export interface Clock {
  /** Milliseconds on a clock that only goes forward; its zero means nothing. */
  now(): number;
  /** Resolves no sooner than after so many milliseconds, at most 2147483647; rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest time that the platform's timers take. */
export const LONGEST_SLEEP_MS = 2_147_483_647;

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
