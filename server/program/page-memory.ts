import type { Stored } from "../../worker/rules/storing/stored-response.ts";
import { EvictingMap } from "../../worker/store/evicting-map.ts";

/** What the memory for pages of one process holds, and the pages that had to leave it for others. */
export interface PageMemory {
  readonly size: number;
  readonly heldBytes: number;
  readonly evictions: number;
  /** Drops all pages. They do not count as evicted. */
  empty(): void;
}

/** The memory of a process with one site. */
export class OnlyMemory implements PageMemory {
  evictions = 0;
  readonly entries: EvictingMap<Stored>;

  constructor(maxBytes: number) {
    this.entries = new EvictingMap(maxBytes, () => this.evictions++);
  }

  get size(): number {
    return this.entries.size;
  }

  get heldBytes(): number {
    return this.entries.heldBytes;
  }

  empty(): void {
    for (const key of this.entries.keys()) this.entries.delete(key);
  }
}
