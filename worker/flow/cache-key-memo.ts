import { type KeyRules, type RefusedUrl, type ResolvedUrl, resolveUrl } from "../rules/key/cache-key.ts";

/** The most URLs to remember, and the longest of them. With their keys, they take at most about 6 MiB. */
const MAX_URLS = 4096;
const MAX_CHARACTERS = 256;

/**
 * Remembers the routes and cache keys of URLs, because parsing and matching a URL takes several times as long as the
 * rest of a memory hit (`npm run bench -- hit`). A full memo is emptied: each hot URL is back after one request.
 */
export class CacheKeyMemo {
  readonly #rules: KeyRules;
  readonly #resolved = new Map<string, ResolvedUrl>();

  constructor(rules: KeyRules) {
    this.#rules = rules;
  }

  resolve(url: string): ResolvedUrl | RefusedUrl {
    const remembered = this.#resolved.get(url);
    if (remembered) return remembered;
    const resolved = resolveUrl(url, this.#rules);
    if (resolved.kind === "resolved" && url.length <= MAX_CHARACTERS) {
      if (this.#resolved.size >= MAX_URLS) this.#resolved.clear();
      this.#resolved.set(url, resolved);
    }
    return resolved;
  }
}
