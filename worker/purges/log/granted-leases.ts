/**
 * The longest lease that may be alive, and when it was last granted: kept in storage, so that a restarted log knows it.
 */
export interface LongestLease {
  readonly leaseMs: number;
  /** Epoch milliseconds. */
  readonly grantedAt: number;
  /**
   * Leases that were granted under load, in milliseconds, each with until when one can be alive: epoch milliseconds.
   */
  readonly stretched?: Readonly<Record<number, number>> | undefined;
}

export interface LongestLeaseStorage {
  /** `null` before any lease was granted. */
  read(): LongestLease | null;
  write(longest: LongestLease): void;
}

/**
 * How long the longest lease counts after it was last granted. Readers that cannot reach the log go by it, too (R8), so
 * it counts for longer than the lease itself lasts.
 */
const REMEMBERED_MS = 24 * 3600 * 1000;

/** How often a lease that is granted again and again is written to storage: a read must not cost a write each time. */
const WRITTEN_EVERY_MS = 3600 * 1000;

/**
 * The longest lease that any reader may hold, which a receipt has to wait for (R6). A new version of a site may shorten
 * the lease while isolates of the old version still use the longer one.
 */
export class GrantedLeases {
  readonly #storage: LongestLeaseStorage;

  constructor(storage: LongestLeaseStorage) {
    this.#storage = storage;
  }

  grant(leaseMs: number, now: number): void {
    const longest = this.#storage.read();
    const isOutdated = longest === null || now - longest.grantedAt > REMEMBERED_MS;
    const stretched = longest?.stretched;
    if (isOutdated || leaseMs > longest.leaseMs) this.#storage.write({ leaseMs, grantedAt: now, stretched });
    else if (leaseMs === longest.leaseMs && now - longest.grantedAt > WRITTEN_EVERY_MS) {
      this.#storage.write({ leaseMs, grantedAt: now, stretched });
    }
  }

  /**
   * Notes a lease that is longer than its reader asked for. It is forgotten when it has run out, because a reader that
   * cannot reach the log goes by the lease of its own site. Call it after `grant`.
   */
  stretch(leaseMs: number, now: number): void {
    const longest = this.#storage.read();
    if (longest === null || now + leaseMs <= (longest.stretched?.[leaseMs] ?? 0)) return;
    const living = Object.entries(longest.stretched ?? {}).filter(([, until]) => now < until);
    // Written as if it were granted for as long again, so that not every read costs a write.
    const stretched = { ...Object.fromEntries(living), [leaseMs]: now + 2 * leaseMs };
    this.#storage.write({ ...longest, stretched });
  }

  /** Milliseconds; 0 before any lease was granted. */
  longestLivingMs(now: number): number {
    const longest = this.#storage.read();
    if (longest === null) return 0;
    const { leaseMs, grantedAt, stretched } = longest;
    // Grants of up to an hour after the one in storage may not have been written.
    const askedMs = now - grantedAt <= REMEMBERED_MS + WRITTEN_EVERY_MS ? leaseMs : 0;
    const living = Object.entries(stretched ?? {}).filter(([, until]) => now < until);
    return Math.max(askedMs, ...living.map(([stretchedMs]) => Number(stretchedMs)));
  }
}
