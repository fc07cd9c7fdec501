import { type Clock, waitByTimer } from "../worker/ports/clock.ts";

/** The machine's wall clock, its timers, and a clock that nobody can set. */
export const systemClock: Clock & {
  /** Milliseconds since this process began. */
  elapsed(): number;
} = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  wait: waitByTimer,
};
