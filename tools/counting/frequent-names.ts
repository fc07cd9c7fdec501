import { ownText } from "../logs/own-text.ts";

/**
 * The names that come most often, among any number of them, in bounded memory. No count is too high, and none is too low by
 * more than the sum of all divided by `max` (Misra and Gries, "Finding Repeated Elements", 1982).
 */
export class FrequentNames {
  readonly #counts = new Map<string, number>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  add(name: string, times: number): void {
    const before = this.#counts.get(name);
    if (before !== undefined) this.#counts.set(name, before + times);
    else if (this.#counts.size < this.#max) this.#counts.set(ownText(name), times);
    else this.#takeFromAll(name, times);
  }

  /** The names with the highest counts, the highest first. */
  most(names: number): readonly (readonly [name: string, count: number])[] {
    return [...this.#counts].sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1)).slice(0, names);
  }

  /** A name without room is subtracted, together with an equal part of each held name, until one of them is gone. */
  #takeFromAll(name: string, times: number): void {
    let taken = times;
    for (const count of this.#counts.values()) taken = Math.min(taken, count);
    for (const [each, count] of this.#counts) {
      if (count === taken) this.#counts.delete(each);
      else this.#counts.set(each, count - taken);
    }
    if (times > taken) this.add(name, times - taken);
  }
}
