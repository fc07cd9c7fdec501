import { REMEMBERED_MS } from "./log-contract.ts";

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
  /**
   * When a reader without a name may last have read the log: epoch milliseconds. Default: `grantedAt`, because no reader
   * had a name when earlier versions stored this.
   */
  readonly namelessAt?: number;
  /**
   * When the log began in a storage that told nothing of a log before it: epoch milliseconds. Absent if that storage
   * did, because what that log granted is known then.
   */
  readonly bornAt?: number | undefined;
}

export interface LongestLeaseStorage {
  /** `null` before any lease was granted. */
  read(): LongestLease | null;
  write(longest: LongestLease): void;
}

/** The interval at which a repeatedly granted lease is written to storage, so that not every read costs a write. */
const WRITTEN_EVERY_MS = 3600 * 1000;

/**
 * The longest lease that any reader may hold. A receipt has to wait for it (R6). A new version of a site may shorten
 * the lease while isolates of the old version still use the longer one. The lease counts for longer than it lasts,
 * because readers that cannot reach the log use it for R8, too.
 */
export class GrantedLeases {
  readonly #storage: LongestLeaseStorage;

  constructor(storage: LongestLeaseStorage) {
    this.#storage = storage;
  }

  /**
   * The log begins, or begins anew, and readers without a name may have read the one before it. `knowsEarlier`: whether
   * this storage has what that one granted.
   */
  begin(knowsEarlier: boolean, now: number): void {
    const longest = this.#storage.read() ?? { leaseMs: 0, grantedAt: now };
    this.#storage.write({ ...longest, namelessAt: now, bornAt: knowsEarlier ? undefined : now });
  }

  get beganHere(): boolean {
    return this.#storage.read()?.bornAt !== undefined;
  }

  /**
   * A reader of another log has come: this log has taken the place of one whose leases it does not know. It counts with
   * the longest that a site may ask for, as if that had been granted when this log began (R13).
   */
  noteEarlierLog(longestMs: number, now: number): void {
    const longest = this.#storage.read();
    const bornAt = longest?.bornAt ?? Number.NEGATIVE_INFINITY;
    if (longest === null || longest.leaseMs >= longestMs || now - bornAt > REMEMBERED_MS) return;
    this.#storage.write({ ...longest, leaseMs: longestMs, grantedAt: bornAt });
  }

  grant(leaseMs: number, now: number): void {
    const longest = this.#storage.read();
    const isOutdated = longest === null || now - longest.grantedAt > REMEMBERED_MS;
    const granted = { ...longest, leaseMs, grantedAt: now, namelessAt: namelessAtOf(longest, now) };
    if (isOutdated || leaseMs > longest.leaseMs) this.#storage.write(granted);
    else if (leaseMs === longest.leaseMs && now - longest.grantedAt > WRITTEN_EVERY_MS) this.#refresh(granted);
  }

  /** Records that a reader without a name has read the log. Throws if nothing would tell of it. Call it after `grant`. */
  noteNameless(now: number): void {
    const longest = this.#storage.read();
    if (longest === null || now - namelessAtOf(longest, now) <= WRITTEN_EVERY_MS) return;
    const noted = { ...longest, namelessAt: now };
    if (this.mayHaveNameless(now)) this.#refresh(noted);
    else this.#storage.write(noted);
  }

  /**
   * Whether a reader without a name may hold a lease, or use R8 for one. That is so for a day after a log was made, too:
   * the reader may have read the log before it.
   */
  mayHaveNameless(now: number): boolean {
    return now - namelessAtOf(this.#storage.read(), now) <= REMEMBERED_MS + WRITTEN_EVERY_MS;
  }

  /** Writes when a lease was last granted. */
  #refresh(longest: LongestLease): void {
    try {
      this.#storage.write(longest);
    } catch {
      // On a full disk the reads go on: the stored time counts for the rest of its day, and the next read tries again.
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
    const [grantedAt, namelessAt] = [longest.grantedAt + byMs, namelessAtOf(longest, 0) + byMs];
    const bornAt = longest.bornAt === undefined ? undefined : longest.bornAt + byMs;
    this.#storage.write({ ...longest, grantedAt, namelessAt, bornAt, stretched });
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

/** A log that has granted nothing was made just now. */
function namelessAtOf(longest: LongestLease | null, now: number): number {
  return longest === null ? now : (longest.namelessAt ?? longest.grantedAt);
}
