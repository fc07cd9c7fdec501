/** When each of many things ends, of which the earliest is at hand: a binary heap. */
export class EndTimes {
  readonly #times: number[] = [];

  get size(): number {
    return this.#times.length;
  }

  /** Infinity if there is none. */
  get earliest(): number {
    return this.#times[0] ?? Infinity;
  }

  add(time: number): void {
    const times = this.#times;
    let at = times.push(time) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (times[parent]! <= time) break;
      times[at] = times[parent]!;
      at = parent;
    }
    times[at] = time;
  }

  removeEarliest(): void {
    const times = this.#times;
    const time = times.pop();
    if (time === undefined || times.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child + 1 < times.length && times[child + 1]! < times[child]!) child++;
      if (child >= times.length || times[child]! >= time) break;
      times[at] = times[child]!;
      at = child;
    }
    times[at] = time;
  }
}
