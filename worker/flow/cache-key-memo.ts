import { type RefusedTarget, resolveTarget, type Target, type TargetRules } from "../rules/key/cache-key.ts";

/** The most URLs that are remembered, and the longest of them: with their keys at most about 6 MiB. */
const MAX_URLS = 4096;
const MAX_CHARACTERS = 256;

/**
 * Remembers what URLs resolve to: parsing and matching a URL takes several times as long as all the rest of a memory hit
 * (`npm run bench -- hit`). When full, all is forgotten: the hot URLs are back after one request each.
 */
export class CacheKeyMemo {
  readonly #rules: TargetRules;
  readonly #targets = new Map<string, Target>();

  constructor(rules: TargetRules) {
    this.#rules = rules;
  }

  resolve(url: string): Target | RefusedTarget {
    const remembered = this.#targets.get(url);
    if (remembered) return remembered;
    const target = resolveTarget(url, this.#rules);
    if (target.kind === "target" && url.length <= MAX_CHARACTERS) {
      if (this.#targets.size >= MAX_URLS) this.#targets.clear();
      this.#targets.set(url, target);
    }
    return target;
  }
}
