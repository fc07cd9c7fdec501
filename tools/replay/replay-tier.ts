import {
  type BytePart,
  isMarker,
  nodeBodies,
  type SharedTier,
  type StoredHead,
  type StreamedBody,
  type VariantMarker,
} from "#tidemark/internal";
import { ZeroBody, zeroBytes } from "./zero-body.ts";

/** The most entries, so that a long log does not fill the memory: each takes about a kilobyte, without its body. */
const MAX_ENTRIES = 500_000;

/** A shared tier with room for everything. It stores only the lengths of bodies. */
export class ReplayTier implements SharedTier {
  /** The entries that were evicted. */
  evicted = 0;
  readonly #entries = new Map<string, { readonly head: StoredHead } | VariantMarker>();
  /** The lengths of the bodies that have a key of their own. */
  readonly #bodies = new Map<string, number>();

  async get(key: string) {
    const entry = this.#entries.get(key);
    if (entry === undefined || isMarker(entry)) return entry;
    const { head } = entry;
    if (head.bodyKey !== null) return { head, body: null };
    return { head, body: zeroBytes(head.bodyBytes) ?? new ZeroBody(head.bodyBytes) };
  }

  async put(stored: { readonly head: StoredHead } | VariantMarker): Promise<void> {
    if (putLast(this.#entries, stored.head.key, isMarker(stored) ? stored : { head: stored.head })) this.evicted++;
  }

  async delete(key: string): Promise<void> {
    this.#entries.delete(key);
  }

  async getBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined> {
    const length = this.#bodies.get(bodyKey);
    if (length === undefined) return undefined;
    return new ZeroBody(part === null ? length : part.last + 1 - part.first);
  }

  async putBody(bodyKey: string, body: StreamedBody): Promise<void> {
    const reader = nodeBodies.readThrough(body);
    let length = 0;
    for (let piece = await reader.next(); piece !== null; piece = await reader.next()) length += piece.length;
    putLast(this.#bodies, bodyKey, length);
  }
}

/** Puts an entry after all others. Returns whether the oldest one was evicted. */
function putLast<Value>(map: Map<string, Value>, key: string, value: Value): boolean {
  const isKnown = map.delete(key);
  map.set(key, value);
  if (isKnown || map.size <= MAX_ENTRIES) return false;
  return map.delete(map.keys().next().value!);
}
