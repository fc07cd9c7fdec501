/** The most reads of the log that tokens may cause in one lease. Further requests wait for the next lease (R9). */
const MAX_TOKEN_READS = 8;

/** Limits the reads of the log that receipt tokens cause, because anybody can invent a token (R9). */
export class TokenReadBudget {
  readonly #leaseMs: number;
  #countsSince = 0;
  #reads = 0;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Counts a read. Returns how many milliseconds it has to wait for its turn. */
  take(now: number): number {
    if (now - this.#countsSince >= this.#leaseMs) {
      this.#countsSince = now;
      this.#reads = 0;
    }
    this.#reads++;
    if (this.#reads <= MAX_TOKEN_READS) return 0;
    return Math.min(this.#leaseMs, this.#countsSince + this.#leaseMs - now);
  }

  reset(): void {
    this.#countsSince = 0;
    this.#reads = 0;
  }
}
