/** The pause between two lines. Milliseconds. */
const SAY_EVERY_MS = 60_000;

/** Counts what may happen often, and tells the owner of it once a minute at most. */
export class CountedWarning {
  count = 0;
  readonly #warn: (line: string) => void;
  #saidAt = Number.NEGATIVE_INFINITY;

  constructor(warn: (line: string) => void) {
    this.#warn = warn;
  }

  /** Counts one more event, which `words` describe. */
  add(words: string): void {
    this.count++;
    const now = performance.now();
    if (now - this.#saidAt < SAY_EVERY_MS) return;
    this.#saidAt = now;
    this.#warn(`${words}: ${this.count} so far.`);
  }
}
