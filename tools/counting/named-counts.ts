import { ownText } from "../logs/own-text.ts";

/**
 * Counts by name, for a bounded number of names. Names beyond the bound are counted together. A new name is copied.
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
