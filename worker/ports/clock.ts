/** The time, and waiting. Instants are epoch milliseconds. */
export interface Clock {
  now(): number;
  /** Resolves after this many milliseconds, in the request that waits. */
  wait(ms: number): Wait;
  /** Like `wait`, while nothing else runs, for a clock that does not move by itself. Default: `wait`. */
  rest?(ms: number): Wait;
}

export interface Wait {
  readonly over: Promise<void>;
  /** Frees the timer; `over` then never resolves. */
  cancel(): void;
}

/** Waits by a timer of the runtime, as real clocks do. */
export function waitByTimer(ms: number): Wait {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return { over: promise, cancel: () => clearTimeout(timer) };
}

/** Measures how long something took: milliseconds from any beginning, as precise as the platform allows. */
export interface Timer {
  now(): number;
  /** Whether it advances while the isolate computes. On Workers time passes only while something is awaited. */
  readonly runsInMemory: boolean;
}
