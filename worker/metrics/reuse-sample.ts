import { fnvHash } from "../rules/hashing/fnv-hash.ts";
import { MAX_KEY_CHARACTERS } from "../rules/key/expiring-keys.ts";
import { filledBuckets } from "./time-sketch.ts";

/** The most keys that are sampled: a megabyte, without long ones. When there are more, about half of them stay. */
const MAX_KEYS = 1024;

const ALL_HASHES = 2 ** 32;

/** The counts of an isolate's uses of its memory, in the form in which the site's ledger adds them up. */
export type ReuseCounts = {
  /** Look-ups of stored pages, wherever they were found, and pages that were stored. */
  readonly uses: number;
  /** How many of them memory held. */
  readonly held: number;
  /** By the number of uses since the page was used before: how many, and the bytes of their pages. Estimated. */
  readonly after: Histogram;
  readonly bytesAfter: Histogram;
};

type Histogram = {
  readonly buckets: Readonly<Record<number, number>>;
};

/** The first use of a page is in the last bucket. No distance is that long. */
const NEVER_BEFORE = 63;

/** There are two buckets for each doubling. */
function bucketOf(distance: number): number {
  const doublings = 31 - Math.clz32(distance);
  return 2 * doublings + ((distance >>> (doublings - 1)) & 1);
}

interface SampledKey {
  readonly hash: number;
  bytes: number;
  usedAt: number;
}

/**
 * How many uses of the memory pass until a page is used again. From that follows how many pages a memory of another
 * size would hold. It counts the keys whose hashes are below a threshold, which falls when there are too many of them,
 * and each key counts for as many as it represents: the sample of fixed size of SHARDS (Waldspurger et al., "Efficient
 * MRC Construction with SHARDS", FAST 2015). Time is counted in uses and not in bytes between them, which would take a
 * walk over the sample for each hit (Hu et al., "Kinetic Modeling of Data Eviction in Cache", ATC 2016).
 */
export class ReuseSample {
  #uses = 0;
  #held = 0;
  #threshold = ALL_HASHES;
  readonly #keys = new Map<string, SampledKey>();
  readonly #after = new Float64Array(NEVER_BEFORE + 1);
  readonly #bytesAfter = new Float64Array(NEVER_BEFORE + 1);

  /** How many keys are in the sample. */
  get keys(): number {
    return this.#keys.size;
  }

  /** A page was found in memory. */
  found(key: string): void {
    if (key.length > MAX_KEY_CHARACTERS) return;
    this.#uses++;
    this.#held++;
    const sampled = this.#keys.get(key);
    if (sampled !== undefined) this.#useAgain(sampled);
  }

  /** A page was used that is not in memory. `bytes`: what it would take there. */
  missed(key: string, bytes: number): void {
    if (key.length > MAX_KEY_CHARACTERS) return;
    this.#uses++;
    const hash = mixed(fnvHash(key));
    if (hash >= this.#threshold) return; // it is not in the sample
    const sampled = this.#keys.get(key);
    if (sampled !== undefined) {
      sampled.bytes = bytes;
      this.#useAgain(sampled);
      return;
    }
    this.#keys.set(key, { hash, bytes, usedAt: this.#uses });
    this.#count(NEVER_BEFORE, bytes);
    if (this.#keys.size > MAX_KEYS) this.#lowerThreshold();
  }

  get counts(): ReuseCounts {
    return {
      uses: this.#uses,
      held: this.#held,
      after: { buckets: filledBuckets(this.#after) },
      bytesAfter: { buckets: filledBuckets(this.#bytesAfter) },
    };
  }

  #useAgain(sampled: SampledKey): void {
    this.#count(bucketOf(this.#uses - sampled.usedAt), sampled.bytes);
    sampled.usedAt = this.#uses;
  }

  #count(bucket: number, bytes: number): void {
    const weight = ALL_HASHES / this.#threshold; // how many keys one of the sample stands for
    this.#after[bucket]! += weight;
    this.#bytesAfter[bucket]! += weight * bytes;
  }

  #lowerThreshold(): void {
    this.#threshold /= 2;
    for (const [key, { hash }] of this.#keys) if (hash >= this.#threshold) this.#keys.delete(key);
  }
}

/** The bits of FNV's hash mixed, so that they are even in all places. */
function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x2c1b3c6d);
  return (once ^ (once >>> 15)) >>> 0;
}
