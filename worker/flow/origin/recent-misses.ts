import { networkOf } from "../../rules/forwarding/trusted-proxies.ts";
import { FrequencySketch } from "../../rules/hashing/frequency-sketch.ts";

/** The sketch has one byte for each. */
const COUNTERS = 1 << 17;
/** What is above it is equal. */
const MOST = 255;
/** After so long an old miss counts half: milliseconds. */
const HALF_LIFE_MS = 180_000;

/**
 * How often each network has lately asked for what the origin had to answer, in constant memory. No address is kept, and
 * what is kept cannot be read back: the counters are found by a hash with a secret of this isolate.
 */
export class RecentMisses {
  readonly #sketch = new FrequencySketch(COUNTERS, MOST);
  readonly #secret: string;
  #halvedAt = 0;

  constructor(random: () => number) {
    this.#secret = `${random()}${random()}`;
  }

  /** Counts a miss of a client's network. Returns how many it has had lately, this one included. */
  count(clientAddress: string, now: number): number {
    this.#age(now);
    return this.#sketch.count(this.#secret + networkOf(clientAddress));
  }

  /** How many a network has had lately, with one more that is not counted. */
  withOneMore(clientAddress: string, now: number): number {
    this.#age(now);
    return this.#sketch.withOneMore(this.#secret + networkOf(clientAddress));
  }

  #age(now: number): void {
    const halvings = Math.floor((now - this.#halvedAt) / HALF_LIFE_MS);
    if (halvings < 1) return;
    this.#halvedAt += halvings * HALF_LIFE_MS;
    for (let each = 0; each < Math.min(halvings, 8); each++) this.#sketch.halve(); // eight of them leave nothing of a byte
  }
}
