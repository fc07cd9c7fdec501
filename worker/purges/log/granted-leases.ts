/** The longest lease that may be alive, and when it was last granted: kept in storage, so that a restarted log knows it. */
export interface LongestLease {
  readonly leaseMs: number;
  /** Epoch milliseconds. */
  readonly grantedAt: number;
  /** Leases that were granted under load, in milliseconds, each with until when one can be alive: epoch milliseconds. */
  readonly stretched?: Readonly<Record<number, number>> | undefined;
}

export interface LongestLeaseStorage {
  /** `null` before any lease was granted. */
  read(): LongestLease | null;
  write(longest: LongestLease): void;
}

/**
 * How long the longest lease counts after it was last granted. Readers that have lost the log go by it too (R8), so it is
 * not enough that the lease itself has run out.
 */
const REMEMBERED_MS = 24 * 3600 * 1000;

/** While it goes on being granted, that is written down this often: a reading must not cost a write each time. */
const WRITTEN_EVERY_MS = 3600 * 1000;

/**
 * The leases that readers hold, as far as a receipt must count with them (R6): a site's new version may shorten the
 * lease while isolates of the old one still go by the longer.
 */
export class GrantedLeases {
  readonly #storage: LongestLeaseStorage;

  constructor(storage: LongestLeaseStorage) {
    this.#storage = storage;
  }

  grant(leaseMs: number, now: number): void {
    const longest = this.#storage.read();
    const isForgotten = longest === null || now - longest.grantedAt > REMEMBERED_MS;
    const stretched = longest?.stretched;
    if (isForgotten || leaseMs > longest.leaseMs) this.#storage.write({ leaseMs, grantedAt: now, stretched });
    else if (leaseMs === longest.leaseMs && now - longest.grantedAt > WRITTEN_EVERY_MS) {
      this.#storage.write({ leaseMs, grantedAt: now, stretched });
    }
  }

  /**
   * Notes a lease that is longer than its reader asked for. It is forgotten when it has run out: who has lost the log
   * goes by the lease of his own site. Call it after `grant`.
   */
  stretch(leaseMs: number, now: number): void {
    const longest = this.#storage.read();
    if (longest === null || now + leaseMs <= (longest.stretched?.[leaseMs] ?? 0)) return;
    const living = Object.entries(longest.stretched ?? {}).filter(([, until]) => now < until);
    // Written as if it went on being granted for as long again: a reading must not cost a write each time.
    const stretched = { ...Object.fromEntries(living), [leaseMs]: now + 2 * leaseMs };
    this.#storage.write({ ...longest, stretched });
  }

  /** Milliseconds; 0 before any lease was granted. */
  longestLivingMs(now: number): number {
    const longest = this.#storage.read();
    if (longest === null) return 0;
    const { leaseMs, grantedAt, stretched } = longest;
    // Up to an hour of grants after the one that was written down may not have been.
    const askedMs = now - grantedAt <= REMEMBERED_MS + WRITTEN_EVERY_MS ? leaseMs : 0;
    const living = Object.entries(stretched ?? {}).filter(([, until]) => now < until);
    return Math.max(askedMs, ...living.map(([stretchedMs]) => Number(stretchedMs)));
  }
}
