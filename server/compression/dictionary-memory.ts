/** A version in memory, as far as it counts for the bounds. */
export interface HeldVersion {
  readonly bytes: Uint8Array;
  readonly sentAt: number;
  /** `sentAt` when it last moved to the end of the order in which versions leave. */
  inLineSince: number;
}

/** The memory for dictionaries, as a share of the memory for pages. It comes on top. */
const SHARE = 1 / 8;
const MAX_VERSIONS = 4096;

/**
 * The memory for dictionaries of one process, which several sites share. One bound holds for all of them together, and
 * the versions that were not sent for longest leave, whichever sites they are of.
 */
export class DictionaryMemory {
  readonly maxBytes: number;
  /** What takes each out of its site. In the order of their last use, the oldest first, as far as it was updated. */
  readonly #held = new Map<HeldVersion, () => void>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Of a process that has so many bytes for pages. */
  static besidePages(pageBytes: number): DictionaryMemory {
    return new DictionaryMemory(pageBytes * SHARE);
  }

  /** Adds a version. Others leave if it needs their room. `leave` has to call `remove`. */
  add(version: HeldVersion, leave: () => void): void {
    this.#held.set(version, leave);
    this.#bytes += version.bytes.byteLength;
    for (const [each, leaveSite] of this.#held) {
      if (this.#bytes <= this.maxBytes && this.#held.size <= MAX_VERSIONS) return;
      if (each === version) continue;
      if (each.sentAt > each.inLineSince) this.#toEnd(each, leaveSite);
      else leaveSite();
    }
  }

  remove(version: HeldVersion): void {
    if (this.#held.delete(version)) this.#bytes -= version.bytes.byteLength;
  }

  #toEnd(version: HeldVersion, leave: () => void): void {
    this.#held.delete(version);
    this.#held.set(version, leave);
    version.inLineSince = version.sentAt;
  }
}
