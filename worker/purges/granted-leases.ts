/** The longest lease that may be alive, and when it was last granted: kept in storage, so that a restarted log knows it. */
export interface LongestLease {
  readonly leaseMs: number;
  /** Epoch milliseconds. */
  readonly grantedAt: number;
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
    if (isForgotten || leaseMs > longest.leaseMs) this.#storage.write({ leaseMs, grantedAt: now });
    else if (leaseMs === longest.leaseMs && now - longest.grantedAt > WRITTEN_EVERY_MS) {
      this.#storage.write({ leaseMs, grantedAt: now });
    }
  }

  /** Milliseconds; 0 before any lease was granted. */
  longestLivingMs(now: number): number {
    const longest = this.#storage.read();
    // Up to an hour of grants after the one that was written down may not have been.
    return longest && now - longest.grantedAt <= REMEMBERED_MS + WRITTEN_EVERY_MS ? longest.leaseMs : 0;
  }
}
