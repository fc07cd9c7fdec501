/** The longest key that is remembered, in characters. 2000 of them take about 2 MiB. */
export const MAX_KEY_CHARACTERS = 512;

/** Keys that are remembered for a while, up to a number. Beyond it, the oldest is forgotten first. */
export class ExpiringKeys {
  readonly #maxKeys: number;
  readonly #forMs: number;
  readonly #until = new Map<string, number>();

  constructor(maxKeys: number, forMs: number) {
    this.#maxKeys = maxKeys;
    this.#forMs = forMs;
  }

  /** Remembers a key from now on, in epoch milliseconds. One that is too long is not remembered. */
  remember(key: string, now: number): void {
    if (key.length > MAX_KEY_CHARACTERS) return;
    this.#until.delete(key);
    this.#until.set(key, now + this.#forMs);
    if (this.#until.size > this.#maxKeys) {
      const oldest = this.#until.keys().next();
      if (!oldest.done) this.#until.delete(oldest.value);
    }
  }

  has(key: string, now: number): boolean {
    const until = this.#until.get(key);
    return until !== undefined && now < until;
  }

  get size(): number {
    return this.#until.size;
  }
}
