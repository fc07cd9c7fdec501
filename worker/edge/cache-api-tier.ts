import type { StoredResponse } from "../rules/stored-response.ts";
import { headText, open, seal } from "./envelope.ts";

/*
 * The Cache API of this PoP. What the platform does and what is relied on:
 * - `put` resolves whether or not the response was stored, and is invisible until done. Only a match proves it.
 * - A truncated stream is stored as complete: only whole buffers are put, and the length is checked on reading.
 * - `match` with a request honours its Range and conditionals, wrongly in part: only URL strings are matched.
 * - `delete` loses to a put under way: nothing is ever deleted, entries are invalidated by number.
 */

/** Below the control plane's prefix, so that no page of the site can share a key with an entry. */
const ENTRY_PATH = "/_tidemark/entry";

export class CacheApiTier {
  readonly #cache: Cache;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** Rejects if the platform does. */
  async get(key: string): Promise<StoredResponse | undefined> {
    const response = await this.#cache.match(entryUrl(key));
    if (!response) return undefined;
    return open(key, headText(response.headers), await response.arrayBuffer());
  }

  /** Rejects if the platform does. */
  async put(stored: StoredResponse): Promise<void> {
    const { fields, body } = seal(stored);
    await this.#cache.put(entryUrl(stored.head.key), new Response(body, { headers: fields }));
  }
}

function entryUrl(key: string): string {
  const hostEnd = key.indexOf("/", key.indexOf("//") + 2);
  return key.slice(0, hostEnd) + ENTRY_PATH + key.slice(hostEnd);
}
