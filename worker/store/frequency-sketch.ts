/** Counters, a byte each; a key has two, and counts as the lesser of them, so that others' counts seldom mix with its own. */
const SLOTS = 1 << 18;
/** Counters stop here: what comes back so often comes back often enough. */
const MOST = 15;
/** After so many countings per kept key every counter is halved: what was asked for long ago is forgotten. */
const COUNTINGS_PER_KEY = 64;
const LEAST_COUNTINGS = 512;

/**
 * How often keys have come lately, those too that are not kept, in constant memory. A sketch: it never counts too few,
 * and seldom too many.
 */
export class FrequencySketch {
  readonly #counters = new Uint8Array(SLOTS);
  #countings = 0;
  /** How often the counters have been halved: what counts elsewhere ages along. */
  halvings = 0;

  /** Counts a key, and tells how often it has come, this time included. `kept` is the number of keys that are kept. */
  count(key: string, kept: number): number {
    const [first, second] = slotsOf(key);
    this.#counters[first] = Math.min(MOST, this.#counters[first]! + 1);
    if (second !== first) this.#counters[second] = Math.min(MOST, this.#counters[second]! + 1);
    const times = Math.min(this.#counters[first]!, this.#counters[second]!);
    // More countings than slots would fill all of them.
    const most = Math.min(SLOTS, Math.max(LEAST_COUNTINGS, kept * COUNTINGS_PER_KEY));
    if (++this.#countings >= most) this.#halve();
    return times;
  }

  #halve(): void {
    for (let slot = 0; slot < SLOTS; slot++) this.#counters[slot] = this.#counters[slot]! >> 1;
    this.#countings = 0;
    this.halvings++;
  }
}

/** Two numbers out of one pass over the key (FNV-1a, and a mix of it). */
function slotsOf(key: string): readonly [number, number] {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return [(hash ^ (hash >>> 16)) & (SLOTS - 1), (mixed ^ (mixed >>> 13)) & (SLOTS - 1)];
}
