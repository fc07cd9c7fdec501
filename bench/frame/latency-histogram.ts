import { createHistogram, type RecordableHistogram } from "node:perf_hooks";

/** The essence of a distribution; `NaN` if nothing was recorded. */
export interface Latencies {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** The distribution of many durations, in microseconds with three significant digits. */
export class LatencyHistogram {
  readonly #micros: RecordableHistogram = createHistogram();

  /** Records the time since an instant of `performance.now()`. */
  addSince(startedAt: number): void {
    this.add(performance.now() - startedAt);
  }

  add(ms: number): void {
    this.#micros.record(Math.max(1, Math.round(ms * 1000)));
  }

  get count(): number {
    return this.#micros.count;
  }

  /** In milliseconds; `NaN` if nothing was recorded. */
  percentile(percent: number): number {
    return this.count === 0 ? Number.NaN : this.#micros.percentile(percent) / 1000;
  }

  get maxMs(): number {
    return this.count === 0 ? Number.NaN : this.#micros.max / 1000;
  }

  toJSON(): Latencies {
    return { count: this.count, p50Ms: this.percentile(50), p99Ms: this.percentile(99), maxMs: this.maxMs };
  }
}
