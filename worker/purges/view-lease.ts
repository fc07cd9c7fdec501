import type { Behind, Clock, PurgeState, ReceiptToken, Reporter } from "../ports.ts";
import type { PurgeAnswer } from "../rules/judge.ts";
import type { Stamp, StoredHead } from "../rules/stored-response.ts";
import { ITEM_WORDS, type PurgeLogClient, type ViewDelta } from "./log-contract.ts";
import type { View } from "./view.ts";

/** The renewal falls at random into this part of the lease, so that isolates do not fall due together (R22). */
const DUE_FROM = 0.7;
const DUE_TO = 0.88;

/** After a failure, the log is left alone for this part of the lease: one probe, not one for each request (R21). */
const PROBE_AFTER = 0.5;

/** The most reads that tokens may cause in one lease. Whoever brings one beyond that waits for the next lease (R9). */
const MOST_TOKEN_READS = 8;

export interface LeaseSettings {
  /** How long a view may be judged with after the read of the log began, in milliseconds. */
  readonly leaseMs: number;
  /** What the clock may step back, in milliseconds: each request sees a time of its own, frozen between its I/O (R7). */
  readonly skewMs: number;
}

/**
 * The view of one isolate with its lease: how long it may be judged with, when it is renewed, and what is done while
 * the log cannot be reached. A lease counts from the moment the read of the log began (R6).
 */
export class ViewLease implements PurgeState {
  readonly leaseMs: number;
  readonly #skewMs: number;
  readonly #view: View;
  readonly #log: PurgeLogClient;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #reporter: Reporter;
  #startedAt = 0;
  #usableUntil = 0;
  #dueAt = 0;
  #latestNow = 0;
  /** Until then a failure is remembered: requests go on without a view. */
  #failedUntil = 0;
  /** Before then no probe follows a failure. */
  #probeAt = 0;
  /** The reads that tokens have caused since `#tokenLeaseAt`, one lease at a time. */
  #tokenReads = 0;
  #tokenLeaseAt = 0;
  /** Counts the calls of the log, and remembers how many had begun when one last changed the view. */
  #callsBegun = 0;
  #callsBeforeView = 0;
  /** The read that is under way, if it may still be waited for (R21). */
  #reading: Reading | null = null;

  constructor(
    view: View,
    log: PurgeLogClient,
    settings: LeaseSettings,
    clock: Clock,
    random: () => number,
    reporter: Reporter,
  ) {
    this.#view = view;
    this.#log = log;
    this.leaseMs = settings.leaseMs;
    this.#skewMs = settings.skewMs;
    this.#clock = clock;
    this.#random = random;
    this.#reporter = reporter;
  }

  isUsable(now: number, after: ReceiptToken | null): boolean {
    if (now < this.#latestNow - this.#skewMs) {
      this.#forgetInstants(); // further back than the allowance: no instant can be trusted (R7)
      this.#latestNow = now;
    } else if (now > this.#latestNow) {
      this.#latestNow = now;
    }
    if (now >= this.#usableUntil || now < this.#startedAt - this.#skewMs) return false;
    return after === null || this.#hasReached(after);
  }

  isDue(now: number): boolean {
    return now >= this.#dueAt && now >= this.#probeAt && this.#reading === null;
  }

  check(stored: StoredHead, usable: boolean): PurgeAnswer {
    return this.#view.check(stored, usable);
  }

  madeStaleAt(stored: StoredHead): number {
    return this.#view.madeStaleAt(stored);
  }

  stamp(): Stamp | null {
    return this.#view.position;
  }

  async renew(behind: Behind, after: ReceiptToken | null): Promise<ReceiptToken | null> {
    if (after !== null) return this.#prove(after, behind);
    const now = this.#clock.now();
    if (now >= this.#failedUntil) await this.#waitFor(this.#read(behind));
    else if (now >= this.#probeAt) this.#read(behind);
    return null;
  }

  /** Notes that a call of the log begins now; its answer is then handed to `absorb`. */
  beginCall(): LogCall {
    return { number: ++this.#callsBegun, startedAt: this.#clock.now() };
  }

  /** Takes in what came with a direct answer of the log (R6, R20). */
  absorb(delta: ViewDelta, { number, startedAt }: LogCall): void {
    const held = this.#view.position;
    if (held !== null && held.logId !== delta.logId && number <= this.#callsBeforeView) {
      // An older call than one that has changed the view since: its log may be the one that was replaced (R11). Which of
      // the two lives, only a new read can tell.
      this.#usableUntil = 0;
      return;
    }
    if (!this.#view.apply(delta)) return;
    this.#callsBeforeView = this.#callsBegun;
    const usableUntil = startedAt + delta.leaseMs;
    if (usableUntil > this.#clock.now()) {
      this.#failedUntil = 0; // an answer that came too late to be of use is no recovery (R21)
      this.#probeAt = 0;
    }
    if (usableUntil < this.#usableUntil) return; // leases only grow (R11)
    this.#usableUntil = usableUntil;
    this.#startedAt = startedAt;
    // What one reply had no room for is asked for behind the next hit (R12).
    const part = this.#view.isWhole ? DUE_FROM + (DUE_TO - DUE_FROM) * this.#random() : 0;
    this.#dueAt = startedAt + delta.leaseMs * part;
  }

  /**
   * Reads until the token is reached, or found false: only a read that began after the token arrived can tell (R9).
   * While the log is silent, the token stays in force.
   */
  async #prove(token: ReceiptToken, behind: Behind): Promise<ReceiptToken | null> {
    if (this.#reading) {
      await this.#waitFor(this.#reading); // begun before: it may bring the purge, but proves nothing
      if (this.#hasReached(token)) return null;
    }
    // A read that another bearer has begun since will do; only one of its own has to wait its turn.
    const turnMs = this.#reading ? 0 : this.#tokenTurnMs();
    if (turnMs > 0) {
      await this.#clock.wait(turnMs).over;
      if (this.#hasReached(token)) return null;
    }
    if (this.#clock.now() < this.#failedUntil) return token;
    const hasSucceeded = await this.#waitFor(this.#read(behind));
    return hasSucceeded ? null : token;
  }

  /** How long a token's read has to wait, in milliseconds: anybody can invent a token, so reads for them are counted. */
  #tokenTurnMs(): number {
    const now = this.#clock.now();
    if (now - this.#tokenLeaseAt >= this.leaseMs) {
      this.#tokenLeaseAt = now;
      this.#tokenReads = 0;
    }
    this.#tokenReads++;
    if (this.#tokenReads <= MOST_TOKEN_READS) return 0;
    return Math.min(this.leaseMs, this.#tokenLeaseAt + this.leaseMs - now);
  }

  #hasReached(token: ReceiptToken): boolean {
    const position = this.#view.position;
    return position !== null && position.logId === token.logId && position.seq >= token.seq;
  }

  /** Joins the read under way, or begins one. A read that takes longer than a lease is given up: a new one may begin. */
  #read(behind: Behind): Reading {
    const now = this.#clock.now();
    if (this.#reading && now - this.#reading.startedAt < this.leaseMs) return this.#reading;
    const call = this.beginCall();
    const reading: Reading = {
      startedAt: call.startedAt,
      hasSucceeded: this.#log.read(this.#view.readerPosition, this.leaseMs).then(
        (delta) => {
          this.absorb(delta, call);
          this.#end(reading);
          this.#reporter.report({ kind: "log-read", purges: delta.items.length / ITEM_WORDS });
          return true;
        },
        (cause: unknown) => {
          this.#rememberFailure();
          this.#end(reading);
          this.#reporter.report({ kind: "log-failed", cause });
          return false;
        },
      ),
    };
    this.#reading = reading;
    behind.run(reading.hasSucceeded);
    return reading;
  }

  #end(reading: Reading): void {
    if (this.#reading === reading) this.#reading = null;
  }

  #forgetInstants(): void {
    this.#usableUntil = 0;
    this.#dueAt = 0;
    this.#failedUntil = 0;
    this.#probeAt = 0;
    this.#tokenLeaseAt = 0;
    this.#tokenReads = 0;
  }

  #rememberFailure(): void {
    const now = this.#clock.now();
    this.#failedUntil = now + this.leaseMs;
    this.#probeAt = now + this.leaseMs * PROBE_AFTER;
  }

  /** Waits for a read, but only against the waiter's own timer: the request that reads may die (R21). */
  async #waitFor(reading: Reading): Promise<boolean> {
    const wait = this.#clock.wait(this.leaseMs);
    const tooSlow = wait.over.then(() => {
      this.#rememberFailure();
      return false;
    });
    const hasSucceeded = await Promise.race([reading.hasSucceeded, tooSlow]);
    wait.cancel();
    return hasSucceeded;
  }
}

/** One call of the log: its place in their order, and when it began. */
export interface LogCall {
  readonly number: number;
  readonly startedAt: number;
}

interface Reading {
  readonly startedAt: number;
  /** Ends with the read; never rejects. */
  readonly hasSucceeded: Promise<boolean>;
}
