import type { BackgroundWork, Clock, PurgeState, ReceiptToken, Reporter } from "../../ports.ts";
import type { PurgeAnswer } from "../../rules/freshness/judge.ts";
import type { Stamp, StoredHead } from "../../rules/storing/stored-response.ts";
import { ITEM_WORDS, type PurgeLogClient, type ViewDelta } from "../log/log-contract.ts";
import type { View } from "../view/view.ts";
import type { PopView } from "./pop-view.ts";
import { rollWindow } from "./rolling-window.ts";
import type { SharedCopy } from "./shared-copy.ts";

/** The renewal falls at random into this part of the lease less a round trip, so that isolates do not fall due together (R22). */
const DUE_FROM = 0.7;
const DUE_TO = 0.88;
/** Where requests are rare it may be earlier, for the next one may come too late: from this part of the lease on. */
const DUE_EARLIEST = 0.5;

/** After a failure, the log is left alone for this part of the lease: one probe, not one for each request (R21). */
const PROBE_AFTER = 0.5;

/** How much the newest gap between two requests counts. */
const NEWEST_GAP_WEIGHT = 0.2;

/** The most reads that tokens may cause in one lease. Whoever brings one beyond that waits for the next lease (R9). */
const MAX_TOKEN_READS = 8;

export interface LeaseSettings {
  /** How long a view may be judged with after the read of the log began, in milliseconds. */
  readonly leaseMs: number;
  /** What the clock may step back, in milliseconds: each request sees a time of its own, frozen between its I/O (R7). */
  readonly skewMs: number;
  /** The oldest view that any route lets decide, in milliseconds, where that is more than the lease. Default: the lease. */
  readonly longestWithinMs?: number;
}

/**
 * The view of one isolate with its lease: how long it may be judged with, when it is renewed, and what is done while
 * the log cannot be reached. A lease counts from the moment the read of the log began (R6).
 */
export class ViewLease implements PurgeState {
  readonly leaseMs: number;
  readonly #skewMs: number;
  /** The oldest view that any route lets decide, the lease included, in milliseconds. */
  readonly longestWithinMs: number;
  readonly #view: View;
  readonly #log: PurgeLogClient;
  readonly #pop: PopView;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #reporter: Reporter;
  /** When the read began that the view's lease rests on. Never, if no view may be used at all. */
  #startedAt = Number.NEGATIVE_INFINITY;
  #usableUntil = 0;
  #dueAt = 0;
  /** From then on a copy of another isolate is too old to do for a renewal. */
  #copyIsOldAt = 0;
  #latestNow = 0;
  /** The usual time between two requests, and when the last one came. */
  #gapMs = 0;
  #requestAt: number | null = null;
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
  /** Calls up to this one cannot tell which of two logs lives; 0 while there is no doubt. */
  #callsInDoubt = 0;
  /** The read of the log that is under way, if it may still be waited for (R21). */
  #reading: Reading | null = null;
  /** The renewal that is under way: it looks at what others of the PoP have read before it reads (R22). */
  #renewal: Reading | null = null;
  /** What has been told lately, for the others of the PoP (R22). */
  #window: ViewDelta | null = null;

  constructor(
    view: View,
    log: PurgeLogClient,
    pop: PopView,
    settings: LeaseSettings,
    clock: Clock,
    random: () => number,
    reporter: Reporter,
  ) {
    this.#view = view;
    this.#log = log;
    this.#pop = pop;
    this.leaseMs = settings.leaseMs;
    this.#skewMs = settings.skewMs;
    this.longestWithinMs = Math.max(settings.leaseMs, settings.longestWithinMs ?? 0);
    this.#clock = clock;
    this.#random = random;
    this.#reporter = reporter;
  }

  isUsable(now: number, after: ReceiptToken | null, withinMs = 0): boolean {
    if (now < this.#latestNow - this.#skewMs) {
      this.#forgetInstants(); // further back than the allowance: no instant can be trusted (R7)
      this.#latestNow = now;
    } else if (now > this.#latestNow) {
      this.#latestNow = now;
    }
    if (now < this.#startedAt - this.#skewMs) return false;
    if (now >= this.#usableUntil && now >= this.#startedAt + Math.min(withinMs, this.longestWithinMs)) return false;
    return after === null || this.#hasReached(after);
  }

  isDue(now: number): boolean {
    this.#noteRequest(now);
    if (now < this.#dueAt || now < this.#probeAt) return false;
    return !this.#mayBeJoined(this.#reading, now) && !this.#mayBeJoined(this.#renewal, now);
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

  async renew(background: BackgroundWork, after: ReceiptToken | null): Promise<ReceiptToken | null> {
    if (after !== null) return this.#prove(after, background);
    const now = this.#clock.now();
    if (now >= this.#usableUntil) this.#noteRequest(now);
    if (now >= this.#failedUntil) await this.#waitFor(this.#renew(background));
    else if (now >= this.#probeAt) this.#renew(background);
    return null;
  }

  /** Notes that a call of the log begins now; its answer is then taken in. */
  beginCall(): LogCall {
    return { number: ++this.#callsBegun, startedAt: this.#clock.now() };
  }

  /** Takes in what came with a direct answer of the log (R6, R20). Returns false if it is of no use. */
  absorb(delta: ViewDelta, { number, startedAt }: LogCall): boolean {
    const held = this.#view.position;
    const isOfAnotherLog = held !== null && held.logId !== delta.logId;
    if (isOfAnotherLog) this.#endLease(); // what another log has granted is void
    if (isOfAnotherLog && number <= this.#callsBeforeView) {
      // An older call than one that has changed the view since: its log may be the one that was replaced (R11). Which of
      // the two lives, only a new read can tell.
      this.#callsInDoubt = this.#callsBegun;
      return false;
    }
    if (!this.#view.apply(delta)) return false;
    this.#callsBeforeView = this.#callsBegun;
    this.#window = rollWindow(this.#window, delta);
    if (number <= this.#callsInDoubt) return false;
    this.#callsInDoubt = 0;
    this.#extendLease(startedAt, delta.leaseMs);
    return true;
  }

  /** Takes in the reply to a purge, and leaves it for the others of the PoP: they need not be a lease behind (R20, R22). */
  async absorbAndShare(delta: ViewDelta, call: LogCall): Promise<void> {
    if (this.absorb(delta, call)) await this.#pop.leaveSoon(this.#copyOf(delta.leaseMs, call));
  }

  /** Takes in what another isolate of the PoP has read, if that is of use. To another log only the log itself leads (R11). */
  #absorbCopy({ startedAt, withinMs, delta }: SharedCopy): boolean {
    const held = this.#view.position;
    if (held !== null && held.logId !== delta.logId) return false;
    if (this.#callsInDoubt > 0) return false;
    if (!(withinMs >= this.longestWithinMs)) return false; // the log was not told how long this isolate goes by it (R6)
    if (!(startedAt > this.#startedAt)) return false; // no news
    const now = this.#clock.now();
    if (startedAt > now + this.#skewMs) return false; // the clocks differ by more than the allowance (R7)
    if (now >= startedAt + delta.leaseMs) return false; // its age counts
    if (!this.#view.apply(delta)) return false; // it does not connect (R12)
    this.#window = rollWindow(this.#window, delta);
    this.#extendLease(startedAt, delta.leaseMs);
    this.#reporter.report({ kind: "view-shared" });
    return true;
  }

  #extendLease(startedAt: number, leaseMs: number): void {
    const usableUntil = startedAt + leaseMs;
    if (usableUntil > this.#clock.now()) {
      this.#failedUntil = 0; // an answer that came too late to be of use is no recovery (R21)
      this.#probeAt = 0;
    }
    // What one reply had no room for is asked for behind the next hit (R12).
    const part = this.#view.isWhole ? DUE_FROM + (DUE_TO - DUE_FROM) * this.#random() : 0;
    const restMs = leaseMs - this.#pop.takesMs;
    const copyIsOldAt = startedAt + restMs * part;
    const dueAt = Math.max(copyIsOldAt - this.#gapMs, startedAt + restMs * Math.min(part, DUE_EARLIEST));
    if (usableUntil < this.#usableUntil) {
      this.#dueAt = Math.max(this.#dueAt, dueAt); // leases only grow (R11): the clock of whoever read before may be ahead
      return;
    }
    this.#copyIsOldAt = copyIsOldAt;
    this.#usableUntil = usableUntil;
    this.#startedAt = startedAt;
    this.#dueAt = dueAt;
  }

  /** Where requests are rare, the next one may find the lease over: so it is renewed that much earlier (R22). */
  #noteRequest(now: number): void {
    const gapMs = Math.min(Math.max(now - (this.#requestAt ?? now), 0), this.leaseMs);
    this.#gapMs += (gapMs - this.#gapMs) * NEWEST_GAP_WEIGHT;
    this.#requestAt = now;
  }

  #endLease(): void {
    this.#usableUntil = 0;
    this.#startedAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * Reads until the token is reached, or found false: only a read that began after the token arrived can tell (R9).
   * While the log is silent, the token stays in force.
   */
  async #prove(token: ReceiptToken, background: BackgroundWork): Promise<ReceiptToken | null> {
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
    const hasSucceeded = await this.#waitFor(this.#read(background));
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
    if (this.#tokenReads <= MAX_TOKEN_READS) return 0;
    return Math.min(this.leaseMs, this.#tokenLeaseAt + this.leaseMs - now);
  }

  #hasReached(token: ReceiptToken): boolean {
    const position = this.#view.position;
    return position !== null && position.logId === token.logId && position.seq >= token.seq;
  }

  /** Joins the renewal under way, or begins one. */
  #renew(background: BackgroundWork): Reading {
    if (this.#mayBeJoined(this.#renewal, this.#clock.now())) return this.#renewal;
    const renewal: Reading = {
      startedAt: this.#clock.now(),
      hasSucceeded: this.#takeOrRead(background).finally(() => {
        if (this.#renewal === renewal) this.#renewal = null;
      }),
    };
    this.#renewal = renewal;
    background.run(renewal.hasSucceeded);
    return renewal;
  }

  /** What another isolate of the PoP has read will do, or reads now; else the log is read (R22). */
  async #takeOrRead(background: BackgroundWork): Promise<boolean> {
    if (await this.#takeCopy()) return true;
    return this.#read(background).hasSucceeded;
  }

  async #takeCopy(): Promise<boolean> {
    const wasOver = !this.isUsable(this.#clock.now(), null);
    const { copy, expectedMs } = await this.#pop.look();
    if (this.#renewsBy(copy, wasOver)) return true;
    if (expectedMs === 0) return false;
    await this.#clock.wait(expectedMs).over;
    const later = await this.#pop.look();
    return this.#renewsBy(later.copy, wasOver);
  }

  /** Whether a copy is the renewal. Where nobody waits, one that is itself about to fall due is none. */
  #renewsBy(copy: SharedCopy | null, wasOver: boolean): boolean {
    const isTaken = copy !== null && this.#absorbCopy(copy);
    const now = this.#clock.now();
    return this.isUsable(now, null) && (wasOver || (isTaken && now < this.#copyIsOldAt));
  }

  /**
   * Joins the read of the log under way, or begins one. A read that takes longer than a lease is given up: a new one may
   * begin. Its copy is left for the others of the PoP.
   */
  #read(background: BackgroundWork): Reading {
    if (this.#mayBeJoined(this.#reading, this.#clock.now())) return this.#reading;
    const call = this.beginCall();
    this.#pop.claim(call.startedAt, background);
    let copy: SharedCopy | undefined;
    const reading: Reading = {
      startedAt: call.startedAt,
      hasSucceeded: this.#log.read(this.#view.readerPosition, this.leaseMs, this.longestWithinMs).then(
        (delta) => {
          if (this.absorb(delta, call)) copy = this.#copyOf(delta.leaseMs, call);
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
    background.run(reading.hasSucceeded.then(() => copy && this.#pop.leave(copy)));
    return reading;
  }

  /** For the others of the PoP: it may know more than the read that it rests on, and is no younger for that. */
  #copyOf(leaseMs: number, { startedAt }: LogCall): SharedCopy {
    return { startedAt, withinMs: this.longestWithinMs, delta: { ...this.#window!, leaseMs } };
  }

  #mayBeJoined(reading: Reading | null, now: number): reading is Reading {
    return reading !== null && now - reading.startedAt < this.leaseMs;
  }

  #end(reading: Reading): void {
    if (this.#reading === reading) this.#reading = null;
  }

  #forgetInstants(): void {
    this.#endLease();
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
