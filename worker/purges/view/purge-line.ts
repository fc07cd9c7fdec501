/**
 * One line of the purge table: 64 bytes, as long as a line of the processor's cache. Word 0 is the line's floor; then
 * ten numbers; then their prints, 16 bits each. A number that is not above the floor says nothing: its slot is free.
 */
export const LINE_WORDS = 16;
export const LINE_BYTES = 4 * LINE_WORDS;
export const LINE_SLOTS = 10;

/** Where in a line its numbers begin, and its prints. */
export const NUMBERS = 1;
export const PRINTS = NUMBERS + LINE_SLOTS;

/** The line that begins at a word of a segment. */
export interface Line {
  readonly words: Uint32Array;
  readonly at: number;
}

export function floorOf({ words, at }: Line): number {
  return words[at]!;
}

export function raiseFloorOf({ words, at }: Line, floor: number): void {
  words[at] = Math.max(words[at]!, floor);
}

export function numberIn({ words, at }: Line, slot: number): number {
  return words[at + NUMBERS + slot]!;
}

export function printIn({ words, at }: Line, slot: number): number {
  const prints = words[at + PRINTS + (slot >>> 1)]!;
  return slot & 1 ? prints >>> 16 : prints & 0xffff;
}

export function setNumber({ words, at }: Line, slot: number, number: number): void {
  words[at + NUMBERS + slot] = number;
}

export function setPrint({ words, at }: Line, slot: number, print: number): void {
  const word = at + PRINTS + (slot >>> 1);
  words[word] = slot & 1 ? (words[word]! & 0xffff) | (print << 16) : (words[word]! & 0xffff_0000) | print;
}

/** How many slots say something, with a floor that holds for all lines. */
export function usedSlots(line: Line, floor: number): number {
  const free = Math.max(floor, floorOf(line));
  let used = 0;
  for (let slot = 0; slot < LINE_SLOTS; slot++) if (numberIn(line, slot) > free) used++;
  return used;
}

/** The slot with the lowest number: a free one, if there is any. */
export function lowestSlot(line: Line): number {
  let lowest = 0;
  for (let slot = 1; slot < LINE_SLOTS; slot++) if (numberIn(line, slot) < numberIn(line, lowest)) lowest = slot;
  return lowest;
}
