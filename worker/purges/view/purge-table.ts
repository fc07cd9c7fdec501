import {
  floorOf,
  LINE_BYTES,
  LINE_SLOTS,
  LINE_WORDS,
  type Line,
  lowestSlot,
  NUMBERS,
  numberIn,
  PRINTS,
  printIn,
  raiseFloorOf,
  setNumber,
  setPrint,
  usedSlots,
} from "./purge-line.ts";

/** A table doubles when so much of its slots is taken: early enough that hardly any line is full by then. */
const FULL_ENOUGH = 0.75;

/** A slot's route through later doublings has to fit into a byte. */
const MAX_ROUTES = 256;

/**
 * The highest number of each purged key, in a bounded number of bytes. A key has two lines, by one word of its hash
 * each, and is put into the emptier. When both are full, the lowest number of one goes, and that line's floor rises to
 * it: a lookup can find a number that is too high, never one that is too low.
 *
 * It grows in place, segment by segment: each line is split between itself and one new line, so that an old and a new
 * table are never held both. Where a slot goes then is not in its print; until the table is as large as it gets, each
 * slot has that in a byte beside it, its route.
 */
export class PurgeTable {
  readonly #segmentLines: number;
  readonly #mostSegments: number;
  readonly #segmentBits: number;
  readonly #mostMask: number;
  #segments: Uint32Array[];
  /** One for each segment; none at the full size. */
  #routes: Uint8Array[];
  #mask: number;
  #keys = 0;
  #floor = 0;

  /** Begins with one segment of so many bytes and grows to at most so many; both are rounded down to powers of two. */
  constructor(firstBytes: number, mostBytes: number) {
    this.#segmentBits = Math.floor(Math.log2(firstBytes / LINE_BYTES));
    this.#segmentLines = 2 ** this.#segmentBits;
    this.#mostSegments = 2 ** Math.floor(Math.log2(mostBytes / LINE_BYTES / this.#segmentLines));
    if (this.#segmentLines < 1 || this.#mostSegments < 1 || this.#mostSegments > MAX_ROUTES) {
      throw new RangeError(`no purge table from ${firstBytes} to ${mostBytes} bytes`);
    }
    this.#mostMask = this.#mostSegments * this.#segmentLines - 1;
    this.#mask = this.#segmentLines - 1;
    this.#segments = [this.#newSegment()];
    this.#routes = this.#mostSegments > 1 ? [this.#newRoutes()] : [];
  }

  /** How many slots hold a number. Keys whose hashes meet share one. */
  get keys(): number {
    return this.#keys;
  }

  get heldBytes(): number {
    return this.#segmentLines * (this.#segments.length * LINE_BYTES + this.#routes.length * LINE_SLOTS);
  }

  /** An upper bound of the highest number of the key with this hash; 0 if there is none. */
  highest(a: number, b: number): number {
    const print = printOf(a, b);
    return Math.max(this.#highestInLine(a, print), this.#highestInLine(b, print));
  }

  /** Raises the number of the key with this hash. False if nothing changed. */
  raise(a: number, b: number, seq: number): boolean {
    if (seq <= this.#floor || this.highest(a, b) >= seq) return false;
    const print = printOf(a, b);
    if (this.#raiseHeld(a, print, seq) || this.#raiseHeld(b, print, seq)) return true;
    if (this.#keys >= this.#slots * FULL_ENOUGH && this.#segments.length < this.#mostSegments) this.#grow();
    this.#put(this.#isRoomier(a, b) ? a : b, print, seq);
    return true;
  }

  /** Numbers up to this one will not be asked for again: their slots are free. */
  raiseFloor(floor: number): void {
    this.#floor = Math.max(this.#floor, floor);
  }

  get #slots(): number {
    return this.#segments.length * this.#segmentLines * LINE_SLOTS;
  }

  /** The line's floor, or the number of a slot that may be the key's. Written out, for this is most of a check. */
  #highestInLine(word: number, print: number): number {
    const line = word & this.#mask;
    const words = this.#segments[line >>> this.#segmentBits]!;
    const at = (line & (this.#segmentLines - 1)) * LINE_WORDS;
    let highest = words[at]!;
    for (let slot = 0; slot < LINE_SLOTS; slot += 2) {
      const prints = words[at + PRINTS + (slot >>> 1)]!;
      if ((prints & 0xffff) === print) highest = Math.max(highest, this.#numberOn(word, words, at, slot));
      if (prints >>> 16 === print) highest = Math.max(highest, this.#numberOn(word, words, at, slot + 1));
    }
    return highest;
  }

  #numberOn(word: number, words: Uint32Array, at: number, slot: number): number {
    return this.#routeIn(word, slot) === this.#routeOf(word) ? words[at + NUMBERS + slot]! : 0;
  }

  /** A slot is the key's own only if it will also go the key's way when the table doubles. */
  #raiseHeld(word: number, print: number, seq: number): boolean {
    const line = this.#lineOf(word);
    for (let slot = 0; slot < LINE_SLOTS; slot++) {
      if (printIn(line, slot) !== print || numberIn(line, slot) === 0) continue;
      if (this.#routeIn(word, slot) !== this.#routeOf(word)) continue;
      setNumber(line, slot, seq);
      return true;
    }
    return false;
  }

  /** Whether the line of `a` is the one to use: emptier than that of `b`, or, where both are full, with older numbers. */
  #isRoomier(a: number, b: number): boolean {
    const [ofA, ofB] = [this.#lineOf(a), this.#lineOf(b)];
    const [usedA, usedB] = [usedSlots(ofA, this.#floor), usedSlots(ofB, this.#floor)];
    if (usedA !== usedB || usedA < LINE_SLOTS) return usedA <= usedB;
    return numberIn(ofA, lowestSlot(ofA)) <= numberIn(ofB, lowestSlot(ofB));
  }

  #put(word: number, print: number, seq: number): void {
    const line = this.#lineOf(word);
    const slot = lowestSlot(line);
    const lowest = numberIn(line, slot);
    if (lowest > this.#floor && lowest > floorOf(line)) raiseFloorOf(line, Math.min(lowest, seq));
    if (seq <= lowest) return; // older than all that is here: the floor now covers it
    if (lowest === 0) this.#keys++;
    setNumber(line, slot, seq);
    setPrint(line, slot, print);
    this.#setRoute(word, slot);
  }

  #grow(): void {
    const count = this.#segments.length;
    const staysSmall = count * 2 < this.#mostSegments;
    this.#keys = 0;
    for (let index = 0; index < count; index++) {
      this.#segments.push(this.#newSegment());
      if (staysSmall) this.#routes.push(this.#newRoutes());
      for (let line = 0; line < this.#segmentLines; line++) this.#split(index, count, line);
      if (!staysSmall) this.#routes[index] = NO_ROUTES;
    }
    if (!staysSmall) this.#routes = [];
    this.#mask = this.#mask * 2 + 1;
  }

  /** Shares a line of one segment out between it and the same line of the segment that is `count` further on. */
  #split(index: number, count: number, lineIndex: number): void {
    const at = lineIndex * LINE_WORDS;
    const from: Line = { words: this.#segments[index]!, at };
    const to: Line = { words: this.#segments[index + count]!, at };
    const routes = this.#routes[index]!;
    raiseFloorOf(to, floorOf(from)); // what was pushed out may have belonged to either
    for (let slot = 0; slot < LINE_SLOTS; slot++) {
      const number = numberIn(from, slot);
      const route = routes[lineIndex * LINE_SLOTS + slot]!;
      if (number <= Math.max(this.#floor, floorOf(from))) {
        setNumber(from, slot, 0);
        continue;
      }
      this.#keys++;
      if ((route & count) === 0) continue;
      setNumber(from, slot, 0);
      setNumber(to, slot, number);
      setPrint(to, slot, printIn(from, slot));
      const newRoutes = this.#routes[index + count];
      if (newRoutes) newRoutes[lineIndex * LINE_SLOTS + slot] = route;
    }
  }

  #lineOf(word: number): Line {
    const line = word & this.#mask;
    const words = this.#segments[line >>> this.#segmentBits]!;
    return { words, at: (line & (this.#segmentLines - 1)) * LINE_WORDS };
  }

  /** The segment that a word of a hash leads to once the table has its full size. */
  #routeOf(word: number): number {
    return (word & this.#mostMask) >>> this.#segmentBits;
  }

  /** At the full size all slots of a line have the line's own route. Until then routes tell more keys apart than prints. */
  #routeIn(word: number, slot: number): number {
    const routes = this.#routes[(word & this.#mask) >>> this.#segmentBits];
    return routes ? routes[(word & (this.#segmentLines - 1)) * LINE_SLOTS + slot]! : this.#routeOf(word);
  }

  #setRoute(word: number, slot: number): void {
    const routes = this.#routes[(word & this.#mask) >>> this.#segmentBits];
    if (routes) routes[(word & (this.#segmentLines - 1)) * LINE_SLOTS + slot] = this.#routeOf(word);
  }

  #newSegment(): Uint32Array {
    return new Uint32Array(this.#segmentLines * LINE_WORDS);
  }

  #newRoutes(): Uint8Array {
    return new Uint8Array(this.#segmentLines * LINE_SLOTS);
  }
}

const NO_ROUTES = new Uint8Array(0);

/** 16 bits of a hash that choose no line, up to 2^17 lines. */
function printOf(a: number, b: number): number {
  return ((a >>> 17) << 1) | (b >>> 31);
}
