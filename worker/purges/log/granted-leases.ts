/**
 * The longest lease that may be alive, and when it was last granted. It is stored, so that a restarted log knows it.
 */
export interface LongestLease {
  readonly leaseMs: number;
  /** Epoch milliseconds. */
  readonly grantedAt: number;
  /**
   * Leases that were granted under load, in milliseconds, each with the latest time at which it can be alive: epoch
   * milliseconds.
   */
  readonly stretched?: Readonly<Record<number, number>> | undefined;
}

export interface LongestLeaseStorage {
  /** `null` before any lease was granted. */
  read(): LongestLease | null;
  write(longest: LongestLease): void;
}

/**
 * How long the longest lease counts after it was last granted. That is longer than the lease itself lasts, because
 * readers that cannot reach the log use the lease for R8, too.
 */
const REMEMBERED_MS = 24 * 3600 * 1000;

/** The interval at which a repeatedly granted lease is written to storage, so that not every read costs a write. */
const WRITTEN_EVERY_MS = 3600 * 1000;

/**
 * The longest lease that any reader may hold. A receipt has to wait for it (R6). A new version of a site may shorten
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
      this.#refresh({ leaseMs, grantedAt: now, stretched });
    }
  }

  /** Writes when the lease was last granted. */
  #refresh(longest: LongestLease): void {
    try {
      this.#storage.write(longest);
    } catch {
      // On a full disk the reads go on: the stored lease counts for the rest of its day, and the next read tries again.
    }
  }

  /**
   * Records a lease that is longer than its reader asked for. It is forgotten when it has run out, because a reader
   * that cannot reach the log uses the lease of its own site. Call it after `grant`.
   */
  stretch(leaseMs: number, now: number): void {
    const longest = this.#storage.read();
    if (longest === null || now + leaseMs <= (longest.stretched?.[leaseMs] ?? 0)) return;
    const living = Object.entries(longest.stretched ?? {}).filter(([, until]) => now < until);
    // Stored with twice its duration, so that not every read costs a write.
    const stretched = { ...Object.fromEntries(living), [leaseMs]: now + 2 * leaseMs };
    this.#storage.write({ ...longest, stretched });
  }

  /** Moves all instants along with the clock, which has just been set forward (or back, if negative). */
  followClock(byMs: number): void {
    const longest = this.#storage.read();
    if (longest === null) return;
    const moved = Object.entries(longest.stretched ?? {}).map(([ms, until]) => [ms, until + byMs]);
    const stretched = longest.stretched && Object.fromEntries(moved);
    this.#storage.write({ ...longest, grantedAt: longest.grantedAt + byMs, stretched });
  }

  /** Milliseconds; 0 before any lease was granted. */
  longestLivingMs(now: number): number {
    const longest = this.#storage.read();
    if (longest === null) return 0;
    const { leaseMs, grantedAt, stretched } = longest;
    // Grants of up to an hour after the stored one may not have been written.
    const askedMs = now - grantedAt <= REMEMBERED_MS + WRITTEN_EVERY_MS ? leaseMs : 0;
    const living = Object.entries(stretched ?? {}).filter(([, until]) => now < until);
    return Math.max(askedMs, ...living.map(([stretchedMs]) => Number(stretchedMs)));
  }
}
