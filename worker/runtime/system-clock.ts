import type { Clock } from "../ports/clock.ts";

/**
 * The runtime's clock. In production it stands still between I/O events, which the allowance for clocks covers (R7).
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (ms) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    return { over: promise, cancel: () => clearTimeout(timer) };
  },
};
