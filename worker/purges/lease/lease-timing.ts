import { REMEMBERED_BY_NAME_MS } from "../log/log-contract.ts";

/**
 * A renewal falls due at a random point from this part of the lease on, so that isolates do not all renew together
 * (R22).
 */
const DUE_FROM = 0.7;
const DUE_TO = 0.88;
/**
 * If requests are rare, the renewal falls due earlier, because the next request may come too late; but never before
 * this part of the lease.
 */
const DUE_EARLIEST = 0.5;

/** The longest wait for the log, if the lease is not shorter: milliseconds. Nobody waits so long after a failure (R21). */
const MAX_PATIENCE_MS = 2000;

/**
 * After a failure, the log is left alone for this part of the patience. Then one probe follows, not one for each request
 * (R21).
 */
const PROBE_AFTER = 0.5;

/** The last share of a lease, in which a request renews it even if that is an earlier request's task. */
const ENDING = 0.08;

/** The weight of the newest gap between two requests in their average. */
const NEWEST_GAP_WEIGHT = 0.2;

const NEVER = Number.NEGATIVE_INFINITY;

export interface LeaseTimingSettings {
  /** How long a view may be used after the start of its read, in milliseconds. */
  readonly leaseMs: number;
  /** How far the clock may step back, in milliseconds: each request sees its own time, frozen between its I/O (R7). */
  readonly skewMs: number;
  /**
   * The longest view age that any route allows, in milliseconds, if that is more than the lease. Default: the lease.
   */
  readonly longestViewAgeMs?: number;
  /** For how long after a request the view is renewed behind it, in milliseconds. Default: not at all. */
  readonly keepViewMs?: number;
  /** Whether the isolate keeps a connection to the log, over which the log pushes (R26). Default: it does not. */
  readonly push?: boolean;
  /** The log's `rememberedByNameMs`. Default: `REMEMBERED_BY_NAME_MS`. */
  readonly rememberedByNameMs?: number;
}

/** How long an isolate waits for a read: milliseconds. */
export function patienceOf(leaseMs: number): number {
  return Math.min(leaseMs, MAX_PATIENCE_MS);
}

/** A lease, granted by the log or by a copy of another isolate's read. */
export interface Grant {
  /** When the read of the log began: epoch milliseconds. The lease counts from that time (R6). */
  readonly startedAt: number;
  readonly leaseMs: number;
  /** The time from the start of a read until its copy can be seen in this PoP, in milliseconds. */
  readonly readTakesMs: number;
  /**
   * False if the log's reply had no room for all purges. The rest is then requested in the background of the next hit
   * (R12).
   */
  readonly isComplete: boolean;
}

/**
 * The arithmetic of the lease: when the view may be used, when its renewal is due, and when the log may be asked again
 * after a failure. It has no clock: every method takes `now`, in epoch milliseconds.
 */
export class LeaseTiming {
  readonly leaseMs: number;
  readonly patienceMs: number;
  readonly skewMs: number;
  /**
   * For how long the log has to count with a read, in milliseconds: the longest view age that any route allows, the lease
   * included.
   */
  readonly longestViewAgeMs: number;
  readonly keepViewMs: number;
  /** For how long the log counts with this isolate after a read, if it has a name (R25). */
  readonly rememberedByNameMs: number;
  readonly #random: () => number;
  #startedAt = NEVER;
  /** The start of the last read, even if its lease has been ended. */
  #readAt = NEVER;
  #usableUntil = 0;
  #dueAt = 0;
  #copyIsOldAt = 0;
  #latestNow = 0;
  /** The average time between two requests. */
  #gapMs = 0;
  #lastRequestAt: number | null = null;
  #failedUntil = 0;
  #probeAt = 0;

  constructor(settings: LeaseTimingSettings, random: () => number) {
    const { leaseMs, skewMs, longestViewAgeMs = 0, keepViewMs = 0 } = settings;
    this.leaseMs = leaseMs;
    this.patienceMs = patienceOf(leaseMs);
    this.keepViewMs = keepViewMs;
    this.skewMs = skewMs;
    this.longestViewAgeMs = Math.max(leaseMs, longestViewAgeMs);
    this.rememberedByNameMs = settings.rememberedByNameMs ?? REMEMBERED_BY_NAME_MS;
    this.#random = random;
  }

  /** When the read behind the current lease began: epoch milliseconds; negative infinity if there is no lease. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** True if the clock went back by more than the allowance, so that no instant seen before can be trusted (R7). */
  hasSteppedBack(now: number): boolean {
    const hasSteppedBack = now < this.#latestNow - this.skewMs;
    if (hasSteppedBack) this.#forgetInstants();
    if (hasSteppedBack || now > this.#latestNow) this.#latestNow = now;
    return hasSteppedBack;
  }

  /** Whether the lease is alive, or the view is younger than the route allows. */
  isUsable(now: number, maxViewAgeMs: number): boolean {
    if (now < this.#startedAt - this.skewMs) return false;
    return now < this.#usableUntil || now < this.#startedAt + Math.min(maxViewAgeMs, this.longestViewAgeMs);
  }

  /** For how long the log has not been read: milliseconds; infinity if it never has, or if the clock has stepped back. */
  sinceReadMs(now: number): number {
    return now - this.#readAt;
  }

  isLeaseAlive(now: number): boolean {
    return now < this.#usableUntil;
  }

  /** Whether the renewal is due. Counts as a request. */
  isDue(now: number): boolean {
    this.noteRequest(now);
    return now >= this.#dueAt && now >= this.#probeAt;
  }

  /**
   * Records the time between requests: if they are rare, the lease is renewed earlier (R22), unless it is renewed behind
   * them anyway (R26).
   */
  noteRequest(now: number): void {
    const gapMs = Math.min(Math.max(now - (this.#lastRequestAt ?? now), 0), this.leaseMs);
    if (this.keepViewMs === 0) this.#gapMs += (gapMs - this.#gapMs) * NEWEST_GAP_WEIGHT;
    this.#lastRequestAt = now;
  }

  /** Until when the view is kept for the next request (R26), if none comes before: epoch milliseconds. */
  get keptUntil(): number {
    return (this.#lastRequestAt ?? NEVER) + this.keepViewMs;
  }

  /** When the renewal is due: epoch milliseconds. */
  get dueAt(): number {
    return Math.max(this.#dueAt, this.#probeAt);
  }

  /** Whether so little of the lease is left that a request renews it, even where that is another one's work (R26). */
  isEnding(now: number): boolean {
    return now >= this.#usableUntil - this.leaseMs * ENDING;
  }

  /** Whether a copy of another isolate's read that has just been taken is itself already due for renewal. */
  isCopyOld(now: number): boolean {
    return now >= this.#copyIsOldAt;
  }

  /** Whether a failure is remembered. Requests then continue without a view. */
  hasFailed(now: number): boolean {
    return now < this.#failedUntil;
  }

  mayProbe(now: number): boolean {
    return now >= this.#probeAt;
  }

  noteFailure(now: number): void {
    this.#failedUntil = now + this.patienceMs;
    this.#probeAt = now + this.patienceMs * PROBE_AFTER;
  }

  /** A probe begins. The failure is remembered until that has been given up, so that nobody waits for a log that is silent. */
  noteProbe(now: number): void {
    this.#failedUntil = now + this.patienceMs * (1 + PROBE_AFTER);
  }

  extend({ startedAt, leaseMs, readTakesMs, isComplete }: Grant, now: number): void {
    const usableUntil = startedAt + leaseMs;
    this.#readAt = Math.max(this.#readAt, startedAt);
    if (usableUntil > now) {
      this.#failedUntil = 0; // a reply that came too late to be used is no recovery (R21)
      this.#probeAt = 0;
    }
    const part = isComplete ? DUE_FROM + (DUE_TO - DUE_FROM) * this.#random() : 0;
    const restMs = leaseMs - readTakesMs;
    const copyIsOldAt = startedAt + restMs * part;
    const dueAt = Math.max(copyIsOldAt - this.#gapMs, startedAt + restMs * Math.min(part, DUE_EARLIEST));
    if (usableUntil < this.#usableUntil) {
      this.#dueAt = Math.max(this.#dueAt, dueAt); // leases only grow (R11): an earlier reader's clock may be ahead
      return;
    }
    this.#copyIsOldAt = copyIsOldAt;
    this.#usableUntil = usableUntil;
    this.#startedAt = startedAt;
    this.#dueAt = dueAt;
  }

  end(): void {
    this.#usableUntil = 0;
    this.#startedAt = NEVER;
  }

  /** Ends the lease, and the time for which the log remembers it. */
  giveUp(): void {
    this.end();
    this.#readAt = NEVER;
  }

  #forgetInstants(): void {
    this.giveUp();
    this.#dueAt = 0;
    this.#failedUntil = 0;
    this.#probeAt = 0;
  }
}
