/**
 * How many of those who wait have their turn in the time for which each may wait. If so many wait already, one more
 * would wait in vain.
 */
export class TurnsLately {
  readonly #maxMs: number;
  #since = 0;
  #turns = 0;
  /** The turns in `maxMs` before `#since`. */
  #lately: number | null = null;

  /** `maxMs`: the longest wait, in milliseconds. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** Somebody begins to wait, and nobody did before: the turns of an earlier queue say nothing of this one. */
  begin(now: number): void {
    this.#since = now;
    this.#turns = 0;
    this.#lately = null;
  }

  /** One of those who wait has its turn. */
  count(): void {
    this.#turns++;
  }

  /** `null` before the queue is so old, and where nobody had a turn: an origin that stood still may go on at any moment. */
  at(now: number): number | null {
    const ms = now - this.#since;
    if (ms >= this.#maxMs) {
      const lately = Math.ceil((this.#turns * this.#maxMs) / ms);
      this.begin(now);
      this.#lately = lately || null;
    }
    if (this.#lately === null) return null;
    // Those before `#since` count as if they had come evenly.
    return Math.ceil(this.#lately * (1 - (now - this.#since) / this.#maxMs)) + this.#turns;
  }
}
