/**
 * Counts by name, for a bounded number of names. Names beyond the bound are counted together. A new name is copied,
 * because a slice of a line would keep a whole piece of the log in memory.
 */
export class NamedCounts<Value> {
  readonly #values = new Map<string, Value>();
  readonly #max: number;
  readonly #make: () => Value;
  readonly others: Value;

  constructor(max: number, make: () => Value) {
    this.#max = max;
    this.#make = make;
    this.others = make();
  }

  at(name: string): Value {
    const value = this.#values.get(name);
    if (value !== undefined) return value;
    if (this.#values.size >= this.#max) {
      return this.others;
    }
    const made = this.#make();
    this.#values.set(ownText(name), made);
    return made;
  }

  entries(): MapIterator<[string, Value]> {
    return this.#values.entries();
  }
}

/** A copy of the text in separate memory. */
export function ownText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
