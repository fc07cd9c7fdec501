import { isMarker, type Stored } from "../rules/stored-response.ts";

/** What an entry weighs beside its body and texts: the map's slot and the head's object. */
const ENTRY_OVERHEAD_BYTES = 1024;
/** What a field weighs beside its text: once in the entry, and once in the fields that hits are answered with. */
const FIELD_OVERHEAD_BYTES = 256;

/** No entry may take more than this share of the tier, or one large page would push out the rest. */
const LARGEST_SHARE = 1 / 8;

/** The isolate's memory: bounded in bytes, the least recently used response goes first. */
export class MemoryTier {
  readonly #mostBytes: number;
  /** In the order of use, the oldest first. */
  readonly #entries = new Map<string, Stored>();
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
    const stored = this.#entries.get(key);
    if (stored && key !== this.#newest) {
      this.#entries.delete(key);
      this.#entries.set(key, stored);
      this.#newest = key;
    }
    return stored;
  }

  /** Keeps a response unless it is too large for the tier, or a newer one is there (R23). */
  put(stored: Stored): void {
    const { key } = stored.head;
    const held = this.#entries.get(key);
    if (held && isNewer(held, stored)) return;
    this.delete(key);
    const bytes = weigh(stored);
    if (bytes > this.#mostBytes * LARGEST_SHARE) return;
    this.#entries.set(key, stored);
    this.#newest = key;
    this.#heldBytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#heldBytes <= this.#mostBytes) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const held = this.#entries.get(key);
    if (!held) return;
    this.#entries.delete(key);
    this.#heldBytes -= weigh(held);
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
