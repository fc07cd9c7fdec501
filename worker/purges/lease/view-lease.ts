import type { BackgroundWork } from "../../ports/background-work.ts";
import type { Clock } from "../../ports/clock.ts";
import type { NewPurge } from "../../ports/purge-log.ts";
import type { PurgeState } from "../../ports/purge-state.ts";
import type { Reporter } from "../../ports/reporter.ts";
import type { PurgeAnswer } from "../../rules/freshness/judge.ts";
import type { ReceiptToken } from "../../rules/request/receipt-token.ts";
import type { PurgeableHead, Stamp, StoredHead } from "../../rules/storing/stored-response.ts";
import {
  type AppendRequest,
  type PurgeLogClient,
  REMEMBERED_MS,
  UNKNOWN_MS,
  type ViewDelta,
} from "../log/log-contract.ts";
import type { PurgeView } from "../view/purge-view.ts";
import { KeptView, type ReaderIdentity } from "./kept-view.ts";
import { LeaseTiming, type LeaseTimingSettings } from "./lease-timing.ts";
import { LeasedView, type LogCall } from "./leased-view.ts";
import type { PopSharing } from "./pop-sharing.ts";
import { type Reading, Renewal } from "./renewal.ts";
import { TokenReadBudget } from "./token-read-budget.ts";

export interface ViewLeaseOptions {
  readonly settings: LeaseTimingSettings;
  readonly view: PurgeView;
  readonly log: PurgeLogClient;
  readonly pop: PopSharing;
  readonly clock: Clock;
  /** A number from 0 up to, but not including, 1. */
  readonly random: () => number;
  readonly reporter: Reporter;
}

/**
 * The view of one isolate with its lease: how long it may be used, when it is renewed, and how requests are handled
 * while the log cannot be reached. A lease counts from the start of the read of the log (R6).
 */
export class ViewLease implements PurgeState, ReaderIdentity {
  readonly #view: PurgeView;
  readonly #pop: PopSharing;
  readonly #clock: Clock;
  readonly #timing: LeaseTiming;
  readonly #leased: LeasedView;
  readonly #kept: KeptView;
  readonly #renewal: Renewal;
  readonly #tokenReads: TokenReadBudget;
  #name: string | undefined;

  constructor({ settings, view, log, pop, clock, random, reporter }: ViewLeaseOptions) {
    const timing = new LeaseTiming(settings, random);
    const leased = new LeasedView({ view, timing, pop, clock, reporter });
    this.#view = view;
    this.#pop = pop;
    this.#clock = clock;
    this.#timing = timing;
    this.#leased = leased;
    this.#name = settings.push && log.connect ? String(random()).slice(2) : undefined;
    const parts = { identity: this, log, view, leased, timing, pop, clock };
    this.#kept = new KeptView(parts);
    this.#renewal = new Renewal({ ...parts, kept: this.#kept, reporter });
    this.#tokenReads = new TokenReadBudget(timing.leaseMs);
  }

  get name(): string | undefined {
    return this.#name;
  }

  giveUpName(): void {
    this.#leased.giveUp();
    this.#name = undefined;
  }

  /** This isolate as a reader, with which a purge is appended (R20). */
  get asReader(): Omit<AppendRequest, keyof NewPurge> {
    const { leaseMs, longestViewAgeMs, skewMs } = this.#timing;
    return { since: this.#view.position, leaseMs, longestViewAgeMs, skewMs, reader: this.#name };
  }

  isUsable(now: number, token: ReceiptToken | null, maxViewAgeMs = 0): boolean {
    if (this.#timing.hasSteppedBack(now)) this.#tokenReads.reset();
    if (!this.#timing.isUsable(now, maxViewAgeMs)) return false;
    return token === null || this.#leased.hasReached(token);
  }

  isDue(now: number): boolean {
    const isDue = this.#timing.isDue(now) && !this.#kept.isKept(now);
    const takesOver = this.#kept.needsSuccessor(now) && this.#timing.mayProbe(now);
    return (isDue || takesOver) && !this.#renewal.isUnderWay(now);
  }

  unknownForMs(now: number, maxViewAgeMs: number): number {
    const rememberedMs = this.#name === undefined ? REMEMBERED_MS : this.#timing.rememberedByNameMs;
    const isRemembered = this.#timing.sinceReadMs(now) < rememberedMs;
    return isRemembered ? Math.max(this.#timing.leaseMs, maxViewAgeMs) : UNKNOWN_MS;
  }

  check(stored: PurgeableHead, isUsable?: boolean): PurgeAnswer {
    const answer = this.#view.check(stored, isUsable);
    return answer === "not-purged" && this.#leased.isDoubtedBy(stored) ? "unverifiable" : answer;
  }

  madeStaleAt(stored: StoredHead): number {
    return this.#view.madeStaleAt(stored);
  }

  stamp(): Stamp | null {
    return this.#view.position;
  }

  async renew(background: BackgroundWork, token: ReceiptToken | null): Promise<ReceiptToken | null> {
    if (token !== null) return this.#readUpTo(token, background);
    const now = this.#clock.now();
    if (!this.#timing.isLeaseAlive(now)) this.#timing.noteRequest(now);
    if (!this.#timing.hasFailed(now)) await this.#renewal.waitFor(this.#renewal.renew(background));
    else if (this.#timing.mayProbe(now) && !this.#renewal.isUnderWay(now)) this.#probe(now, background);
    return null;
  }

  /** Renews the lease behind the request. If that takes too long, it has failed as well. */
  #probe(now: number, background: BackgroundWork): void {
    this.#timing.noteProbe(now);
    background.run(this.#renewal.waitFor(this.#renewal.renew(background)));
  }

  /** Records that a call of the log begins now. Pass its reply to `takeReply`. */
  beginCall(): LogCall {
    return this.#leased.beginCall();
  }

  /** Takes in a reply of the log (R6, R20). Returns false if the reply cannot be used. */
  takeReply(delta: ViewDelta, call: LogCall): boolean {
    return this.#leased.takeReply(delta, call);
  }

  /**
   * Takes in the reply to a purge, and shares it with the PoP's other isolates, so that they need not be a lease behind
   * (R20, R22). To isolates with a name the log sends it.
   */
  async takeReplyAndShare(delta: ViewDelta, call: LogCall): Promise<void> {
    const isTaken = this.takeReply(delta, call);
    if (isTaken && this.name === undefined) {
      await this.#pop.publishSoon(this.#leased.copyAfter(delta.leaseMs, call));
    }
  }

  /**
   * Takes in purges that the log has sent without being asked (R24). If they do not connect to the view, the log is read
   * instead. Resolves to whether the view has reached them, so that the log may count on it.
   */
  async learn(delta: ViewDelta, background: BackgroundWork): Promise<boolean> {
    if (this.#leased.takePush(delta)) return true;
    const pushed: ReceiptToken = { logId: delta.logId, seq: delta.to };
    const { currentRead } = this.#renewal;
    if (currentRead && (await this.#isBroughtBy(currentRead, pushed))) return true;
    await this.#renewal.waitFor(this.#renewal.read(background));
    return this.#leased.hasReached(pushed);
  }

  /**
   * Reads until the view reaches the token, or the token proves false. Only a read that began after the token arrived
   * can prove that (R9). While the log is silent, the token stays in force.
   */
  async #readUpTo(token: ReceiptToken, background: BackgroundWork): Promise<ReceiptToken | null> {
    if (token.isBinding) return this.#readUpToBinding(token, background);
    const { currentRead } = this.#renewal;
    if (currentRead && (await this.#isBroughtBy(currentRead, token))) return null;
    // A read that another bearer has begun since then is enough. Only a new read has to wait for its turn.
    const turnMs = this.#renewal.currentRead ? 0 : this.#tokenReads.take(this.#clock.now());
    if (turnMs > 0) {
      await this.#clock.wait(turnMs).over;
      if (this.#leased.hasReached(token)) return null;
    }
    if (this.#timing.hasFailed(this.#clock.now())) return token;
    const hasSucceeded = await this.#renewal.waitFor(this.#renewal.read(background));
    return hasSucceeded ? null : token;
  }

  /**
   * Reads until the view reaches a position that binds. It cannot prove false, so any read will do. It costs no budget,
   * because no stranger can send it. A position of another log waits for the lease to end.
   */
  async #readUpToBinding(token: ReceiptToken, background: BackgroundWork): Promise<ReceiptToken | null> {
    const now = this.#clock.now();
    const isOfThisLog = this.#view.position?.logId === token.logId;
    if (!this.#timing.hasFailed(now) && (isOfThisLog || !this.#timing.isLeaseAlive(now))) {
      await this.#renewal.waitFor(this.#renewal.read(background));
    }
    return this.#leased.hasReached(token) ? null : token;
  }

  /**
   * Waits for a read that began before now. It may bring the number, but cannot prove that the number does not exist.
   */
  async #isBroughtBy(underWay: Reading, number: ReceiptToken): Promise<boolean> {
    await this.#renewal.waitFor(underWay);
    return this.#leased.hasReached(number);
  }
}
