/** Keeps the first of many values at hand: a binary heap. */
export class Heap<T> {
  readonly #isBefore: (one: T, other: T) => boolean;
  /** No value comes before its parent, which stands at half its index. */
  readonly #values: T[] = [];

  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#values.length;
  }

  /** `undefined` if there is none. */
  get first(): T | undefined {
    return this.#values[0];
  }

  add(value: T): void {
    const values = this.#values;
    let at = values.push(value) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(value, values[parent]!)) break;
      values[at] = values[parent]!;
      at = parent;
    }
    values[at] = value;
  }

  removeFirst(): void {
    const values = this.#values;
    if (values.length <= 1) {
      values.pop();
      return;
    }
    const last = values.pop()!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= values.length) break;
      if (child + 1 < values.length && this.#isBefore(values[child + 1]!, values[child]!)) child++;
      if (!this.#isBefore(values[child]!, last)) break;
      values[at] = values[child]!;
      at = child;
    }
    values[at] = last;
  }
}
