import { fnvHash } from "../rules/hashing/fnv-hash.ts";
import { type KeyRules, type RefusedUrl, type ResolvedUrl, resolveUrl } from "../rules/key/cache-key.ts";

/** The most URLs to remember, and the longest of them. With their keys, they take at most about 4 MiB. */
const MAX_URLS = 4096;
const MAX_CHARACTERS = 256;
/** A power of two: of how many URLs it is known that they have come once. */
const SEEN_ONCE = 4096;

/**
 * Remembers the routes and cache keys of URLs, because parsing and matching a URL takes several times as long as the
 * rest of a memory hit (`npm run bench -- hit`). A full memo is emptied: each hot URL is back after two requests. A URL
 * that comes once is not remembered: a crawl through many pages would empty the memo again and again.
 */
export class CacheKeyMemo {
  readonly #rules: KeyRules;
  readonly #resolved = new Map<string, ResolvedUrl>();
  readonly #seenOnce = new Int32Array(SEEN_ONCE);

  constructor(rules: KeyRules) {
    this.#rules = rules;
  }

  resolve(url: string): ResolvedUrl | RefusedUrl {
    const remembered = this.#resolved.get(url);
    if (remembered) return remembered;
    const resolved = resolveUrl(url, this.#rules);
    if (resolved.kind === "resolved" && url.length <= MAX_CHARACTERS && this.#comesAgain(url)) {
      if (this.#resolved.size >= MAX_URLS) this.#resolved.clear();
      this.#resolved.set(url, resolved);
    }
    return resolved;
  }

  /** Whether the URL was requested before, and no other URL of the same slot since. */
  #comesAgain(url: string): boolean {
    const hash = fnvHash(url);
    const slot = hash & (SEEN_ONCE - 1);
    if (this.#seenOnce[slot] === hash) return true;
    this.#seenOnce[slot] = hash;
    return false;
  }
}
