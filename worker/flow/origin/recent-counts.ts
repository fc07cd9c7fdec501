import { FrequencySketch } from "../../rules/hashing/frequency-sketch.ts";

/** The sketch has one byte for each. */
const COUNTERS = 1 << 17;
/** All counts above it are equal. */
const MOST = 255;
/** After this time an old count is halved. Milliseconds. */
const HALF_LIFE_MS = 180_000;

/**
 * How often each of many keys has come lately, in constant memory. No key is kept, and none can be read back: the
 * counters are found by a hash with a secret of this isolate.
 */
export class RecentCounts {
  readonly #sketch = new FrequencySketch(COUNTERS, MOST);
  readonly #secret: string;
  #halvedAt = 0;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** Counts a key. Returns how often it has come lately, this time included. */
  count(key: string, now: number): number {
    this.#age(now);
    return this.#sketch.count(this.#secret + key);
  }

  /** How often a key has come lately, with once more that is not counted. */
  withOneMore(key: string, now: number): number {
    this.#age(now);
    return this.#sketch.withOneMore(this.#secret + key);
  }

  #age(now: number): void {
    if (now < this.#halvedAt) this.#halvedAt = now; // the clock was set back
    const halvings = Math.floor((now - this.#halvedAt) / HALF_LIFE_MS);
    if (halvings < 1) return;
    this.#halvedAt += halvings * HALF_LIFE_MS;
    for (let each = 0; each < Math.min(halvings, 8); each++) this.#sketch.halve(); // after eight halvings a byte is 0
  }
}
