const FIRST_BYTES = 256;
const NONE = new Uint8Array(0);

/** Bytes that come in pieces of any size, in one buffer of at most twice their number. */
export class GrowingBytes {
  #buffer: Uint8Array = NONE;
  #length = 0;

  /** The memory that it takes. */
  get capacity(): number {
    return this.#buffer.byteLength;
  }

  get length(): number {
    return this.#length;
  }

  /** The memory that it takes with this many more bytes. */
  capacityWith(bytes: number): number {
    const needed = this.#length + bytes;
    if (needed <= this.capacity) return this.capacity;
    return Math.max(FIRST_BYTES, 2 ** Math.ceil(Math.log2(needed)));
  }

  add(piece: Uint8Array): void {
    const capacity = this.capacityWith(piece.byteLength);
    if (capacity > this.capacity) {
      const larger = new Uint8Array(capacity);
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#length);
    this.#length += piece.byteLength;
  }

  /** All bytes. The next piece may change this memory. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Gives the memory back. */
  clear(): void {
    this.#buffer = NONE;
    this.#length = 0;
  }
}
