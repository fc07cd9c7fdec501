import { EvictingMap, LARGEST_SHARE } from "#tidemark/internal";
import { keyHash } from "./key-hash.ts";

/** What an entry takes besides its body: its fields, its key and its purge keys, as the memory tier counts them. */
const ENTRY_BYTES = 3 * 1024;

/** Each trial is at most this large, whatever size it represents. */
const TRIAL_BYTES = 32 * 1024 ** 2;

/**
 * A simulated cache of some size, with the edge's own eviction policy. A cache larger than 32 MiB is simulated by one
 * of 32 MiB with a share of the pages, chosen by their hashes (Waldspurger et al., "Cache Modeling and Optimization
 * using Miniature Simulations", ATC 2017).
 */
export class MemoryTrial {
  readonly memoryBytes: number;
  /** The misses that a cache without a bound would not have had, estimated. */
  extraMisses = 0;
  readonly #weight: number;
  readonly #lifetime: number;
  /** When each entry expires, in ticks. */
  readonly #entries: EvictingMap<number>;

  /** `memoryBytes` is 32 MiB times a power of two, or less than that; `lifetime` is in ticks. */
  constructor(memoryBytes: number, lifetime: number) {
    this.memoryBytes = memoryBytes;
    this.#lifetime = lifetime;
    this.#weight = Math.max(1, memoryBytes / TRIAL_BYTES);
    this.#entries = new EvictingMap(Math.min(memoryBytes, TRIAL_BYTES));
  }

  /**
   * Plays a request for the key in `keyHash`. `longest` and `renews`: see `KeyTable`; `missed`: whether it is a miss
   * without a bound; `weight`: how many keys the key represents there, 0 for one that is left out.
   */
  play(tick: number, bytes: number, longest: number, renews: boolean, missed: boolean, weight: number): void {
    if ((keyHash.low & (this.#weight - 1)) !== 0) return;
    const requests = weight === 0 ? 0 : Math.max(weight, this.#weight);
    const key = entryKey();
    const expires = this.#entries.get(key);
    if (expires !== undefined && tick < expires) {
      if (missed) this.extraMisses -= requests;
      return;
    }
    if (!missed) this.extraMisses += requests;
    const held = bytes + ENTRY_BYTES;
    if (longest === 0 || (!renews && expires !== undefined) || held > this.memoryBytes * LARGEST_SHARE) return;
    this.#entries.set(key, tick + Math.min(this.#lifetime, longest), held);
  }

  /** Drops the key in `keyHash`, as a successful unsafe request does. RFC 9111 §4.4. */
  invalidate(): void {
    this.#entries.delete(entryKey());
  }
}

function entryKey(): string {
  return `${keyHash.high} ${keyHash.low}`;
}
