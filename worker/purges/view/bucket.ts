/**
 * One bucket of the purge table: 64 bytes, as long as a line of the processor's cache. Word 0 is the bucket's floor;
 * then follow ten sequence numbers, and their keys' fingerprints of 16 bits each. A slot is free if its number is not
 * above the floor.
 */
export const BUCKET_WORDS = 16;
export const BUCKET_BYTES = 4 * BUCKET_WORDS;
export const BUCKET_SLOTS = 10;

/** The words at which the sequence numbers and the fingerprints begin. */
export const SEQS_AT = 1;
export const FINGERPRINTS_AT = SEQS_AT + BUCKET_SLOTS;

/** A bucket, by the segment and the word at which it begins. */
export interface Bucket {
  readonly words: Uint32Array;
  readonly at: number;
}

export function bucketFloor({ words, at }: Bucket): number {
  return words[at]!;
}

export function raiseBucketFloor({ words, at }: Bucket, floor: number): void {
  words[at] = Math.max(words[at]!, floor);
}

export function seqIn({ words, at }: Bucket, slot: number): number {
  return words[at + SEQS_AT + slot]!;
}

export function fingerprintIn({ words, at }: Bucket, slot: number): number {
  const fingerprints = words[at + FINGERPRINTS_AT + (slot >>> 1)]!;
  return slot & 1 ? fingerprints >>> 16 : fingerprints & 0xffff;
}

export function setSeq({ words, at }: Bucket, slot: number, seq: number): void {
  words[at + SEQS_AT + slot] = seq;
}

export function setFingerprint({ words, at }: Bucket, slot: number, fingerprint: number): void {
  const word = at + FINGERPRINTS_AT + (slot >>> 1);
  words[word] = slot & 1 ? (words[word]! & 0xffff) | (fingerprint << 16) : (words[word]! & 0xffff_0000) | fingerprint;
}

/** The number of slots in use, for a table with this floor. */
export function usedSlots(bucket: Bucket, floor: number): number {
  const free = Math.max(floor, bucketFloor(bucket));
  let used = 0;
  for (let slot = 0; slot < BUCKET_SLOTS; slot++) if (seqIn(bucket, slot) > free) used++;
  return used;
}

/** The slot with the lowest number. If a slot is free, that is a free one. */
export function lowestSlot(bucket: Bucket): number {
  let lowest = 0;
  for (let slot = 1; slot < BUCKET_SLOTS; slot++) if (seqIn(bucket, slot) < seqIn(bucket, lowest)) lowest = slot;
  return lowest;
}
