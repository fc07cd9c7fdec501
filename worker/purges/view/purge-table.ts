import {
  BUCKET_BYTES,
  BUCKET_SLOTS,
  BUCKET_WORDS,
  type Bucket,
  bucketFloor,
  FINGERPRINTS_AT,
  fingerprintIn,
  lowestSlot,
  raiseBucketFloor,
  SEQS_AT,
  seqIn,
  setFingerprint,
  setSeq,
  usedSlots,
} from "./bucket.ts";

/** A table doubles when this part of its slots is taken. That is early enough for almost no bucket to be full. */
const FULL_ENOUGH = 0.75;

/** 256 segments, whose numbers fit into a byte. */
const MAX_DOUBLINGS = 8;

/**
 * The highest sequence number of each purged key, in a bounded number of bytes: a hash table with two choices of bucket
 * and 16-bit fingerprints, as in a cuckoo filter. Each of the two words of a key's hash names a bucket, and the key is
 * put into the emptier one. If both are full, the lowest number of one is dropped, and that bucket's floor rises to it.
 * A lookup can therefore find a number that is too high, but never one that is too low.
 *
 * The table grows in place, segment by segment: each bucket is split between itself and a new one, so that the old and
 * the new table are never both held. A fingerprint does not show to which of the two buckets a slot then belongs. Until
 * the table has its full size, a byte beside each slot records it: the segment to which the slot's key belongs at the
 * full size.
 */
export class PurgeTable {
  readonly #segmentBuckets: number;
  readonly #maxSegments: number;
  readonly #segmentBits: number;
  readonly #maxMask: number;
  #segments: Uint32Array[];
  /** For each segment, the final segment of each of its slots; empty at the full size. */
  #finalSegments: Uint8Array[];
  #mask: number;
  #keys = 0;
  #floor = 0;

  /**
   * Begins with one segment of `firstBytes`, at least a bucket, and grows up to `maxBytes`, as far as the numbers of its
   * segments fit into a byte. Both are rounded down to powers of two.
   */
  constructor(firstBytes: number, maxBytes: number) {
    this.#segmentBits = Math.floor(Math.log2(firstBytes / BUCKET_BYTES));
    this.#segmentBuckets = 2 ** this.#segmentBits;
    const doublings = Math.floor(Math.log2(maxBytes / BUCKET_BYTES / this.#segmentBuckets));
    this.#maxSegments = 2 ** Math.min(doublings, MAX_DOUBLINGS);
    this.#maxMask = this.#maxSegments * this.#segmentBuckets - 1;
    this.#mask = this.#segmentBuckets - 1;
    this.#segments = [this.#newSegment()];
    this.#finalSegments = this.#maxSegments > 1 ? [this.#newFinalSegments()] : [];
  }

  /** The number of slots that hold a sequence number. Keys with the same hash share one. */
  get keys(): number {
    return this.#keys;
  }

  get heldBytes(): number {
    return this.#segmentBuckets * (this.#segments.length * BUCKET_BYTES + this.#finalSegments.length * BUCKET_SLOTS);
  }

  /** An upper bound of the highest number of the key with this hash; 0 if there is none. */
  highest(a: number, b: number): number {
    const fingerprint = fingerprintOf(a, b);
    return Math.max(this.#highestInBucket(a, fingerprint), this.#highestInBucket(b, fingerprint));
  }

  /** Raises the number of the key with this hash. Returns false if nothing changed. */
  raise(a: number, b: number, seq: number): boolean {
    if (seq <= this.#floor || this.highest(a, b) >= seq) return false;
    const fingerprint = fingerprintOf(a, b);
    if (this.#raiseHeld(a, fingerprint, seq) || this.#raiseHeld(b, fingerprint, seq)) return true;
    if (this.#keys >= this.#slots * FULL_ENOUGH && this.#segments.length < this.#maxSegments) this.#grow();
    this.#put(this.#isRoomier(a, b) ? a : b, fingerprint, seq);
    return true;
  }

  /** Frees the slots of all numbers up to this one, which can no longer be asked for. */
  raiseFloor(floor: number): void {
    this.#floor = Math.max(this.#floor, floor);
  }

  get #slots(): number {
    return this.#segments.length * this.#segmentBuckets * BUCKET_SLOTS;
  }

  /**
   * The highest of the bucket's floor and the numbers of slots that may be the key's. Inlined for speed, because most
   * of a check happens here.
   */
  #highestInBucket(word: number, fingerprint: number): number {
    const bucket = word & this.#mask;
    const words = this.#segments[bucket >>> this.#segmentBits]!;
    const at = (bucket & (this.#segmentBuckets - 1)) * BUCKET_WORDS;
    let highest = words[at]!;
    for (let slot = 0; slot < BUCKET_SLOTS; slot += 2) {
      const fingerprints = words[at + FINGERPRINTS_AT + (slot >>> 1)]!;
      if ((fingerprints & 0xffff) === fingerprint) highest = Math.max(highest, this.#seqFor(word, words, at, slot));
      if (fingerprints >>> 16 === fingerprint) highest = Math.max(highest, this.#seqFor(word, words, at, slot + 1));
    }
    return highest;
  }

  #seqFor(word: number, words: Uint32Array, at: number, slot: number): number {
    return this.#finalSegmentIn(word, slot) === this.#finalSegmentOf(word) ? words[at + SEQS_AT + slot]! : 0;
  }

  /** Raises a slot that holds the key: one with its fingerprint that also belongs to its final segment. */
  #raiseHeld(word: number, fingerprint: number, seq: number): boolean {
    const bucket = this.#bucketOf(word);
    for (let slot = 0; slot < BUCKET_SLOTS; slot++) {
      if (fingerprintIn(bucket, slot) !== fingerprint || seqIn(bucket, slot) === 0) continue;
      if (this.#finalSegmentIn(word, slot) !== this.#finalSegmentOf(word)) continue;
      setSeq(bucket, slot, seq);
      return true;
    }
    return false;
  }

  /** Whether to use the bucket of `a`: it is emptier than that of `b` or, if both are full, holds an older number. */
  #isRoomier(a: number, b: number): boolean {
    const [ofA, ofB] = [this.#bucketOf(a), this.#bucketOf(b)];
    const [usedA, usedB] = [usedSlots(ofA, this.#floor), usedSlots(ofB, this.#floor)];
    if (usedA !== usedB || usedA < BUCKET_SLOTS) return usedA <= usedB;
    return seqIn(ofA, lowestSlot(ofA)) <= seqIn(ofB, lowestSlot(ofB));
  }

  #put(word: number, fingerprint: number, seq: number): void {
    const bucket = this.#bucketOf(word);
    const slot = lowestSlot(bucket);
    const lowest = seqIn(bucket, slot);
    if (lowest > this.#floor && lowest > bucketFloor(bucket)) raiseBucketFloor(bucket, Math.min(lowest, seq));
    if (seq <= lowest) return; // It is older than every number here, so the floor now covers it.
    if (lowest === 0) this.#keys++;
    setSeq(bucket, slot, seq);
    setFingerprint(bucket, slot, fingerprint);
    this.#setFinalSegment(word, slot);
  }

  #grow(): void {
    const count = this.#segments.length;
    const staysSmall = count * 2 < this.#maxSegments;
    this.#keys = 0;
    for (let index = 0; index < count; index++) {
      this.#segments.push(this.#newSegment());
      if (staysSmall) this.#finalSegments.push(this.#newFinalSegments());
      for (let bucket = 0; bucket < this.#segmentBuckets; bucket++) this.#split(index, count, bucket);
      if (!staysSmall) this.#finalSegments[index] = NO_FINAL_SEGMENTS;
    }
    if (!staysSmall) this.#finalSegments = [];
    this.#mask = this.#mask * 2 + 1;
  }

  /** Splits a bucket between its segment and the new segment that is `count` further on. */
  #split(index: number, count: number, bucketIndex: number): void {
    const at = bucketIndex * BUCKET_WORDS;
    const from: Bucket = { words: this.#segments[index]!, at };
    const to: Bucket = { words: this.#segments[index + count]!, at };
    const finalSegments = this.#finalSegments[index]!;
    raiseBucketFloor(to, bucketFloor(from)); // A number that was dropped may have belonged to either bucket.
    for (let slot = 0; slot < BUCKET_SLOTS; slot++) {
      const seq = seqIn(from, slot);
      const finalSegment = finalSegments[bucketIndex * BUCKET_SLOTS + slot]!;
      if (seq <= Math.max(this.#floor, bucketFloor(from))) {
        setSeq(from, slot, 0);
        continue;
      }
      this.#keys++;
      if ((finalSegment & count) === 0) continue;
      setSeq(from, slot, 0);
      setSeq(to, slot, seq);
      setFingerprint(to, slot, fingerprintIn(from, slot));
      const newFinalSegments = this.#finalSegments[index + count];
      if (newFinalSegments) newFinalSegments[bucketIndex * BUCKET_SLOTS + slot] = finalSegment;
    }
  }

  #bucketOf(word: number): Bucket {
    const bucket = word & this.#mask;
    const words = this.#segments[bucket >>> this.#segmentBits]!;
    return { words, at: (bucket & (this.#segmentBuckets - 1)) * BUCKET_WORDS };
  }

  /** The segment named by a word of a hash when the table has its full size. */
  #finalSegmentOf(word: number): number {
    return (word & this.#maxMask) >>> this.#segmentBits;
  }

  /** The final segment of a slot in this word's bucket. At the full size, that is the bucket's own segment. */
  #finalSegmentIn(word: number, slot: number): number {
    const finalSegments = this.#finalSegments[(word & this.#mask) >>> this.#segmentBits];
    return finalSegments
      ? finalSegments[(word & (this.#segmentBuckets - 1)) * BUCKET_SLOTS + slot]!
      : this.#finalSegmentOf(word);
  }

  #setFinalSegment(word: number, slot: number): void {
    const finalSegments = this.#finalSegments[(word & this.#mask) >>> this.#segmentBits];
    if (finalSegments)
      finalSegments[(word & (this.#segmentBuckets - 1)) * BUCKET_SLOTS + slot] = this.#finalSegmentOf(word);
  }

  #newSegment(): Uint32Array {
    return new Uint32Array(this.#segmentBuckets * BUCKET_WORDS);
  }

  #newFinalSegments(): Uint8Array {
    return new Uint8Array(this.#segmentBuckets * BUCKET_SLOTS);
  }
}

const NO_FINAL_SEGMENTS = new Uint8Array(0);

/** 16 bits of a hash that do not choose a bucket, in a table of up to 2^17 buckets. */
function fingerprintOf(a: number, b: number): number {
  return ((a >>> 17) << 1) | (b >>> 31);
}
