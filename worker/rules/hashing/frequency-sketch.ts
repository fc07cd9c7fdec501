import { fnvHash } from "./fnv-hash.ts";

/** The highest count, unless another is given. */
export const MAX_COUNT = 15;

/** The number of counters in an isolate's memory, of one byte each. */
const DEFAULT_SLOTS = 1 << 18;

/**
 * Estimates how often each key has been requested lately, whether it is in the cache or not, in constant memory: the
 * count-min sketch with aging of TinyLFU (Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission
 * Policy", 2017). A key has two counters, of which the smaller one counts, so that collisions seldom matter. Between two
 * agings the sketch never underestimates, and seldom overestimates.
 */
export class FrequencySketch {
  readonly #counters: Uint8Array;
  /** The same counters, four at a time. */
  readonly #words: Uint32Array;
  readonly #mask: number;
  readonly #most: number;

  /** `slots` is a power of two; `most`, the highest count, at most 255. */
  constructor(slots = DEFAULT_SLOTS, most = MAX_COUNT) {
    this.#most = most;
    this.#counters = new Uint8Array(slots);
    this.#words = new Uint32Array(this.#counters.buffer);
    this.#mask = slots - 1;
  }

  get slots(): number {
    return this.#counters.length;
  }

  /** Counts a request for a key. Returns its count. */
  count(key: string): number {
    const times = this.withOneMore(key);
    this.raise(key, times);
    return times;
  }

  /** The count of a key after one more request, which is not counted. */
  withOneMore(key: string): number {
    return Math.min(this.#most, this.estimate(key) + 1);
  }

  /** The count of a key. */
  estimate(key: string): number {
    const hash = fnvHash(key);
    return Math.min(this.#counters[this.#first(hash)]!, this.#counters[this.#second(hash)]!);
  }

  /** Raises the count of a key to one that was kept elsewhere. A higher count stays. */
  raise(key: string, times: number): void {
    const hash = fnvHash(key);
    for (const slot of [this.#first(hash), this.#second(hash)]) {
      if (this.#counters[slot]! < times) this.#counters[slot] = times;
    }
  }

  /** Halves every count, so that old requests are forgotten. Counts that are kept elsewhere have to be halved, too. */
  halve(): void {
    for (let at = 0; at < this.#words.length; at++) this.#words[at] = (this.#words[at]! >>> 1) & 0x7f7f7f7f;
  }

  #first(hash: number): number {
    return (hash ^ (hash >>> 16)) & this.#mask;
  }

  #second(hash: number): number {
    const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    return (mixed ^ (mixed >>> 13)) & this.#mask;
  }
}
