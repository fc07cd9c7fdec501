/** After this long without progress, work may belong to a dead request, so another may begin it anew: milliseconds. */
export const DEAD_AFTER_MS = 30_000;

/** One large body that is being copied. */
export interface LargeFill {
  readonly key: string;
  /** When its last piece came: epoch milliseconds. */
  lastChunkAt: number;
  /** Whether it will not be stored, because of a purge for instance. */
  readonly isOutdated: () => boolean;
}

/** The large bodies that this isolate is copying: at most one fill for each page that may be stored. */
export class LargeFills {
  readonly #fills = new Map<string, LargeFill>();

  /** Begins a fill; `null` if one for this key is under way that may be stored. `now` is epoch milliseconds. */
  begin(key: string, now: number, isOutdated: () => boolean): LargeFill | null {
    for (const fill of this.#fills.values()) if (now - fill.lastChunkAt > DEAD_AFTER_MS) this.end(fill);
    if (this.#fills.get(key)?.isOutdated() === false) return null;
    const fill = { key, lastChunkAt: now, isOutdated };
    this.#fills.set(key, fill);
    return fill;
  }

  end(fill: LargeFill): void {
    if (this.#fills.get(fill.key) === fill) this.#fills.delete(fill.key);
  }
}
