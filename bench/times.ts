import { createHistogram, type RecordableHistogram } from "node:perf_hooks";

/** How long something took, again and again: to the microsecond, and told to three digits. */
export class Times {
  readonly #micros: RecordableHistogram = createHistogram();

  /** Notes what has passed since an instant of `performance.now()`. */
  addSince(startedAt: number): void {
    this.add(performance.now() - startedAt);
  }

  add(ms: number): void {
    this.#micros.record(Math.max(1, Math.round(ms * 1000)));
  }

  get count(): number {
    return this.#micros.count;
  }

  /** Milliseconds; `NaN` if nothing was noted. */
  percentile(percent: number): number {
    return this.count === 0 ? Number.NaN : this.#micros.percentile(percent) / 1000;
  }

  get mostMs(): number {
    return this.count === 0 ? Number.NaN : this.#micros.max / 1000;
  }

  toJSON(): object {
    return { count: this.count, p50Ms: this.percentile(50), p99Ms: this.percentile(99), mostMs: this.mostMs };
  }
}
