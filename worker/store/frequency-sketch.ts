/**
 * The number of counters, of one byte each. A key has two, of which the smaller one counts, so that collisions seldom
 * matter.
 */
const SLOTS = 1 << 18;
/** The highest count. */
const MAX_COUNT = 15;
/**
 * After this many counted requests per key in the cache, every counter is halved, so that old requests are forgotten.
 */
const COUNTINGS_PER_KEY = 64;
const MIN_COUNTINGS = 512;

/**
 * Estimates how often each key has been requested lately, whether it is in the cache or not, in constant memory: the
 * count-min sketch with aging of TinyLFU (Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission
 * Policy", 2017). Between two agings it never underestimates, and seldom overestimates.
 */
export class FrequencySketch {
  readonly #counters = new Uint8Array(SLOTS);
  #countings = 0;
  /** How often the counters have been halved. Counts kept elsewhere have to be halved as often. */
  halvings = 0;

  /** Counts a request for a key. Returns its count. `cachedKeys` is the number of keys in the cache. */
  count(key: string, cachedKeys: number): number {
    const [first, second] = slotsOf(key);
    this.#counters[first] = Math.min(MAX_COUNT, this.#counters[first]! + 1);
    if (second !== first) this.#counters[second] = Math.min(MAX_COUNT, this.#counters[second]! + 1);
    const times = Math.min(this.#counters[first]!, this.#counters[second]!);
    // With more counted requests than counters, collisions would raise all of them.
    const limit = Math.min(SLOTS, Math.max(MIN_COUNTINGS, cachedKeys * COUNTINGS_PER_KEY));
    if (++this.#countings >= limit) this.#halve();
    return times;
  }

  /** The count of a key. */
  estimate(key: string): number {
    const [first, second] = slotsOf(key);
    return Math.min(this.#counters[first]!, this.#counters[second]!);
  }

  #halve(): void {
    for (let slot = 0; slot < SLOTS; slot++) this.#counters[slot] = this.#counters[slot]! >> 1;
    this.#countings = 0;
    this.halvings++;
  }
}

/** Two counters of a key: its FNV-1a hash, and a mix of it. */
function slotsOf(key: string): readonly [number, number] {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return [(hash ^ (hash >>> 16)) & (SLOTS - 1), (mixed ^ (mixed >>> 13)) & (SLOTS - 1)];
}
