/** A number, of bytes or of files, that several users share: each takes a part, and gives it back. */
export class Room {
  readonly #all: number;
  #taken = 0;

  constructor(amount: number) {
    this.#all = amount;
  }

  get taken(): number {
    return this.#taken;
  }

  get free(): number {
    return this.#all - this.#taken;
  }

  /** Returns whether there was room. */
  take(amount: number): boolean {
    if (amount > this.free) return false;
    this.#taken += amount;
    return true;
  }

  give(amount: number): void {
    this.#taken -= amount;
  }
}
