/** For so long no other process is expected to store a page that was not there. Milliseconds. */
const FOR_MS = 1_000;

/** The most pages that are remembered. */
const MAX_KEYS = 1_000;

interface Missed {
  readonly name: string;
  readonly atMs: number;
}

/**
 * The pages that this process has just looked for in vain, with the names of their files. Most of them are stored soon, and
 * need neither a second look then nor a second hash.
 */
export class RecentMisses {
  readonly #missed = new Map<string, Missed>();

  remember(key: string, name: string, nowMs: number): void {
    this.#missed.set(key, { name, atMs: nowMs });
    if (this.#missed.size <= MAX_KEYS) return;
    for (const oldest of this.#missed.keys()) {
      this.#missed.delete(oldest);
      return;
    }
  }

  /** The name of the file, if the page was missing a moment ago. Only the first who asks is told: it stores the page. */
  take(key: string, nowMs: number): string | undefined {
    const missed = this.#missed.get(key);
    if (!missed) return undefined;
    this.#missed.delete(key);
    return nowMs - missed.atMs < FOR_MS ? missed.name : undefined;
  }
}
