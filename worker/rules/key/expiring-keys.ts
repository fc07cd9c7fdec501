/** The longest key that is remembered, in characters. 2000 of them take about 2 MiB. */
export const MAX_KEY_CHARACTERS = 512;

/** Keys that are remembered for a while, up to a number. Beyond it, the oldest is forgotten first. */
export class ExpiringKeys {
  readonly #maxKeys: number;
  readonly #forMs: number;
  /** When each was remembered. */
  readonly #keys = new Map<string, number>();

  constructor(maxKeys: number, forMs: number) {
    this.#maxKeys = maxKeys;
    this.#forMs = forMs;
  }

  /** Remembers a key from now on, in epoch milliseconds. One that is too long is not remembered. */
  remember(key: string, now: number): void {
    if (key.length > MAX_KEY_CHARACTERS) return;
    this.#keys.delete(key);
    this.#keys.set(key, now);
    if (this.#keys.size > this.#maxKeys) {
      const oldest = this.#keys.keys().next();
      if (!oldest.done) this.#keys.delete(oldest.value);
    }
  }

  /** A time far ahead is one from before the clock was set back. */
  has(key: string, now: number): boolean {
    const at = this.#keys.get(key);
    return at !== undefined && Math.abs(now - at) < this.#forMs;
  }

  get size(): number {
    return this.#keys.size;
  }
}
