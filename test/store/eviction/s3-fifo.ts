import type { Policy } from "./policy.ts";

interface Held {
  readonly bytes: number;
  uses: number;
}

/** The share of the small queue, as in the paper. */
const SMALL_SHARE = 0.1;
const MAX_USES = 3;

/**
 * S3-FIFO (Yang, Zhang, Qiu, Yue and Rashmi, "FIFO queues are all you need for cache eviction", SOSP 2023), with queues
 * bounded in bytes: a small queue for what is new, a main queue for what was requested again, and a queue of the names of
 * what left the small one.
 */
export class S3Fifo implements Policy {
  readonly name = "S3-FIFO";
  readonly #maxBytes: number;
  readonly #small = new Map<number, Held>();
  readonly #main = new Map<number, Held>();
  readonly #ghosts = new Map<number, number>();
  #smallBytes = 0;
  #mainBytes = 0;
  #ghostBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  request(page: number, bytes: number): boolean {
    const held = this.#small.get(page) ?? this.#main.get(page);
    if (held) {
      held.uses = Math.min(MAX_USES, held.uses + 1);
      return true;
    }
    if (bytes > this.#maxBytes) return false;
    while (this.#smallBytes + this.#mainBytes + bytes > this.#maxBytes) this.#evict();
    if (this.#ghosts.delete(page)) {
      this.#ghostBytes -= bytes;
      this.#addToMain(page, { bytes, uses: 0 });
    } else {
      this.#small.set(page, { bytes, uses: 0 });
      this.#smallBytes += bytes;
    }
    return false;
  }

  #evict(): void {
    if (this.#smallBytes >= this.#maxBytes * SMALL_SHARE || this.#main.size === 0) this.#evictFromSmall();
    else this.#evictFromMain();
  }

  #evictFromSmall(): void {
    for (const [page, held] of this.#small) {
      this.#small.delete(page);
      this.#smallBytes -= held.bytes;
      if (held.uses > 1) {
        this.#addToMain(page, { bytes: held.bytes, uses: 0 });
        if (this.#mainBytes > this.#maxBytes * (1 - SMALL_SHARE)) this.#evictFromMain();
        continue;
      }
      this.#addGhost(page, held.bytes);
      return;
    }
  }

  #evictFromMain(): void {
    for (const [page, held] of this.#main) {
      this.#main.delete(page);
      if (held.uses > 0) {
        held.uses--;
        this.#main.set(page, held);
        continue;
      }
      this.#mainBytes -= held.bytes;
      return;
    }
  }

  #addToMain(page: number, held: Held): void {
    this.#main.set(page, held);
    this.#mainBytes += held.bytes;
  }

  /** The ghosts stand for as many bytes as the main queue holds. */
  #addGhost(page: number, bytes: number): void {
    this.#ghosts.set(page, bytes);
    this.#ghostBytes += bytes;
    for (const [oldest, oldestBytes] of this.#ghosts) {
      if (this.#ghostBytes <= this.#maxBytes * (1 - SMALL_SHARE)) break;
      this.#ghosts.delete(oldest);
      this.#ghostBytes -= oldestBytes;
    }
  }
}
