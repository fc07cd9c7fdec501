/**
 * Up to this, a difference between the two clocks does not count as a step: the system adjusts the wall clock in small
 * amounts.
 */
const TOLERANCE_MS = 1000;

/** The wall clock, in epoch milliseconds, and a clock that nobody can set. */
export interface Clocks {
  now(): number;
  /** Milliseconds since any fixed moment. */
  elapsed(): number;
}

/** Notices when somebody sets the wall clock, or when the machine was suspended. */
export class ClockSteps {
  readonly #clocks: Clocks;
  #aheadMs: number;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
    this.#aheadMs = clocks.now() - clocks.elapsed();
  }

  /**
   * Calls `follow` if the wall clock was set since the last call: by `byMs`, which is negative if it went back. If
   * `follow` throws, it is called with the same step next time.
   */
  tell(follow: (byMs: number) => void): void {
    const aheadMs = this.#clocks.now() - this.#clocks.elapsed();
    const byMs = Math.round(aheadMs - this.#aheadMs);
    if (Math.abs(byMs) <= TOLERANCE_MS) return;
    follow(byMs);
    this.#aheadMs += byMs;
  }
}
