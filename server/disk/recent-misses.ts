import { MAX_KEY_CHARACTERS } from "../../worker/rules/key/expiring-keys.ts";

/** Within this time a page that was missing is stored without another look. Milliseconds. */
const FOR_MS = 1_000;

/** The most pages that are remembered. */
const MAX_KEYS = 1_000;

interface Missed {
  readonly name: string;
  readonly atMs: number;
}

/**
 * Pages that this process has just looked for and not found, with the names of their files. Most are stored soon after: then
 * neither the look nor the hash is needed again.
 */
export class RecentMisses {
  readonly #missed = new Map<string, Missed>();

  remember(key: string, name: string, nowMs: number): void {
    if (key.length > MAX_KEY_CHARACTERS) return;
    this.#missed.delete(key);
    this.#missed.set(key, { name, atMs: nowMs });
    if (this.#missed.size <= MAX_KEYS) return;
    const oldest = this.#missed.keys().next();
    if (!oldest.done) this.#missed.delete(oldest.value);
  }

  /** The name of the file, if the page was missing a moment ago. Only the first who asks is told: it stores the page. */
  take(key: string, nowMs: number): string | undefined {
    const missed = this.#missed.get(key);
    if (!missed) return undefined;
    this.#missed.delete(key);
    return nowMs - missed.atMs < FOR_MS ? missed.name : undefined;
  }
}
