import { keyHash } from "./key-hash.ts";

/** The slots of a table with few keys. It doubles up to its largest size. */
const FIRST_SLOTS = 1 << 12;

/** A table is at most this full, so that a search ends soon. */
const FILLED = 0.7;

/** The share of the keys that are kept as popular when the others are thinned out. */
const FREQUENT_SHARE = 0.3;

/**
 * The pages of a site in bounded memory, each with the times at which its stored response would expire under every
 * lifetime.
 *
 * While all keys fit, the counts are exact. After that, half of the keys are dropped, and half of later keys are not
 * added, by a bit of their hash; each remaining key represents two (SHARDS: Waldspurger et al., "Efficient MRC
 * Construction with SHARDS", FAST 2015). Popular keys stay and represent only themselves, because losing one of them
 * would distort the result. Every key is kept with a known probability, the reciprocal of its weight, so the sums are
 * unbiased, and `standardError` is known (Horvitz and Thompson).
 */
export class KeyTable {
  /** In ticks. */
  readonly lifetimes: readonly number[];
  /** The lifetimes, a bit each, under which the last counted request would miss. */
  missed = 0;
  /** Whether the request counted last was the first one for its key. */
  isNew = false;
  /** The slot of the last counted key. */
  slot = 0;
  /** The number of distinct keys, estimated. */
  keys = 0;
  readonly #maxSlots: number;
  /** The lifetime whose misses are counted for each key. */
  readonly #chosen: number;
  #mask = FIRST_SLOTS - 1;
  #held = 0;
  #halvings = 0;
  /** The variance of the misses of keys that have been dropped. */
  #droppedVariance = 0;
  #high = new Uint32Array(FIRST_SLOTS);
  #low = new Uint32Array(FIRST_SLOTS);
  /** 0 for an empty slot. */
  #requests = new Uint32Array(FIRST_SLOTS);
  #misses = new Uint32Array(FIRST_SLOTS);
  #bytes = new Uint32Array(FIRST_SLOTS);
  #halvingsOf = new Uint8Array(FIRST_SLOTS);
  #expires: Uint32Array;

  /** `maxSlots` is a power of two. */
  constructor(lifetimes: readonly number[], chosen: number, maxSlots: number) {
    this.lifetimes = lifetimes;
    this.#chosen = chosen;
    this.#maxSlots = Math.max(maxSlots, FIRST_SLOTS);
    this.#expires = new Uint32Array(FIRST_SLOTS * lifetimes.length);
  }

  /** The keys that are held. */
  get heldKeys(): number {
    return this.#held;
  }

  /** Whether every key has been counted. */
  get isExact(): boolean {
    return this.#halvings === 0;
  }

  /**
   * Counts a request for the key in `keyHash`. Returns how many keys it represents, 0 for a key that is left out.
   * `longest`: the most ticks for which this answer may be stored; 0 if it may not be. `renews`: whether the answer may
   * take the place of an expired one.
   */
  count(tick: number, longest: number, renews = true): number {
    const { high, low } = keyHash;
    let slot = high & this.#mask;
    while (this.#requests[slot] !== 0) {
      if (this.#high[slot] === high && this.#low[slot] === low) return this.#countAt(slot, tick, longest, renews);
      slot = (slot + 1) & this.#mask;
    }
    if ((low & ((1 << this.#halvings) - 1)) !== 0) return 0;
    if (this.#held >= (this.#mask + 1) * FILLED) {
      this.#makeRoom();
      return this.count(tick, longest, renews);
    }
    this.#held++;
    this.#high[slot] = high;
    this.#low[slot] = low;
    this.#halvingsOf[slot] = this.#halvings;
    this.keys += 2 ** this.#halvings;
    return this.#countAt(slot, tick, longest, renews);
  }

  /** Makes the key in `keyHash` expire, as a successful unsafe request does. RFC 9111 §4.4. */
  invalidate(): void {
    const slot = this.#find();
    if (slot < 0) return;
    const first = slot * this.lifetimes.length;
    this.#expires.fill(0, first, first + this.lifetimes.length);
  }

  /** The requests of the key in `keyHash`; 0 if it is not held. */
  requestsOf(): number {
    const slot = this.#find();
    return slot < 0 ? 0 : this.#requests[slot]!;
  }

  /** The requests of the key that was counted last. */
  get requests(): number {
    return this.#requests[this.slot]!;
  }

  /** The size of the key that was counted last. */
  get bytes(): number {
    return this.#bytes[this.slot]!;
  }

  set bytes(bytes: number) {
    this.#bytes[this.slot] = Math.min(bytes, 0xffffffff);
  }

  /** The standard error of the misses under the chosen lifetime, in requests; 0 while every key is counted. */
  get standardError(): number {
    let variance = this.#droppedVariance;
    for (let slot = 0; slot <= this.#mask; slot++) if (this.#requests[slot] !== 0) variance += this.#varianceOf(slot);
    return Math.sqrt(variance);
  }

  #find(): number {
    const { high, low } = keyHash;
    for (let slot = high & this.#mask; this.#requests[slot] !== 0; slot = (slot + 1) & this.#mask) {
      if (this.#high[slot] === high && this.#low[slot] === low) return slot;
    }
    return -1;
  }

  #countAt(slot: number, tick: number, longest: number, renews: boolean): number {
    this.slot = slot;
    const requests = this.#requests[slot]!;
    this.isNew = requests === 0;
    this.#requests[slot] = requests + 1;
    const count = this.lifetimes.length;
    const first = slot * count;
    let missed = 0;
    for (let index = 0; index < count; index++) {
      const expires = this.#expires[first + index]!;
      if (tick < expires) continue;
      missed |= 1 << index;
      const lifetime = this.lifetimes[index]!;
      if (longest > 0 && (renews || expires === 0))
        this.#expires[first + index] = tick + (lifetime < longest ? lifetime : longest);
    }
    if ((missed >>> this.#chosen) & 1) this.#misses[slot]!++;
    this.missed = missed;
    return 2 ** this.#halvingsOf[slot]!;
  }

  #varianceOf(slot: number): number {
    const weight = 2 ** this.#halvingsOf[slot]!;
    return this.#misses[slot]! ** 2 * weight * (weight - 1);
  }

  #makeRoom(): void {
    const slots = this.#mask + 1;
    if (slots < this.#maxSlots) {
      this.#rebuild(slots * 2, () => true);
      return;
    }
    const frequent = this.#frequentFrom();
    this.#halvings++;
    this.#rebuild(slots, (slot) => {
      if (this.#requests[slot]! >= frequent) return true;
      const halvings = this.#halvingsOf[slot]!;
      if ((this.#low[slot]! >>> halvings) & 1) {
        this.#droppedVariance += this.#varianceOf(slot);
        return false;
      }
      // Its counts so far had the old weight.
      this.#droppedVariance += this.#varianceOf(slot);
      this.#misses[slot] = 0;
      this.#halvingsOf[slot] = halvings + 1;
      return true;
    });
  }

  /** The number of requests from which a key is kept as popular. */
  #frequentFrom(): number {
    const keysByLog = new Uint32Array(33);
    for (let slot = 0; slot <= this.#mask; slot++) {
      const requests = this.#requests[slot]!;
      if (requests > 0) keysByLog[31 - Math.clz32(requests)]!++;
    }
    let keys = 0;
    for (let log = 32; log > 0; log--) {
      keys += keysByLog[log]!;
      if (keys > this.#held * FREQUENT_SHARE) return 2 ** (log + 1);
    }
    return 2;
  }

  #rebuild(slots: number, keeps: (slot: number) => boolean): void {
    const old = {
      mask: this.#mask,
      high: this.#high,
      low: this.#low,
      requests: this.#requests,
      misses: this.#misses,
      bytes: this.#bytes,
      halvingsOf: this.#halvingsOf,
      expires: this.#expires,
    };
    const kept: number[] = [];
    for (let slot = 0; slot <= old.mask; slot++) if (old.requests[slot] !== 0 && keeps(slot)) kept.push(slot);
    const count = this.lifetimes.length;
    this.#mask = slots - 1;
    this.#held = kept.length;
    this.#high = new Uint32Array(slots);
    this.#low = new Uint32Array(slots);
    this.#requests = new Uint32Array(slots);
    this.#misses = new Uint32Array(slots);
    this.#bytes = new Uint32Array(slots);
    this.#halvingsOf = new Uint8Array(slots);
    this.#expires = new Uint32Array(slots * count);
    for (const from of kept) {
      let slot = old.high[from]! & this.#mask;
      while (this.#requests[slot] !== 0) slot = (slot + 1) & this.#mask;
      this.#high[slot] = old.high[from]!;
      this.#low[slot] = old.low[from]!;
      this.#requests[slot] = old.requests[from]!;
      this.#misses[slot] = old.misses[from]!;
      this.#bytes[slot] = old.bytes[from]!;
      this.#halvingsOf[slot] = old.halvingsOf[from]!;
      for (let index = 0; index < count; index++) {
        this.#expires[slot * count + index] = old.expires[from * count + index]!;
      }
    }
  }
}
