import type { Stamp } from "../../rules/storing/stored-response.ts";
import { UNKNOWN_MS } from "../log/log-contract.ts";

/** More purges than this are not watched at the same time. The others settle when the leases have run out (R6). */
const MAX_WATCHED = 64;

/** From this many readers on, those whose leases have ended are forgotten. */
const PRUNE_FROM = 1000;
/** Longer than any allowance, in milliseconds. */
const LONG_AFTER_MS = 60_000;

/** A reader that confirms, and so is known by a name. */
interface Holder {
  /** Until then it may hold a lease, or serve responses of unknown purge state for one: epoch milliseconds. */
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
  /** Then it has settled even without confirmations: epoch milliseconds. */
  readonly settlesAt: number;
  /** The readers that have not confirmed it. */
  readonly missing: Set<string>;
}

/** A purge that nobody has to confirm any more. */
export type Confirmed = Pick<Watched, "seq" | "notBefore">;

/**
 * Every lease that this instance of the log has granted, and what its reader has confirmed (R25). A reader's view only
 * grows, so one confirmation speaks for all its leases.
 */
export class LeaseBook {
  readonly #startedAt: number;
  readonly #rememberedMs: number;
  readonly #holders = new Map<string, Holder>();
  #watched: Watched[] = [];
  #logId = "";
  #pruneAt = PRUNE_FROM;

  get readers(): number {
    return this.#holders.size;
  }

  /**
   * `startedAt`: leases that were granted before are not in this book. `rememberedMs`: for how long a reader that is heard
   * of no more counts.
   */
  constructor(startedAt: number, rememberedMs: number) {
    this.#startedAt = startedAt;
    this.#rememberedMs = rememberedMs;
  }

  /** Records a lease. `by`: the connection over which it was granted. */
  grant(reader: string, logId: string, useMs: number, now: number, by?: object): void {
    this.#turnTo(logId);
    const holder = this.#holders.get(reader);
    const { confirmed = 0 } = holder ?? {};
    if (holder === undefined && this.#holders.size >= this.#pruneAt) this.#prune(now);
    const until = now + Math.max(useMs, this.#rememberedMs);
    this.#holders.set(reader, { until: Math.max(until, holder?.until ?? 0), confirmed, lastBy: by });
  }

  /**
   * Records that a reader's view has reached a position. Returns the watched purges that nobody has to confirm any more,
   * each with the earliest time at which it has settled.
   */
  confirm(reader: string, { logId, seq }: Stamp): readonly Confirmed[] {
    const holder = this.#holders.get(reader);
    if (logId !== this.#logId || holder === undefined || holder.confirmed >= seq) return [];
    holder.confirmed = seq;
    return this.#strike(reader, seq);
  }

  /**
   * Records that a reader has given up its leases. That counts only if it got the last one over the connection that says
   * so: otherwise it may have got one since. Returns the same as `confirm`.
   */
  release(reader: string, by: object): readonly Confirmed[] {
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
   * Begins to watch a purge that has just got its number. Returns when it settles if nobody confirms it any more, and the
   * earliest time if everybody does: epoch milliseconds. `longestMs`: the longest lease that anybody may hold (R6).
   * `earliest`: no confirmation counts before.
   */
  watch(
    { logId, seq }: Stamp,
    longestMs: number,
    skewMs: number,
    now: number,
    earliest = now + UNKNOWN_MS + skewMs,
  ): Omit<Watched, "seq" | "missing"> {
    this.#turnTo(logId);
    const complete = this.#startedAt + Math.max(longestMs, this.#rememberedMs);
    const notBefore = Math.max(earliest, complete + skewMs);
    const missing = new Set<string>();
    for (const [reader, { until, confirmed }] of this.#holders) {
      if (now >= until + skewMs) this.#holders.delete(reader);
      else if (confirmed < seq) missing.add(reader); // the reader of a relay may know of a purge before the relay does
    }
    const settlesAt = Math.min(missing.size > 0 ? Number.POSITIVE_INFINITY : notBefore, now + longestMs + skewMs);
    const watched = { seq, notBefore, settlesAt, missing };
    this.#watched = this.#watched.filter((each) => now < each.settlesAt);
    if (this.#watched.length < MAX_WATCHED && notBefore < settlesAt) this.#watched.push(watched);
    return watched;
  }

  /** Numbers of another log say nothing about this one. For a day, nothing is watched then. */
  #turnTo(logId: string): void {
    if (logId === this.#logId) return;
    this.#logId = logId;
    this.#watched = [];
    this.#holders.clear();
  }
}
