import { counted } from "../../wire/text/numbers.ts";
/** Requests and purges of one edge in one report. */
export interface TrafficCounts {
  readonly requests: number;
  readonly hits: number;
  readonly askedOrigin: number;
  readonly purges: number;
}

/** The most reports in a window. A person's requests are shown one by one, and those of a load test together. */
const REPORTS_PER_WINDOW = 10;
export const WINDOW_MS = 250;

/** Reports to the dev command what its worker has seen, in few lines however many requests come. */
export class TrafficReport {
  readonly #tell: (counts: TrafficCounts) => void;
  #windowEndsAt = Number.NEGATIVE_INFINITY;
  #toldInWindow = 0;
  #untold: TrafficCounts | null = null;

  constructor(tell: (counts: TrafficCounts) => void) {
    this.#tell = tell;
  }

  /**
   * Counts requests and purges, and reports them at once or at the end of a window of `WINDOW_MS`. `now`: epoch
   * milliseconds. `later` runs work after so many milliseconds.
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

const NOTHING: TrafficCounts = { requests: 0, hits: 0, askedOrigin: 0, purges: 0 };

/** Both together. */
function sum(counts: TrafficCounts, seen: Partial<TrafficCounts>): TrafficCounts {
  const { requests = 0, hits = 0, askedOrigin = 0, purges = 0 } = seen;
  return {
    requests: counts.requests + requests,
    hits: counts.hits + hits,
    askedOrigin: counts.askedOrigin + askedOrigin,
    purges: counts.purges + purges,
  };
}

/** The requests and purges that the edges of the dev command have seen since they started. */
export class Traffic {
  #seen = NOTHING;

  add(counts: TrafficCounts): void {
    this.#seen = sum(this.#seen, counts);
  }

  /** `12 requests: 9 hits (75 %), 3 waited for the origin. 1 purge.` */
  get summary(): string {
    const { requests, hits, askedOrigin, purges } = this.#seen;
    const purged = purges === 0 ? "" : ` ${counted(purges, "purge")}.`;
    if (requests === 0) return `No requests.${purged}`;
    const share = Math.round((hits / requests) * 100);
    return `${counted(requests, "request")}: ${counted(hits, "hit")} (${share} %), ${askedOrigin} waited for the origin.${purged}`;
  }
}
