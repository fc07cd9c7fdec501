import { hashOf } from "./frequency-sketch.ts";

/** The most keys that are sampled. */
const MAX_KEYS = 512;

/** Longer keys are not sampled, so that a sample takes at most a megabyte. */
const MAX_KEY_CHARACTERS = 1024;

const ALL_HASHES = 2 ** 32;

/** What is added up of the uses of an isolate's memory, in the form of the site's ledger. */
export interface ReuseCounts {
  /** Look-ups of stored pages, wherever they were found, and pages that were stored. */
  readonly uses: number;
  /** Those of them that memory held. */
  readonly held: number;
  /** By the number of uses since the page was used before: how many, and the bytes of their pages. Estimated. */
  readonly after: Histogram;
  readonly bytesAfter: Histogram;
}

interface Histogram {
  readonly buckets: Readonly<Record<number, number>>;
}

/** The buckets of a distance: two for each doubling. */
const BUCKETS_PER_DOUBLING = 2;

/** The first use of a page is in a bucket that no isolate lives to see. */
const NEVER_BEFORE = 120;

/** The shortest distance that a bucket holds. */
export function distanceFrom(bucket: number): number {
  return 2 ** (bucket / BUCKETS_PER_DOUBLING);
}

interface SampledKey {
  readonly hash: number;
  bytes: number;
  usedAt: number;
}

/**
 * How many uses of the memory pass until a page is used again, from which follows how much would be found in a memory of
 * another size. Counted for the keys whose hashes are below a threshold that falls when there are too many of them, each for
 * as many as it stands for: the sample of fixed size of SHARDS (Waldspurger et al., "Efficient MRC Construction with
 * SHARDS", FAST 2015). Time is counted in uses and not in bytes between them, which would take a walk over the sample for
 * each hit (Hu et al., "Kinetic Modeling of Data Eviction in Cache", ATC 2016).
 */
export class ReuseSample {
  #uses = 0;
  #held = 0;
  #threshold = ALL_HASHES;
  readonly #keys = new Map<string, SampledKey>();
  readonly #after: Record<number, number> = {};
  readonly #bytesAfter: Record<number, number> = {};

  /** So many keys are in the sample. */
  get keys(): number {
    return this.#keys.size;
  }

  /** A page was found in memory. */
  found(key: string): void {
    this.#uses++;
    this.#held++;
    const sampled = this.#keys.get(key);
    if (sampled !== undefined) this.#useAgain(sampled);
  }

  /** A page was used that is not in memory. `bytes`: what it would take there. */
  missed(key: string, bytes: number): void {
    this.#uses++;
    const sampled = this.#keys.get(key);
    if (sampled !== undefined) {
      sampled.bytes = bytes;
      this.#useAgain(sampled);
      return;
    }
    const hash = mixed(hashOf(key));
    if (hash >= this.#threshold || key.length > MAX_KEY_CHARACTERS) return;
    this.#keys.set(key, { hash, bytes, usedAt: this.#uses });
    this.#count(NEVER_BEFORE, bytes);
    if (this.#keys.size > MAX_KEYS) this.#lowerThreshold();
  }

  get counts(): ReuseCounts {
    return {
      uses: this.#uses,
      held: this.#held,
      after: { buckets: { ...this.#after } },
      bytesAfter: { buckets: { ...this.#bytesAfter } },
    };
  }

  #useAgain(sampled: SampledKey): void {
    this.#count(Math.floor(Math.log2(this.#uses - sampled.usedAt) * BUCKETS_PER_DOUBLING), sampled.bytes);
    sampled.usedAt = this.#uses;
  }

  #count(bucket: number, bytes: number): void {
    const weight = ALL_HASHES / this.#threshold; // so many keys one of the sample stands for
    this.#after[bucket] = (this.#after[bucket] ?? 0) + weight;
    this.#bytesAfter[bucket] = (this.#bytesAfter[bucket] ?? 0) + weight * bytes;
  }

  #lowerThreshold(): void {
    this.#threshold = Math.max(...[...this.#keys.values()].map(({ hash }) => hash));
    for (const [key, { hash }] of this.#keys) if (hash >= this.#threshold) this.#keys.delete(key);
  }
}

/** The bits of FNV's hash mixed, so that they are even in all places. */
function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x2c1b3c6d);
  return (once ^ (once >>> 15)) >>> 0;
}
