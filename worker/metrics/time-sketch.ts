/*
 * A DDSketch (Masson, Rim, Lee: "DDSketch: A Fast and Fully-Mergeable Quantile Sketch with Relative-Error Guarantees",
 * VLDB 2019): a histogram whose buckets grow by a constant factor. Why it is written here:
 * docs/decisions/0055-small-readers-where-packages-weigh-too-much.md
 */

/** A quantile is at most this much away from the time that has this rank, as a part of it. */
export const RELATIVE_ERROR = 0.02;

/** The bound holds between these times, in milliseconds. Shorter times count as 0, and longer ones as the longest. */
export const SHORTEST_MS = 0.01;
export const LONGEST_MS = 100_000;

const GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR);
const LOG_GROWTH = Math.log(GROWTH);
const LAST_BUCKET = Math.ceil(Math.log(LONGEST_MS / SHORTEST_MS) / LOG_GROWTH);

/**
 * The counts of the buckets that are not empty, by the number of the bucket, and the sum of all times in milliseconds, which
 * a difference of counts leaves out if it is 0.
 */
export type SketchedTimes = {
  readonly sum?: number;
  readonly buckets: { readonly [bucket: string]: number };
};

/** Counts times in a fixed amount of memory. */
export class TimeSketch {
  readonly #counts = new Float64Array(LAST_BUCKET + 1);
  #sum = 0;

  add(ms: number): void {
    this.#counts[bucketOf(ms)]!++;
    if (ms > 0) this.#sum += ms;
  }

  get times(): SketchedTimes {
    return { sum: Math.round(this.#sum * 1000) / 1000, buckets: filledBuckets(this.#counts) };
  }
}

/** The counts of the buckets that are not empty. */
export function filledBuckets(counts: Float64Array): Record<string, number> {
  const filled: Record<string, number> = {};
  counts.forEach((count, bucket) => {
    if (count > 0) filled[bucket] = count;
  });
  return filled;
}

/** How many times were counted up to each of them, the shortest first. Bounds within the relative error are one. */
function cumulated({ buckets }: SketchedTimes): { readonly ms: number; readonly count: number }[] {
  let count = 0;
  const add = (more: number) => {
    count += more;
    return count;
  };
  return Object.keys(buckets)
    .map(Number)
    .sort((a, b) => a - b)
    .map((bucket) => ({ ms: middleOf(bucket), count: add(buckets[bucket]!) }));
}

/** How many times are at most `ms`. A time within the relative error of the limit may be on either side. */
export function countUpTo(times: SketchedTimes, ms = Number.POSITIVE_INFINITY): number {
  return cumulated(times).findLast((each) => each.ms <= ms)?.count ?? 0;
}

/** The time whose rank is `floor(1 + q * (n - 1))`, within the relative error; `NaN` if no time was counted. */
export function quantile(times: SketchedTimes, q: number): number {
  const rank = q * (countUpTo(times) - 1);
  return cumulated(times).find(({ count }) => count > rank)?.ms ?? Number.NaN;
}

function bucketOf(ms: number): number {
  if (!(ms >= SHORTEST_MS)) return 0;
  return Math.min(Math.max(1, Math.ceil(Math.log(ms / SHORTEST_MS) / LOG_GROWTH)), LAST_BUCKET);
}

/** The value that is within the relative error of every time in the bucket. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 0 : (SHORTEST_MS * 2 * GROWTH ** bucket) / (GROWTH + 1);
}
