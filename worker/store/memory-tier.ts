import { isMarker, type Stored } from "../rules/storing/stored-response.ts";
import { FrequencySketch } from "./frequency-sketch.ts";

/** What an entry weighs beside its body and texts: the map's slot and the head's object. */
const ENTRY_OVERHEAD_BYTES = 1024;
/** What a field weighs beside its text: once in the entry, and once in the fields that hits are answered with. */
const FIELD_OVERHEAD_BYTES = 256;

/** No entry may take more than this share of the tier, or one large page would push out the rest. */
const LARGEST_SHARE = 1 / 8;

/** Uses beyond this many tell nothing more; one below the most that `Recurrence` counts, so that nothing is there for ever. */
const MAX_USES = 14;

interface Entry {
  readonly stored: Stored;
  readonly bytes: number;
  /** How often it was asked for again, halved together with the counts of what is not kept. */
  uses: number;
  /** How many halvings `uses` has seen. */
  halvings: number;
}

/**
 * The isolate's memory, bounded in bytes. Where room is wanted the least recently used entry goes, unless it is used more
 * often than what comes: so no run through a million URLs pushes out the pages that people ask for.
 */
export class MemoryTier {
  readonly #mostBytes: number;
  /** In the order of use, the oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #recurrence = new FrequencySketch();
  #newest: string | null = null;
  #heldBytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
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

  /** Keeps a response unless it is too large for the tier, what it would push out is used more, or a newer one is there (R23). */
  put(stored: Stored): void {
    const { key } = stored.head;
    const held = this.#entries.get(key);
    if (held && isNewer(held.stored, stored)) return;
    this.delete(key);
    const bytes = weigh(stored);
    if (bytes > this.#mostBytes * LARGEST_SHARE) return;
    const times = held ? Number.POSITIVE_INFINITY : this.#recurrence.count(key, this.#entries.size);
    if (!this.#makeRoom(bytes, times)) return;
    const { halvings } = this.#recurrence;
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

  /** Drops the oldest entries until so many bytes fit; false if one of them is used as often as what comes has come. */
  #makeRoom(bytes: number, times: number): boolean {
    const dropped: string[] = [];
    let freeBytes = this.#mostBytes - this.#heldBytes;
    for (const [key, entry] of this.#entries) {
      if (freeBytes >= bytes) break;
      if (this.#usesOf(entry) >= times) return false;
      dropped.push(key);
      freeBytes += entry.bytes;
    }
    for (const key of dropped) this.delete(key);
    return true;
  }

  #usesOf(entry: Entry): number {
    const { halvings } = this.#recurrence;
    entry.uses >>= Math.min(31, halvings - entry.halvings);
    entry.halvings = halvings;
    return entry.uses;
  }
}

/** Whether `held` has seen more of the same log than `stored`, or was fetched later under the same number. */
export function isNewer(held: Stored, stored: Stored): boolean {
  const [a, b] = [held.head.stamp, stored.head.stamp];
  if (a?.logId !== b?.logId) return false;
  if (a && b && a.seq !== b.seq) return a.seq > b.seq;
  return held.head.fetchedAt > stored.head.fetchedAt;
}

function weigh(stored: Stored): number {
  let characters = stored.head.key.length;
  if (isMarker(stored)) {
    for (const { key } of stored.variants) characters += 2 * key.length; // the key, and the same as fields
    return characters * 2 + stored.variants.length * FIELD_OVERHEAD_BYTES + ENTRY_OVERHEAD_BYTES;
  }
  const { head, body } = stored;
  for (const key of head.purgeKeys) characters += key.length;
  for (const [name, value] of head.fields) characters += 2 * (name.length + value.length);
  const overhead = head.fields.length * FIELD_OVERHEAD_BYTES + ENTRY_OVERHEAD_BYTES;
  return (body?.byteLength ?? 0) + characters * 2 + overhead;
}
