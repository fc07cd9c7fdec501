/**
 * One line of the purge table: 64 bytes, as long as a line of the processor's cache. Word 0 is the line's floor; then
 * ten numbers; then their prints, 16 bits each. A number that is not above the floor says nothing: its slot is free.
 */
export const BUCKET_WORDS = 16;
export const BUCKET_BYTES = 4 * BUCKET_WORDS;
export const BUCKET_SLOTS = 10;

/** Where in a line its numbers begin, and its prints. */
export const SEQS_AT = 1;
export const FINGERPRINTS_AT = SEQS_AT + BUCKET_SLOTS;

/** The line that begins at a word of a segment. */
export interface Bucket {
  readonly words: Uint32Array;
  readonly at: number;
}

export function floorOf({ words, at }: Bucket): number {
  return words[at]!;
}

export function raiseFloorOf({ words, at }: Bucket, floor: number): void {
  words[at] = Math.max(words[at]!, floor);
}

export function seqIn({ words, at }: Bucket, slot: number): number {
  return words[at + SEQS_AT + slot]!;
}

export function fingerprintIn({ words, at }: Bucket, slot: number): number {
  const prints = words[at + FINGERPRINTS_AT + (slot >>> 1)]!;
  return slot & 1 ? prints >>> 16 : prints & 0xffff;
}

export function setSeq({ words, at }: Bucket, slot: number, number: number): void {
  words[at + SEQS_AT + slot] = number;
}

export function setFingerprint({ words, at }: Bucket, slot: number, print: number): void {
  const word = at + FINGERPRINTS_AT + (slot >>> 1);
  words[word] = slot & 1 ? (words[word]! & 0xffff) | (print << 16) : (words[word]! & 0xffff_0000) | print;
}

/** How many slots say something, with a floor that holds for all lines. */
export function usedSlots(line: Bucket, floor: number): number {
  const free = Math.max(floor, floorOf(line));
  let used = 0;
  for (let slot = 0; slot < BUCKET_SLOTS; slot++) if (seqIn(line, slot) > free) used++;
  return used;
}

/** The slot with the lowest number: a free one, if there is any. */
export function lowestSlot(line: Bucket): number {
  let lowest = 0;
  for (let slot = 1; slot < BUCKET_SLOTS; slot++) if (seqIn(line, slot) < seqIn(line, lowest)) lowest = slot;
  return lowest;
}
