/** The limit keeps a purge from taking minutes to settle, however many readers there are. */
const MAX_STRETCH = 10;
/** The longest lease that is granted under load, unless the reader itself asks for a longer one. */
const MAX_STRETCHED_MS = 60_000;

/**
 * Estimates how often the log would be read in a second if every reader had the lease that it asked for. Counting the
 * actual reads would make the lease oscillate: leases would shorten as soon as they had reduced the load, and then
 * lengthen again.
 */
export class LogLoad {
  readonly #readsPerSecond: number;
  #second = 0;
  #wouldBeReads = 0;
  #stretch = 1;

  constructor(readsPerSecond: number) {
    this.#readsPerSecond = readsPerSecond;
  }

  /**
   * Counts a read. Returns the factor, a whole number from 1 on, by which its lease should be longer than requested.
   */
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

/** The lease that a read is granted, in milliseconds: never shorter than the reader asks for (R6). */
export function leaseUnderLoadMs(askedMs: number, stretch: number): number {
  return Math.max(askedMs, Math.min(askedMs * stretch, MAX_STRETCHED_MS));
}
