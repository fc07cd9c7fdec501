import { fnvHash } from "../hashing/fnv-hash.ts";
import { setNewest } from "./set-newest.ts";

/** The most characters of a key that are kept. 2000 keys take about 2 MiB. */
export const MAX_KEY_CHARACTERS = 512;

/** The beginning of a text. Of a long one it is joined anew, because a part of a string keeps all of it in memory. */
export function beginningOf(text: string, characters: number): string {
  const beginning = text.slice(0, characters);
  return text.length <= MAX_KEY_CHARACTERS ? beginning : beginning.split("").join("");
}

/** A key as it is kept: a long one by its beginning and a hash of all of it. */
function shortened(key: string): string {
  if (key.length <= MAX_KEY_CHARACTERS) return key;
  return beginningOf(key, MAX_KEY_CHARACTERS) + fnvHash(key);
}

/**
 * Keys that are remembered for a while, up to a number. Beyond it, the oldest is forgotten first. Times are epoch
 * milliseconds, or places in another order. What is said of a long key may hold for another one, too: that must cost no
 * more than a fetch.
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

  /** Remembers a key from now on. */
  remember(key: string, now: number): void {
    setNewest(this.#keys, shortened(key), now, this.#maxKeys);
  }

  forget(key: string): void {
    this.#keys.delete(shortened(key));
  }

  has(key: string, now: number): boolean {
    return this.when(key, now) !== undefined;
  }

  /** When the key was remembered, if it still is. A time far ahead is one from before the clock was set back. */
  when(key: string, now: number): number | undefined {
    const at = this.#keys.get(shortened(key));
    return at !== undefined && Math.abs(now - at) < this.#forMs ? at : undefined;
  }

  get size(): number {
    return this.#keys.size;
  }
}
