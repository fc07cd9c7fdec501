import type { Clock } from "../../ports/clock.ts";
import type { Reporter } from "../../ports/reporter.ts";
import type { ReceiptToken } from "../../rules/request/receipt-token.ts";
import type { PurgeableHead } from "../../rules/storing/stored-response.ts";
import type { ViewDelta } from "../log/log-contract.ts";
import { sightingsIn } from "../view/first-seen.ts";
import type { PurgeView } from "../view/purge-view.ts";
import type { LeaseTiming } from "./lease-timing.ts";
import type { PopSharing } from "./pop-sharing.ts";
import { mergeRecent } from "./recent-purges.ts";
import type { SharedCopy } from "./shared-copy.ts";

/** One call of the log: its place in the order of calls, and its start (epoch milliseconds). */
export interface LogCall {
  readonly number: number;
  readonly startedAt: number;
}

export interface LeasedViewParts {
  readonly view: PurgeView;
  readonly timing: LeaseTiming;
  readonly pop: PopSharing;
  readonly clock: Clock;
  readonly reporter: Reporter;
}

/**
 * Takes replies of the log, and copies of other isolates' reads, into the view. Extends the lease where that is safe.
 */
export class LeasedView {
  readonly #view: PurgeView;
  readonly #timing: LeaseTiming;
  readonly #pop: PopSharing;
  readonly #clock: Clock;
  readonly #reporter: Reporter;
  #callsBegun = 0;
  /** The number of calls that had begun when a reply last changed the view. */
  #callsBeforeView = 0;
  /** Calls up to this one cannot tell which of two logs is the current one; 0 while there is no doubt. */
  #callsInDoubt = 0;
  /** Calls up to this one extend no lease, because the isolate has given up its own since. */
  #callsGivenUp = 0;
  /** The newest purges, for the other isolates of the PoP (R22). */
  #recent: ViewDelta | null = null;

  constructor({ view, timing, pop, clock, reporter }: LeasedViewParts) {
    this.#view = view;
    this.#timing = timing;
    this.#pop = pop;
    this.#clock = clock;
    this.#reporter = reporter;
  }

  hasReached(token: ReceiptToken): boolean {
    const position = this.#view.position;
    return position !== null && position.logId === token.logId && position.seq >= token.seq;
  }

  /** Records that a call of the log begins now. Pass its reply to `takeReply`. */
  beginCall(): LogCall {
    return { number: ++this.#callsBegun, startedAt: this.#clock.now() };
  }

  /** Takes in a reply of the log (R6, R20), which may grant no lease (R25). Returns false if it cannot be used. */
  takeReply(delta: ViewDelta, { number, startedAt }: LogCall): boolean {
    const position = this.#view.position;
    const isOfAnotherLog = position !== null && position.logId !== delta.logId;
    if (isOfAnotherLog) this.#timing.end(); // a lease of another log is void
    if (isOfAnotherLog && number <= this.#callsBeforeView) {
      // This call began before the view last changed, so it may have reached the log that was replaced (R11). Only a
      // new read can tell which of the two logs is the current one.
      this.#callsInDoubt = this.#callsBegun;
      return false;
    }
    if (!this.#view.apply(delta, sightingsIn(delta, startedAt))) return false;
    this.#callsBeforeView = this.#callsBegun;
    this.#recent = mergeRecent(this.#recent, delta);
    if (number <= this.#callsInDoubt) return false;
    this.#callsInDoubt = 0;
    if (number <= this.#callsGivenUp) return false;
    if (delta.leaseMs > 0) this.#extendLease(startedAt, delta.leaseMs);
    return true;
  }

  /**
   * Takes in purges that the log has sent without being asked (R24). They extend no lease, because only a call shows how
   * old the knowledge is. Returns whether the view has reached them.
   */
  takePush(delta: ViewDelta): boolean {
    const position = this.#view.position;
    if (position === null) return false; // only a reply of the log itself may begin a view (R11)
    if (position.logId !== delta.logId) {
      this.#timing.end(); // one of the two logs has been replaced, and only a new read can tell which one
      return false;
    }
    if (!this.#view.apply(delta, sightingsIn(delta, this.#sentAt))) return false; // it does not connect to the view (R12)
    this.#callsBeforeView = this.#callsBegun;
    this.#recent = mergeRecent(this.#recent, delta);
    return true;
  }

  /** Gives up the lease, for good: no reply to an earlier call brings it back. */
  giveUp(): void {
    this.#timing.giveUp();
    this.#callsGivenUp = this.#callsBegun;
  }

  /**
   * Whether a stored response raises the doubt that the log went back in time: its stamp is ahead of a read that began after
   * it came. The lease then ends until a read from that stamp on, by which the log finds out (R13).
   */
  isDoubtedBy({ stamp, receivedAt = Number.POSITIVE_INFINITY }: PurgeableHead): boolean {
    const position = this.#view.position;
    if (stamp === null || stamp.logId !== position?.logId || stamp.seq <= position.seq) return false;
    // Clocks that differ by more than the allowance (R7) cost a read.
    if (!(receivedAt < this.#timing.startedAt - this.#timing.skewMs)) return false;
    this.#timing.end();
    this.#callsInDoubt = this.beginCall().number;
    this.#view.skipTo(stamp);
    return true;
  }

  /** Takes in a copy of another isolate's read (R22). Returns false if the copy cannot be used. */
  takeCopy({ startedAt, longestViewAgeMs, delta, sightings }: SharedCopy): boolean {
    const position = this.#view.position;
    // Only a reply of the log itself may move the view to another log (R11).
    if (position !== null && position.logId !== delta.logId) return false;
    if (this.#callsInDoubt > 0) return false;
    // The log was not told that this isolate may use the view for this long (R6).
    if (!(longestViewAgeMs >= this.#timing.longestViewAgeMs)) return false;
    if (!(startedAt > this.#timing.startedAt)) return false; // nothing new
    const now = this.#clock.now();
    if (startedAt > now + this.#timing.skewMs) return false; // the clocks differ by more than the allowance (R7)
    if (now >= startedAt + delta.leaseMs) return false; // the age of a copy counts against its lease
    if (!this.#view.apply(delta, sightings)) return false; // it does not connect to the view (R12)
    this.#recent = mergeRecent(this.#recent, delta);
    this.#extendLease(startedAt, delta.leaseMs);
    this.#reporter.report({ kind: "view-shared" });
    return true;
  }

  /**
   * A copy of the view for other isolates after a call of the log. It may hold more purges than that call's reply, but
   * it is no younger: its lease counts from the start of the call.
   */
  copyAfter(leaseMs: number, { startedAt }: LogCall): SharedCopy {
    const { dated: _, ...delta } = this.#recent!;
    const sightings = this.#view.sightingsAbove(delta.from);
    return { startedAt, longestViewAgeMs: this.#timing.longestViewAgeMs, delta: { ...delta, leaseMs }, sightings };
  }

  /** A time before which no push can have been sent that comes now: a late one comes after the lease. Epoch milliseconds. */
  get #sentAt(): number {
    const now = this.#clock.now();
    return this.#timing.isUsable(now, 0) ? now : Math.max(0, this.#timing.startedAt);
  }

  #extendLease(startedAt: number, leaseMs: number): void {
    const { isComplete } = this.#view;
    this.#timing.extend({ startedAt, leaseMs, readTakesMs: this.#pop.roundTripMs, isComplete }, this.#clock.now());
  }
}
