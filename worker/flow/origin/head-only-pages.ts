/** How long a page whose body is not stored is asked for by HEAD. */
const HEAD_ONLY_MS = 3_600_000;
/** The most pages for which that is remembered, the oldest going first, and the longest of their keys: about 2 MiB. */
const MAX_KEYS = 2_000;
const MAX_KEY_CHARACTERS = 512;

/** The pages of which this isolate knows that a GET in place of a HEAD would store nothing. */
export class HeadOnlyPages {
  readonly #until = new Map<string, number>();

  /** `now` is epoch milliseconds. */
  remember(key: string, now: number): void {
    if (key.length > MAX_KEY_CHARACTERS) return;
    this.#until.delete(key);
    this.#until.set(key, now + HEAD_ONLY_MS);
    if (this.#until.size > MAX_KEYS) {
      const oldest = this.#until.keys().next();
      if (!oldest.done) this.#until.delete(oldest.value);
    }
  }

  /** Whether only HEAD is sent for this page. That holds for keys that are too long to be remembered, too. */
  has(key: string, now: number): boolean {
    const until = this.#until.get(key);
    return key.length > MAX_KEY_CHARACTERS || (until !== undefined && now < until);
  }

  get size(): number {
    return this.#until.size;
  }
}
