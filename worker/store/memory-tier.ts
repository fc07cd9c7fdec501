import { isMarker, isNewer, type Stored, type StoredHead } from "../rules/storing/stored-response.ts";
import { EvictingMap } from "./evicting-map.ts";

/** The memory of an entry in addition to its body and texts: the slot in the map, and the object of the head. */
const ENTRY_OVERHEAD_BYTES = 1024;
/** The memory of a field in addition to its text: once in the entry, and once in the fields of hits. */
const FIELD_OVERHEAD_BYTES = 256;

/** No entry may take more than this share of the tier, or one large page would evict all others. */
export const LARGEST_SHARE = 1 / 8;

/** Learns of the uses of pages, but not of the markers of variants, which are small. */
export interface UseObserver {
  found(key: string): void;
  /** A page that is stored elsewhere, or was not stored before. `bytes`: the memory that it takes. */
  missed(key: string, bytes: number): void;
}

/** What a memory tier needs of the map that holds its entries. */
export type MemoryEntries = Pick<
  EvictingMap<Stored>,
  "heldBytes" | "size" | "get" | "peek" | "keys" | "admits" | "set" | "resize" | "delete"
>;

/**
 * The isolate's memory, bounded in bytes. `EvictingMap` decides which entries leave, so that a crawl through a million
 * URLs does not evict the pages that visitors request.
 */
export class MemoryTier {
  readonly #maxBytes: number;
  readonly #entries: MemoryEntries;
  readonly #uses: UseObserver | null;
  readonly #bytesBeside: (body: Uint8Array) => number;

  /** `entries`: default, a map of its own. `bytesBeside`: what is held with a body, beside its own bytes; default, nothing. */
  constructor(
    maxBytes: number,
    uses: UseObserver | null = null,
    entries?: MemoryEntries,
    bytesBeside: (body: Uint8Array) => number = () => 0,
  ) {
    this.#maxBytes = maxBytes;
    this.#uses = uses;
    this.#bytesBeside = bytesBeside;
    this.#entries = entries ?? new EvictingMap(maxBytes);
  }

  get heldBytes(): number {
    return this.#entries.heldBytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Stored | undefined {
    const found = this.#entries.get(key);
    if (found !== undefined && !isMarker(found)) this.#uses?.found(key);
    return found;
  }

  /** Like `get`, without counting a request. */
  peek(key: string): Stored | undefined {
    return this.#entries.peek(key);
  }

  /** The keys of the responses. */
  *keys(): Iterable<string> {
    for (const key of this.#entries.keys()) if (!isMarker(this.#entries.peek(key)!)) yield key;
  }

  /** Counts a request for a response that is not held, and tells whether it would be kept. */
  admits(head: StoredHead): boolean {
    const bytes = weigh({ head, body: null }) + head.bodyBytes;
    this.#uses?.missed(head.key, bytes);
    return this.#fits(bytes) && this.#entries.admits(head.key, bytes);
  }

  /**
   * Stores a response unless it is too large, is not admitted, or a newer one is stored (R23). `isAdmitted`: `admits` has
   * counted the request. Returns false if a newer one is stored.
   */
  put(stored: Stored, isAdmitted = false): boolean {
    const { key } = stored.head;
    const held = this.#entries.peek(key);
    if (held && isNewer(held, stored)) return false;
    const bytes = this.#weigh(stored);
    if (!held && !isAdmitted && !isMarker(stored)) this.#uses?.missed(key, bytes);
    if (this.#fits(bytes)) this.#entries.set(key, stored, bytes, isAdmitted);
    else this.delete(key);
    return true;
  }

  /** Weighs an entry anew, because more is held beside its body now. Counts no request. */
  weighAgain(key: string): void {
    const held = this.#entries.peek(key);
    if (held) this.#entries.resize(key, this.#weigh(held));
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  #weigh(stored: Stored): number {
    return weigh(stored) + (isMarker(stored) || !stored.body ? 0 : this.#bytesBeside(stored.body));
  }

  #fits(bytes: number): boolean {
    return bytes <= this.#maxBytes * LARGEST_SHARE;
  }
}

function weigh(stored: Stored): number {
  let characters = stored.head.key.length;
  if (isMarker(stored)) {
    for (const { key } of stored.variants) characters += 2 * key.length; // the key, and fields of that size
    return characters * 2 + stored.variants.length * FIELD_OVERHEAD_BYTES + ENTRY_OVERHEAD_BYTES;
  }
  const { head, body } = stored;
  for (const key of head.givenPurgeKeys) characters += key.length;
  for (const text of head.fields) characters += 2 * text.length;
  const overhead = (head.fields.length / 2) * FIELD_OVERHEAD_BYTES + ENTRY_OVERHEAD_BYTES;
  return (body?.byteLength ?? 0) + characters * 2 + overhead;
}
