import type { Policy } from "./policy.ts";

/** Evicts the least recently used pages, as Varnish and nginx do. */
export class Lru implements Policy {
  readonly name = "LRU";
  readonly #maxBytes: number;
  readonly #held = new Map<number, number>();
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  request(page: number, bytes: number): boolean {
    const isHit = this.#held.delete(page);
    if (bytes > this.#maxBytes) return isHit;
    this.#held.set(page, bytes);
    if (isHit) return true;
    this.#heldBytes += bytes;
    for (const [oldest, oldestBytes] of this.#held) {
      if (this.#heldBytes <= this.#maxBytes) break;
      this.#held.delete(oldest);
      this.#heldBytes -= oldestBytes;
    }
    return false;
  }
}
