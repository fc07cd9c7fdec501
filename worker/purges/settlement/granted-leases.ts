import { REMEMBERED_MS } from "../log/log-contract.ts";

/** The leases that may be alive. They are stored, so that a restarted log knows them. */
export interface LeasesOnRecord {
  /** For each length in milliseconds: until when such a lease counts. Epoch milliseconds. */
  readonly until: Readonly<Record<number, number>>;
  /** When a reader without a name may last have read the log: epoch milliseconds. */
  readonly namelessAt: number;
  /**
   * When the log began in a storage that told nothing of a log before it: epoch milliseconds. Absent if that storage
   * did, because what that log granted is known then.
   */
  readonly bornAt?: number | undefined;
}

export interface LeaseStorage {
  /** `null` before any lease was granted. */
  read(): LeasesOnRecord | null;
  write(leases: LeasesOnRecord): void;
}

/** The interval at which a repeatedly granted lease is written to storage, so that not every read costs a write. */
const WRITTEN_EVERY_MS = 3600 * 1000;

/** For so long after it was written, a lease counts: grants of the hour after that may not have been written. */
const COUNTS_FOR_MS = REMEMBERED_MS + WRITTEN_EVERY_MS;

/**
 * The leases that readers may hold. A receipt has to wait for the longest (R6). A new version of a site may shorten the
 * lease while isolates of the old version still use the longer one. A lease counts for longer than it lasts, because
 * readers that cannot reach the log use it for R8, too.
 */
export class GrantedLeases {
  readonly #storage: LeaseStorage;

  constructor(storage: LeaseStorage) {
    this.#storage = storage;
  }

  /**
   * The log begins, or begins anew, and readers without a name may have read the one before it. `knowsEarlier`: whether
   * this storage has what that one granted.
   */
  begin(knowsEarlier: boolean, now: number): void {
    const { until } = this.#leases(now);
    this.#storage.write({ until, namelessAt: now, bornAt: knowsEarlier ? undefined : now });
  }

  /**
   * A reader of another log has come: this log has taken the place of one whose leases it does not know. It counts with
   * the longest that a site may ask for, as if that had been granted when this log began (R13).
   */
  noteEarlierLog(longestMs: number, now: number): void {
    const { bornAt = Number.NEGATIVE_INFINITY } = this.#leases(now);
    if (now - bornAt > REMEMBERED_MS || this.longestLivingMs(now) >= longestMs) return;
    this.#write(longestMs, bornAt + COUNTS_FOR_MS, now);
  }

  grant(leaseMs: number, now: number): void {
    if (this.#counts(leaseMs, now + REMEMBERED_MS)) return;
    this.#write(leaseMs, now + COUNTS_FOR_MS, now, leaseMs <= this.longestLivingMs(now));
  }

  /**
   * Records a lease that is longer than its reader asked for. It is forgotten when it has run out, because a reader
   * that cannot reach the log uses the lease of its own site. Call it after `grant`.
   */
  stretch(leaseMs: number, now: number): void {
    // Stored with twice its duration, so that not every read costs a write.
    if (!this.#counts(leaseMs, now + leaseMs)) this.#write(leaseMs, now + 2 * leaseMs, now);
  }

  /** Records that a reader without a name has read the log. Throws if it cannot be recorded. Call it after `grant`. */
  noteNameless(now: number): void {
    const leases = this.#leases(now);
    if (now - leases.namelessAt <= WRITTEN_EVERY_MS) return;
    this.#store({ ...leases, namelessAt: now }, now <= this.namelessUntil(now));
  }

  /**
   * Until when a reader without a name may hold a lease, or use R8 for one: epoch milliseconds. This also holds for a
   * day after a log was made, because the reader may have read the log before it.
   */
  namelessUntil(now: number): number {
    return this.#leases(now).namelessAt + COUNTS_FOR_MS;
  }

  /** Milliseconds; 0 before any lease was granted. */
  longestLivingMs(now: number): number {
    return Math.max(0, ...Object.keys(this.#living(now)).map(Number));
  }

  /** A log that has granted nothing was made just now. */
  #leases(now: number): LeasesOnRecord {
    return this.#storage.read() ?? { until: {}, namelessAt: now };
  }

  #counts(leaseMs: number, at: number): boolean {
    return (this.#leases(at).until[leaseMs] ?? 0) >= at;
  }

  #living(now: number): LeasesOnRecord["until"] {
    return Object.fromEntries(Object.entries(this.#leases(now).until).filter(([, until]) => now <= until));
  }

  #write(leaseMs: number, until: number, now: number, mayFail = false): void {
    this.#store({ ...this.#leases(now), until: { ...this.#living(now), [leaseMs]: until } }, mayFail);
  }

  /** `mayFail`: what is stored counts for the rest of its day, so that reads go on though the disk is full. */
  #store(leases: LeasesOnRecord, mayFail: boolean): void {
    try {
      this.#storage.write(leases);
    } catch (cause) {
      if (!mayFail) throw cause;
    }
  }
}
