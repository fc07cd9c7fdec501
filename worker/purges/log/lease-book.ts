import type { Stamp } from "../../rules/storing/stored-response.ts";
import { UNKNOWN_MS } from "./log-contract.ts";

/** More purges than this are not watched at the same time. The others settle when the leases have run out (R6). */
const MAX_WATCHED = 64;

/** From this many readers on, those whose leases have ended are forgotten. */
const PRUNE_FROM = 1000;
/** Longer than any allowance, in milliseconds. */
const LONG_AFTER_MS = 60_000;

/** A reader that confirms, and so is known by a name. */
interface Holder {
  /** When its last lease ends: epoch milliseconds of the log's clock. */
  until: number;
  /** Its view has reached this number. */
  confirmed: number;
  /** The connection over which it got its last lease; `undefined` for none. */
  lastBy: object | undefined;
}

/** A purge that is waiting for confirmations. */
interface Watched {
  readonly seq: number;
  /** No confirmation settles it earlier: epoch milliseconds. */
  readonly notBefore: number;
  readonly skewMs: number;
  /** The readers that held a lease when it got its number and have not confirmed it, each with the end of that lease. */
  readonly missing: Map<string, number>;
}

/** The times that decide when a purge settles, in milliseconds. */
export interface WatchTimes {
  readonly skewMs: number;
  readonly longestLeaseMs: number;
}

/** Epoch milliseconds of the log's clock. */
export interface Settling {
  readonly settlesAt: number;
  readonly notBefore: number;
}

/**
 * Every lease that this instance of the log has granted, and what its reader has confirmed (R25). A reader's view only
 * grows, so one confirmation speaks for all its leases.
 */
export class LeaseBook {
  readonly #startedAt: number;
  readonly #holders = new Map<string, Holder>();
  #watched: Watched[] = [];
  #logId = "";
  #pruneAt = PRUNE_FROM;

  get readers(): number {
    return this.#holders.size;
  }

  /** `startedAt`: leases that were granted before are not in this book. */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** Records a lease. `by`: the connection over which it was granted. */
  grant(reader: string, logId: string, useMs: number, now: number, by?: object): void {
    this.#turnTo(logId);
    const holder = this.#holders.get(reader);
    const { confirmed = 0 } = holder ?? {};
    if (holder === undefined && this.#holders.size >= this.#pruneAt) this.#prune(now);
    this.#holders.set(reader, { until: Math.max(now + useMs, holder?.until ?? 0), confirmed, lastBy: by });
  }

  /**
   * Records that a reader's view has reached a position. Returns the watched purges that nobody has to confirm any more,
   * each with the earliest time at which it has settled.
   */
  confirm(reader: string, { logId, seq }: Stamp): readonly Pick<Watched, "seq" | "notBefore">[] {
    const holder = this.#holders.get(reader);
    if (logId !== this.#logId || holder === undefined || holder.confirmed >= seq) return [];
    holder.confirmed = seq;
    return this.#strike(reader, seq);
  }

  /**
   * Records that a reader has given up its leases. That counts only if it got the last one over the connection that says
   * so: otherwise it may have got one since. Returns the same as `confirm`.
   */
  release(reader: string, by: object): readonly Pick<Watched, "seq" | "notBefore">[] {
    if (this.#holders.get(reader)?.lastBy !== by) return [];
    this.#holders.delete(reader);
    return this.#strike(reader, Number.POSITIVE_INFINITY);
  }

  /** Forgets leases that ended long ago. Where nobody purges, nothing else does. */
  #prune(now: number): void {
    for (const [reader, { until }] of this.#holders) {
      if (now >= until + LONG_AFTER_MS) this.#holders.delete(reader);
    }
    this.#pruneAt = 2 * this.#holders.size + PRUNE_FROM;
  }

  /** No purge up to this number has to wait for the reader. */
  #strike(reader: string, seq: number): Watched[] {
    const settled = this.#watched.filter(
      (each) => each.seq <= seq && each.missing.delete(reader) && !each.missing.size,
    );
    if (settled.length > 0) this.#watched = this.#watched.filter((each) => !settled.includes(each));
    return settled;
  }

  /**
   * Begins to watch a purge that has just got its number. Returns when it has settled even if nobody confirms it, and the
   * earliest time if everybody does: epoch milliseconds. `longestLeaseMs`: the longest lease that an earlier instance of
   * the log may have granted.
   */
  watch({ logId, seq }: Stamp, { skewMs, longestLeaseMs }: WatchTimes, now: number): Settling {
    this.#turnTo(logId);
    const notBefore = Math.max(now + UNKNOWN_MS, this.#startedAt + longestLeaseMs) + skewMs;
    const missing = new Map<string, number>();
    for (const [reader, { until }] of this.#holders) {
      if (now >= until + skewMs) this.#holders.delete(reader);
      else missing.set(reader, until);
    }
    const watched = { seq, notBefore, skewMs, missing };
    this.#watched = this.#watched.filter((each) => now < endOf(each));
    if (this.#watched.length < MAX_WATCHED && missing.size > 0) this.#watched.push(watched);
    return { settlesAt: endOf(watched), notBefore };
  }

  /** When a watched purge has settled even if nobody confirms it: epoch milliseconds; `null` if it is not watched. */
  settlesAt(seq: number): number | null {
    const watched = this.#watched.find((each) => each.seq === seq);
    return watched ? endOf(watched) : null;
  }

  /** Numbers of another log say nothing about this one. For a day, nothing is watched then. */
  #turnTo(logId: string): void {
    if (logId === this.#logId) return;
    this.#logId = logId;
    this.#watched = [];
    this.#holders.clear();
  }
}

function endOf({ notBefore, skewMs, missing }: Watched): number {
  let end = notBefore;
  for (const until of missing.values()) end = Math.max(end, until + skewMs);
  return end;
}
