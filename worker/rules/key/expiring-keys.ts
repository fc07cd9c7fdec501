import { setNewest } from "./set-newest.ts";

/** The longest key that is remembered, in characters. 2000 of them take about 2 MiB. */
export const MAX_KEY_CHARACTERS = 512;

/** The beginning of a key, which may always be remembered. Of two with the same one, what is said of one holds for both. */
export function beginningOf(key: string, characters = MAX_KEY_CHARACTERS): string {
  const beginning = key.slice(0, characters);
  // Joined anew, because a part of a string keeps all of it in memory.
  return key.length <= MAX_KEY_CHARACTERS ? beginning : beginning.split("").join("");
}

/**
 * Keys that are remembered for a while, up to a number. Beyond it, the oldest is forgotten first. Times are epoch
 * milliseconds, or places in another order.
 */
export class ExpiringKeys {
  readonly #maxKeys: number;
  readonly #forMs: number;
  /** When each was remembered. */
  readonly #keys = new Map<string, number>();

  constructor(maxKeys: number, forMs: number) {
    this.#maxKeys = maxKeys;
    this.#forMs = forMs;
  }

  /** Remembers a key from now on. One that is too long is not remembered. */
  remember(key: string, now: number): void {
    if (key.length > MAX_KEY_CHARACTERS) return;
    setNewest(this.#keys, key, now, this.#maxKeys);
  }

  forget(key: string): void {
    this.#keys.delete(key);
  }

  has(key: string, now: number): boolean {
    return this.when(key, now) !== undefined;
  }

  /** When the key was remembered, if it still is. A time far ahead is one from before the clock was set back. */
  when(key: string, now: number): number | undefined {
    const at = this.#keys.get(key);
    return at !== undefined && Math.abs(now - at) < this.#forMs ? at : undefined;
  }

  get size(): number {
    return this.#keys.size;
  }
}
