/**
 * Watches for the classic mistake, a purge before the commit: the edge fetches the purged page again at once, the
 * backend still answers with the old row, and that answer is newer than the purge. The sign is an unchanged body a
 * moment after a purge. Only the dev command does this; a deployed edge does not.
 */

/** How long after a purge a page that comes back unchanged is suspicious, in milliseconds. */
const MOMENT_MS = 2_000;

/** How many stored pages, purges and findings are remembered: the latest. */
const MAX_REMEMBERED = 1_000;

/** A page that was fetched again after a purge and had not changed. */
export interface EarlyPurge {
  /** The number of the latest purge before the fetch. */
  readonly seq: number;
  readonly path: string;
  /** Milliseconds from the purge to the fetch. */
  readonly afterMs: number;
  /**
   * The number of an earlier purge for which the page was fetched a moment before, and had changed. Then both may be for one
   * change, which the page shows already.
   */
  readonly changedFor?: number | undefined;
}

/** A stored body. */
interface Compared {
  readonly digest: string;
  /** Whether it differs from another one that was stored before. */
  readonly isChange: boolean;
  /** The purge that brought the body. */
  readonly changedFor: AcceptedPurge | null;
}

/** A purge that was accepted, and when: epoch milliseconds. */
export interface AcceptedPurge {
  readonly seq: number;
  readonly at: number;
}

export class EarlyPurges {
  /** The body that is stored under each key. */
  readonly #compared = new Map<string, Compared>();
  readonly #purges: AcceptedPurge[] = [];
  readonly #found: EarlyPurge[] = [];

  accepted(purge: AcceptedPurge): void {
    remember(this.#purges, purge);
  }

  /** The latest purge shortly before a time; `null` if there is none. */
  purgeBefore(at: number): AcceptedPurge | null {
    const latest = this.#purges.at(-1);
    return latest !== undefined && at - latest.at <= MOMENT_MS ? latest : null;
  }

  /** Remembers the body that is stored under a key. True if it is the body that was stored there before. */
  async isSameAsBefore(key: string, body: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const digest = [...new Uint8Array(await crypto.subtle.digest("SHA-256", body))].join();
    const earlier = this.#compared.get(key);
    const isSame = earlier?.digest === digest;
    const changedFor = isSame ? earlier.changedFor : null;
    this.#compared.delete(key);
    this.#compared.set(key, { digest, isChange: earlier !== undefined && !isSame, changedFor });
    if (this.#compared.size > MAX_REMEMBERED) this.#compared.delete(this.#compared.keys().next().value!);
    return isSame;
  }

  /** The body stored last under a key was fetched because of a purge. */
  refetched(key: string, purge: AcceptedPurge): void {
    const compared = this.#compared.get(key);
    if (compared?.isChange) this.#compared.set(key, { ...compared, changedFor: purge });
  }

  /** An earlier purge, a moment before this one, that brought the body stored under a key; `null` if there is none. */
  changeBefore(key: string, { seq, at }: AcceptedPurge): AcceptedPurge | null {
    const earlier = this.#compared.get(key)?.changedFor ?? null;
    return earlier !== null && earlier.seq < seq && at - earlier.at <= MOMENT_MS ? earlier : null;
  }

  found(early: EarlyPurge): void {
    remember(this.#found, early);
  }

  /** The pages that came back unchanged after a purge, each once. */
  after(seq: number): readonly EarlyPurge[] {
    const pages = this.#found.filter((early) => early.seq === seq);
    return [...new Map(pages.map((early) => [early.path, early])).values()];
  }
}

function remember<T>(list: T[], entry: T): void {
  list.push(entry);
  if (list.length > MAX_REMEMBERED) list.shift();
}

/** The finding as a line for the person at the terminal. */
export function earlyPurgeLine({ seq, path, afterMs }: EarlyPurge): string {
  return (
    `${path} was fetched again ${afterMs} ms after purge ${seq}, and is the same as before. If it should have changed, the ` +
    "purge came before the commit: purge after it."
  );
}
