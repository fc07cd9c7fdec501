import type { BackgroundWork } from "../../ports/background-work.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Reporter } from "../../ports/reporter.ts";
import { within } from "../../within.ts";
import { ITEM_WORDS, type PurgeLogClient } from "../log/log-contract.ts";
import type { PurgeView } from "../view/purge-view.ts";
import type { KeptView, KeptViewParts, ReaderIdentity } from "./kept-view.ts";
import type { LeaseTiming } from "./lease-timing.ts";
import type { LeasedView } from "./leased-view.ts";
import type { PopSharing } from "./pop-sharing.ts";
import type { SharedCopy } from "./shared-copy.ts";

/** A read of the log, or a renewal, that is in progress. */
export interface Reading {
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Whether its reply was taken in. Never rejects. */
  readonly hasSucceeded: Promise<boolean>;
}

export interface RenewalParts extends KeptViewParts {
  readonly kept: KeptView;
  readonly reporter: Reporter;
}

/** Renews the lease, from a copy of another isolate's read or by reading the log (R21, R22). */
export class Renewal {
  readonly #view: PurgeView;
  readonly #leased: LeasedView;
  readonly #timing: LeaseTiming;
  readonly #log: PurgeLogClient;
  readonly #pop: PopSharing;
  readonly #kept: KeptView;
  /** An isolate with a name shares no reads, because it cannot confirm for the isolates that take its copies (R25). */
  readonly #identity: ReaderIdentity;
  readonly #clock: Clock;
  readonly #reporter: Reporter;
  /** The read of the log in progress. */
  #read: Reading | null = null;
  /** The renewal in progress: a look at the PoP's copies and, in most cases, a read after it. */
  #renewal: Reading | null = null;
  /** The last one that took too long. It has failed once, however many wait for it. */
  #late: Reading | null = null;

  constructor({ view, leased, timing, log, pop, kept, identity, clock, reporter }: RenewalParts) {
    this.#view = view;
    this.#leased = leased;
    this.#timing = timing;
    this.#log = log;
    this.#pop = pop;
    this.#kept = kept;
    this.#identity = identity;
    this.#clock = clock;
    this.#reporter = reporter;
  }

  /** The last read of the log, if it has not ended. It may be too old to be joined. */
  get currentRead(): Reading | null {
    return this.#read;
  }

  isUnderWay(now: number): boolean {
    return this.#mayBeJoined(this.#read, now) || this.#mayBeJoined(this.#renewal, now);
  }

  /** Joins the renewal in progress, or begins one. `work`: what that does. Default: it also keeps the view afterwards. */
  renew(background: BackgroundWork, work = () => this.#renewAndKeep(background)): Reading {
    if (this.#mayBeJoined(this.#renewal, this.#clock.now())) return this.#renewal;
    const renewal: Reading = {
      startedAt: this.#clock.now(),
      hasSucceeded: work().finally(() => {
        if (this.#renewal === renewal) this.#renewal = null;
      }),
    };
    this.#renewal = renewal;
    background.run(renewal.hasSucceeded);
    return renewal;
  }

  /**
   * Joins the read of the log in progress, or begins one, and leaves a copy for the other isolates of the PoP. A read
   * that takes longer than the patience is no longer joined: a new one begins.
   */
  read(background: BackgroundWork): Reading {
    if (this.#mayBeJoined(this.#read, this.#clock.now())) return this.#read;
    const call = this.#leased.beginCall();
    const { name } = this.#identity;
    const isShared = name === undefined;
    if (isShared) this.#pop.claim(call.startedAt, background);
    let copy: SharedCopy | undefined;
    const { leaseMs, longestViewAgeMs } = this.#timing;
    const reading: Reading = {
      startedAt: call.startedAt,
      hasSucceeded: this.#log.read(this.#view.readerPosition, leaseMs, longestViewAgeMs, undefined, name).then(
        (delta) => {
          const isTaken = this.#leased.takeReply(delta, call);
          if (isTaken && isShared) copy = this.#leased.copyAfter(delta.leaseMs, call);
          this.#endRead(reading);
          this.#reporter.report({ kind: "log-read", purges: delta.items.length / ITEM_WORDS });
          return isTaken;
        },
        (cause: unknown) => {
          this.#timing.noteFailure(this.#clock.now());
          this.#endRead(reading);
          this.#reporter.report({ kind: "log-failed", cause });
          return false;
        },
      ),
    };
    this.#read = reading;
    background.run(reading.hasSucceeded.then(() => copy && this.#pop.publish(copy)));
    return reading;
  }

  /**
   * Waits for a reading, but not without end: the request that reads may be cancelled, and its read then never ends
   * (R21). The log has not failed if a later call has renewed the lease.
   */
  waitFor(reading: Reading): Promise<boolean> {
    const tooSlow = () => {
      if (this.#timing.startedAt > reading.startedAt) return false;
      this.#timing.noteFailure(this.#clock.now());
      if (this.#late !== reading) this.#reporter.report({ kind: "log-failed", cause: "no answer in time" });
      this.#late = reading;
      return false;
    };
    return within(this.#clock, this.#timing.patienceMs, reading.hasSucceeded, tooSlow);
  }

  /** Renews the lease, and then keeps the view alive behind the request (R26). */
  async #renewAndKeep(background: BackgroundWork): Promise<boolean> {
    const { dueAt } = this.#timing;
    const connection = await this.#kept.connect(background);
    // A read for a token may have renewed the lease while the connection was waited for.
    const isRenewed = dueAt < this.#timing.dueAt && this.#identity.isUsable(this.#clock.now(), null);
    const hasSucceeded = connection !== null || isRenewed || (await this.#takeCopyOrRead(background));
    const isKept = connection !== null || (this.#identity.name === undefined && this.#timing.keepViewMs > 0);
    if (hasSucceeded && isKept) {
      const again = () => this.renew(background, () => this.#takeCopyOrRead(background)).hasSucceeded;
      background.run(this.#kept.keep(connection, again));
    }
    return hasSucceeded;
  }

  async #takeCopyOrRead(background: BackgroundWork): Promise<boolean> {
    if (this.#identity.name === undefined && (await this.#takeCopy())) return true;
    return this.read(background).hasSucceeded;
  }

  /** Takes the newest copy of the PoP. If another isolate is reading the log now, waits for its copy. */
  async #takeCopy(): Promise<boolean> {
    const { dueAt } = this.#timing;
    const hasEnded = !this.#identity.isUsable(this.#clock.now(), null);
    const first = await this.#pop.look();
    if (this.#renewsWith(first.copy, hasEnded)) return true;
    if (first.expectedMs === 0) return false;
    await this.#clock.wait(first.expectedMs).over;
    const later = await this.#pop.look();
    // A read for a token, which waits for nobody's copy, may have renewed the lease meanwhile.
    return this.#renewsWith(later.copy, hasEnded || dueAt < this.#timing.dueAt);
  }

  /** Whether this copy renews the lease. A copy that is itself old does not renew a lease that is still alive. */
  #renewsWith(copy: SharedCopy | null, isRenewed: boolean): boolean {
    const isTaken = copy !== null && this.#leased.takeCopy(copy);
    const now = this.#clock.now();
    return this.#identity.isUsable(now, null) && (isRenewed || (isTaken && !this.#timing.isCopyOld(now)));
  }

  #mayBeJoined(reading: Reading | null, now: number): reading is Reading {
    return reading !== null && now - reading.startedAt < this.#timing.patienceMs;
  }

  #endRead(reading: Reading): void {
    if (this.#read === reading) this.#read = null;
  }
}
