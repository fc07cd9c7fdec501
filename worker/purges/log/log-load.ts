/** However many readers there are, a purge must not take minutes to settle. */
const MAX_STRETCH = 10;
/** The longest lease that is granted under load, unless the reader itself asks for a longer one. */
const MAX_STRETCHED_MS = 60_000;

/**
 * How often the log is read, from one second to the next. It counts how often the log would be read if every reader had
 * the lease that it asked for: otherwise leases would shorten as soon as they had reduced the load, and lengthen again.
 */
export class LogLoad {
  readonly #readsPerSecond: number;
  #second = 0;
  #wouldBeReads = 0;
  #stretch = 1;

  constructor(readsPerSecond: number) {
    this.#readsPerSecond = readsPerSecond;
  }

  /** Counts a read. Returns how many times longer than asked for its lease should be: a whole number from 1 on. */
  noteRead(now: number): number {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      const isNext = second === this.#second + 1;
      const wanted = isNext ? Math.ceil(this.#wouldBeReads / this.#readsPerSecond) : 1;
      this.#stretch = Math.min(Math.max(wanted, 1), MAX_STRETCH);
      this.#second = second;
      this.#wouldBeReads = 0;
    }
    this.#wouldBeReads += this.#stretch;
    return this.#stretch;
  }
}

/** The lease that a read is granted (R6): never shorter than the reader asks for. Milliseconds. */
export function leaseUnderLoadMs(askedMs: number, stretch: number): number {
  return Math.max(askedMs, Math.min(askedMs * stretch, MAX_STRETCHED_MS));
}
