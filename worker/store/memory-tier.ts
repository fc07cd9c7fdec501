import { isMarker, type Stored, type StoredHead } from "../rules/storing/stored-response.ts";
import { FrequencySketch } from "./frequency-sketch.ts";

/** The memory of an entry in addition to its body and texts: the slot in the map, and the object of the head. */
const ENTRY_OVERHEAD_BYTES = 1024;
/** The memory of a field in addition to its text: once in the entry, and once in the fields of hits. */
const FIELD_OVERHEAD_BYTES = 256;

/** No entry may take more than this share of the tier, or one large page would evict all others. */
const LARGEST_SHARE = 1 / 8;

/**
 * The highest count of uses. It is one below the highest count of `FrequencySketch`, so that no entry stays for ever.
 */
const MAX_USES = 14;

interface Entry {
  readonly stored: Stored;
  readonly bytes: number;
  /** How often the entry was requested again. It is halved whenever the counters of the sketch are. */
  uses: number;
  /** The halvings that `uses` includes. */
  halvings: number;
}

/**
 * The isolate's memory, bounded in bytes. It evicts the least recently used entries. Admission: a new entry must have
 * been requested more often than the one it would evict (TinyLFU), so that a crawl through a million URLs does not
 * evict the pages that visitors request.
 */
export class MemoryTier {
  readonly #maxBytes: number;
  /** Ordered by use, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #frequency = new FrequencySketch();
  #newest: string | null = null;
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Stored | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (entry.uses < MAX_USES) entry.uses++;
    if (key !== this.#newest) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      this.#newest = key;
    }
    return entry.stored;
  }

  /** Counts a request for a response that is not held, and tells whether it would be kept. */
  admits(head: StoredHead): boolean {
    const { key, bodyBytes } = head;
    const times = this.#frequency.count(key, this.#entries.size);
    const bytes = weigh({ head, body: null }) + bodyBytes;
    return bytes <= this.#maxBytes * LARGEST_SHARE && this.#findRoom(bytes, times) !== null;
  }

  /**
   * Stores a response unless it is too large, is not admitted, or a newer one is stored (R23). `isAdmitted`: `admits` has
   * counted the request.
   */
  put(stored: Stored, isAdmitted = false): void {
    const { key } = stored.head;
    const held = this.#entries.get(key);
    if (held && isNewer(held.stored, stored)) return;
    this.delete(key);
    const bytes = weigh(stored);
    if (bytes > this.#maxBytes * LARGEST_SHARE) return;
    const times = held ? Number.POSITIVE_INFINITY : this.#timesOf(key, isAdmitted);
    const dropped = this.#findRoom(bytes, times);
    if (dropped === null) return;
    for (const each of dropped) this.delete(each);
    const { halvings } = this.#frequency;
    const counted = held ?? { uses: Math.min(MAX_USES, times - 1), halvings };
    this.#entries.set(key, { stored, bytes, uses: counted.uses, halvings: counted.halvings });
    this.#newest = key;
    this.#heldBytes += bytes;
  }

  delete(key: string): void {
    const held = this.#entries.get(key);
    if (!held) return;
    this.#entries.delete(key);
    this.#heldBytes -= held.bytes;
  }

  #timesOf(key: string, isCounted: boolean): number {
    return isCounted ? this.#frequency.estimate(key) : this.#frequency.count(key, this.#entries.size);
  }

  /** The entries to evict so that `bytes` fit; `null` if one of them is used as often as the new one. */
  #findRoom(bytes: number, times: number): string[] | null {
    const dropped: string[] = [];
    let freeBytes = this.#maxBytes - this.#heldBytes;
    for (const [key, entry] of this.#entries) {
      if (freeBytes >= bytes) break;
      if (this.#usesOf(entry) >= times) return null;
      dropped.push(key);
      freeBytes += entry.bytes;
    }
    return dropped;
  }

  #usesOf(entry: Entry): number {
    const { halvings } = this.#frequency;
    entry.uses >>= Math.min(31, halvings - entry.halvings);
    entry.halvings = halvings;
    return entry.uses;
  }
}

/** Whether `held` has a later stamp of the same log than `stored`, or the same stamp and a later fetch. */
export function isNewer(held: Stored, stored: Stored): boolean {
  const [a, b] = [held.head.stamp, stored.head.stamp];
  if (a?.logId !== b?.logId) return false;
  if (a && b && a.seq !== b.seq) return a.seq > b.seq;
  return held.head.fetchedAt > stored.head.fetchedAt;
}

function weigh(stored: Stored): number {
  let characters = stored.head.key.length;
  if (isMarker(stored)) {
    for (const { key } of stored.variants) characters += 2 * key.length; // the key, and fields of that size
    return characters * 2 + stored.variants.length * FIELD_OVERHEAD_BYTES + ENTRY_OVERHEAD_BYTES;
  }
  const { head, body } = stored;
  for (const key of head.purgeKeys) characters += key.length;
  for (const [name, value] of head.fields) characters += 2 * (name.length + value.length);
  const overhead = head.fields.length * FIELD_OVERHEAD_BYTES + ENTRY_OVERHEAD_BYTES;
  return (body?.byteLength ?? 0) + characters * 2 + overhead;
}
