/**
 * Counts by name, for a bounded number of names. Names beyond the bound are counted together. A name is copied when it
 * is met first: a slice of a line would keep the whole piece of the log in memory.
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

/** The text in memory of its own. */
export function ownText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
