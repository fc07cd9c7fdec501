import { type Clock, waitByTimer } from "../ports/clock.ts";

/**
 * The runtime's clock. In production it stands still between I/O events, which the allowance for clocks covers (R7).
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  wait: waitByTimer,
};
