/** Where the longest lease is kept, so that a restarted log still counts with it. */
export interface LongestLease {
  /** Milliseconds; 0 before any was granted. */
  read(): number;
  write(ms: number): void;
}

/**
 * The leases that readers hold, as far as a receipt must count with them (R6). A lease that a new version of the site
 * shortens still lives where the old version asked for it; after a restart, the longest one is taken to be alive.
 */
export class GrantedLeases {
  readonly #longest: LongestLease;
  /** For each length that was asked for, when it was last granted. As many as there are versions of the site at once. */
  readonly #grantedAt = new Map<number, number>();

  constructor(longest: LongestLease, now: number) {
    this.#longest = longest;
    this.#grantedAt.set(longest.read(), now);
  }

  /** Storage is written only when the longest lease changes. */
  grant(leaseMs: number, now: number): void {
    this.#grantedAt.set(leaseMs, now);
    const longestMs = this.longestLivingMs(now);
    if (longestMs !== this.#longest.read()) this.#longest.write(longestMs);
  }

  longestLivingMs(now: number): number {
    let longestMs = 0;
    for (const [leaseMs, grantedAt] of this.#grantedAt) {
      if (now - grantedAt > leaseMs) this.#grantedAt.delete(leaseMs);
      else longestMs = Math.max(longestMs, leaseMs);
    }
    return longestMs;
  }
}
