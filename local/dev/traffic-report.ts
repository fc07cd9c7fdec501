/** Requests and purges of one edge, as many as are told at a time. */
export interface TrafficCounts {
  readonly requests: number;
  readonly hits: number;
  readonly askedOrigin: number;
  readonly purges: number;
}

/**
 * How many reports a window may have. So the requests of a person are shown one by one, and those of a load test
 * together.
 */
const REPORTS_PER_WINDOW = 10;
export const WINDOW_MS = 250;

/** Tells the dev command what its worker has seen, in few lines however many requests come. */
export class TrafficReport {
  readonly #tell: (counts: TrafficCounts) => void;
  #windowEndsAt = Number.NEGATIVE_INFINITY;
  #toldInWindow = 0;
  #untold: TrafficCounts | null = null;

  constructor(tell: (counts: TrafficCounts) => void) {
    this.#tell = tell;
  }

  /**
   * Counts what was seen, and tells it at once or at the end of a window of `WINDOW_MS`. `now`: epoch milliseconds.
   * `later` runs work after so many milliseconds.
   */
  add(seen: Partial<TrafficCounts>, now: number, later: (ms: number, work: () => void) => void): void {
    this.#untold = sum(this.#untold ?? NOTHING, seen);
    if (now >= this.#windowEndsAt) {
      this.#windowEndsAt = now + WINDOW_MS;
      this.#toldInWindow = 0;
      later(WINDOW_MS, () => this.#tellAll());
    }
    if (this.#toldInWindow++ < REPORTS_PER_WINDOW) this.#tellAll();
  }

  #tellAll(): void {
    if (this.#untold !== null) this.#tell(this.#untold);
    this.#untold = null;
  }
}

export const NOTHING: TrafficCounts = { requests: 0, hits: 0, askedOrigin: 0, purges: 0 };

/** Both together. */
export function sum(counts: TrafficCounts, seen: Partial<TrafficCounts>): TrafficCounts {
  const { requests = 0, hits = 0, askedOrigin = 0, purges = 0 } = seen;
  return {
    requests: counts.requests + requests,
    hits: counts.hits + hits,
    askedOrigin: counts.askedOrigin + askedOrigin,
    purges: counts.purges + purges,
  };
}
