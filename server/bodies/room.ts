/** A number of bytes that several users share: each takes a part, and gives it back. */
export class Room {
  readonly #bytes: number;
  #takenBytes = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  get takenBytes(): number {
    return this.#takenBytes;
  }

  get freeBytes(): number {
    return this.#bytes - this.#takenBytes;
  }

  /** Returns whether there was room. */
  take(bytes: number): boolean {
    if (bytes > this.freeBytes) return false;
    this.#takenBytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#takenBytes -= bytes;
  }
}
