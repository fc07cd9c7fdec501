import type { Stored } from "../../worker/rules/storing/stored-response.ts";
import { EvictingMap } from "../../worker/store/evicting-map.ts";
import type { MemoryEntries } from "../../worker/store/memory-tier.ts";
import type { PageMemory } from "./page-memory.ts";

interface Held {
  readonly of: SiteMemory;
  readonly stored: Stored;
  bytes: number;
}

/**
 * The memory for pages of one process, which several sites share. One bound holds for all of them together, and the entries
 * that are worth least leave, whichever sites they are of. The name of the site is part of each key, so that no site finds
 * the pages of another.
 */
export class SharedMemory implements PageMemory {
  evictions = 0;
  readonly #entries: EvictingMap<Held>;

  constructor(maxBytes: number) {
    this.#entries = new EvictingMap<Held>(maxBytes, (_key, { of, bytes }) => {
      this.evictions++;
      of.left(bytes);
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  get heldBytes(): number {
    return this.#entries.heldBytes;
  }

  empty(): void {
    for (const key of this.#entries.keys()) {
      const { of, bytes } = this.#entries.peek(key)!;
      of.left(bytes);
      this.#entries.delete(key);
    }
  }

  /** The part of one site, whose name has no space. */
  of(site: string): MemoryEntries {
    return new SiteMemory(this.#entries, site);
  }
}

class SiteMemory implements MemoryEntries {
  readonly #entries: EvictingMap<Held>;
  readonly #prefix: string;
  #bytes = 0;
  #size = 0;

  constructor(entries: EvictingMap<Held>, site: string) {
    this.#entries = entries;
    this.#prefix = `${site} `;
  }

  get heldBytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): Stored | undefined {
    return this.#entries.get(this.#prefix + key)?.stored;
  }

  peek(key: string): Stored | undefined {
    return this.#entries.peek(this.#prefix + key)?.stored;
  }

  *keys(): Iterable<string> {
    for (const key of this.#entries.keys()) if (key.startsWith(this.#prefix)) yield key.slice(this.#prefix.length);
  }

  admits(key: string, bytes: number): boolean {
    return this.#entries.admits(this.#prefix + key, bytes);
  }

  set(key: string, stored: Stored, bytes: number, isAdmitted = false): boolean {
    const inAll = this.#prefix + key;
    const before = this.#entries.peek(inAll);
    if (before !== undefined) this.left(before.bytes);
    this.#bytes += bytes;
    this.#size++;
    // An entry that has to leave at once is told of as evicted.
    return this.#entries.set(inAll, { of: this, stored, bytes }, bytes, isAdmitted);
  }

  resize(key: string, bytes: number): void {
    const inAll = this.#prefix + key;
    const held = this.#entries.peek(inAll);
    if (held === undefined) return;
    this.#bytes += bytes - held.bytes;
    held.bytes = bytes;
    this.#entries.resize(inAll, bytes);
  }

  delete(key: string): void {
    const inAll = this.#prefix + key;
    const before = this.#entries.peek(inAll);
    if (before === undefined) return;
    this.left(before.bytes);
    this.#entries.delete(inAll);
  }

  /** An entry of this site is held no more. */
  left(bytes: number): void {
    this.#bytes -= bytes;
    this.#size--;
  }
}
