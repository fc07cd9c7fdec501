import type { Behind, Clock, PurgeState, ReceiptToken, Reporter } from "../ports.ts";
import type { PurgeAnswer } from "../rules/judge.ts";
import type { Stamp, StoredHead } from "../rules/stored-response.ts";
import type { PurgeLogClient, ViewDelta } from "./log-contract.ts";
import type { View } from "./view.ts";

/** The renewal falls at random into this part of the lease, so that isolates do not fall due together (R22). */
const DUE_FROM = 0.7;
const DUE_TO = 0.88;

/**
 * The view of one isolate with its lease: how long it may be judged with, when it is renewed, and what is done while
 * the log cannot be reached. A lease counts from the moment the read of the log began (R6).
 */
export class ViewLease implements PurgeState {
  readonly leaseMs: number;
  readonly #view: View;
  readonly #log: PurgeLogClient;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #reporter: Reporter;
  #startedAt = Number.POSITIVE_INFINITY;
  #usableUntil = 0;
  #dueAt = 0;
  #failedUntil = 0;
  #latestNow = 0;
  /** The read that is under way, if it may still be waited for (R21). */
  #reading: { readonly startedAt: number; readonly done: Promise<void> } | null = null;

  constructor(
    view: View,
    log: PurgeLogClient,
    leaseMs: number,
    clock: Clock,
    random: () => number,
    reporter: Reporter,
  ) {
    this.#view = view;
    this.#log = log;
    this.leaseMs = leaseMs;
    this.#clock = clock;
    this.#random = random;
    this.#reporter = reporter;
  }

  isUsable(now: number, after: ReceiptToken | null): boolean {
    if (now < this.#latestNow) this.#usableUntil = 0; // the clock ran backwards: no lease can be trusted (R7)
    this.#latestNow = now;
    if (now >= this.#usableUntil || now < this.#startedAt) return false;
    return after === null || this.#hasReached(after);
  }

  isDue(now: number): boolean {
    return now >= this.#dueAt && this.#reading === null;
  }

  check(stored: StoredHead, usable: boolean): PurgeAnswer {
    return this.#view.check(stored, usable);
  }

  stamp(): Stamp | null {
    return this.#view.position;
  }

  async renew(behind: Behind, after: ReceiptToken | null): Promise<ReceiptToken | null> {
    const waiting = after === null && this.#clock.now() < this.#failedUntil ? "behind" : "in-front";
    const joined = this.#read(behind);
    if (waiting === "behind") return null;
    await this.#waitFor(joined.done);
    if (after === null || this.#hasReached(after)) return null;
    // The read that was joined may have begun before this request arrived: only one begun after it proves the token
    // false, or the log to have moved on (R9).
    const proof = joined.isNew ? joined : this.#read(behind);
    await this.#waitFor(proof.done);
    return proof.succeeded() ? null : after;
  }

  /** Takes in what came with a direct answer of the log, for a call that began at `startedAt` (R6, R20). */
  absorb(delta: ViewDelta, startedAt: number): void {
    if (!this.#view.apply(delta)) return;
    const usableUntil = startedAt + delta.leaseMs;
    if (usableUntil < this.#usableUntil) return; // leases only grow (R11)
    this.#usableUntil = usableUntil;
    this.#startedAt = startedAt;
    this.#dueAt = startedAt + delta.leaseMs * (DUE_FROM + (DUE_TO - DUE_FROM) * this.#random());
  }

  #hasReached(token: ReceiptToken): boolean {
    const position = this.#view.position;
    return position !== null && position.logId === token.logId && position.seq >= token.seq;
  }

  /** Joins the read under way, or begins one. A read that takes longer than a lease is given up: a new one may begin. */
  #read(behind: Behind): { done: Promise<void>; isNew: boolean; succeeded: () => boolean } {
    const startedAt = this.#clock.now();
    if (this.#reading && startedAt - this.#reading.startedAt < this.leaseMs) {
      return { done: this.#reading.done, isNew: false, succeeded: () => false };
    }
    let succeeded = false;
    const reading = { startedAt, done: Promise.resolve() };
    reading.done = this.#log
      .read(this.#view.position, this.leaseMs)
      .then(
        (delta) => {
          this.absorb(delta, startedAt);
          this.#failedUntil = 0;
          succeeded = true;
          this.#reporter.report({ kind: "log-read", purges: delta.purged.length });
        },
        (cause: unknown) => {
          this.#failedUntil = this.#clock.now() + this.leaseMs;
          this.#reporter.report({ kind: "log-failed", cause });
        },
      )
      .finally(() => {
        if (this.#reading === reading) this.#reading = null;
      });
    this.#reading = reading;
    behind.run(reading.done);
    return { done: reading.done, isNew: true, succeeded: () => succeeded };
  }

  async #waitFor(done: Promise<void>): Promise<void> {
    const wait = this.#clock.wait(this.leaseMs);
    const tooSlow = wait.over.then(() => {
      this.#failedUntil = this.#clock.now() + this.leaseMs;
    });
    await Promise.race([done, tooSlow]);
    wait.cancel();
  }
}
