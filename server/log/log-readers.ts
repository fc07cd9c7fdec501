import type { Clock } from "../../worker/ports/clock.ts";
import type { ViewDelta } from "../../worker/purges/log/log-contract.ts";
import { Settlement } from "../../worker/purges/settlement/settlement.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import { within } from "../../worker/within.ts";
import { TimelyConfirmations } from "./timely-confirmations.ts";

/**
 * How long a receipt waits for the workers' confirmations, in milliseconds. A worker confirms within a few; one that
 * takes longer hangs or has lost its connection, and the lease then bounds what it can serve (R6).
 */
export const CONFIRM_WITHIN_MS = 250;

/** If the log failed when a reader was about to be admitted, the reader is asked again after this time. */
const ASK_AGAIN_MS = 1000;

/** The way to push to one reader. */
export interface PushChannel {
  push(delta: ViewDelta): void;
}

/** The part of the log that pushing uses. Its functions never throw. */
export interface PushedLog {
  head(): Stamp;
  /** `null` if it cannot be read. */
  changesSince(position: Stamp | null): ViewDelta | null;
  settleUpTo(position: Stamp): void;
}

/** A process that answers visitors, or is about to. */
interface Reader {
  channel: PushChannel | null;
  /** The last position that was sent over the current connection. */
  sent: Stamp | null;
  /** It may answer visitors, and so may hold a lease. */
  isAdmitted: boolean;
}

/** A process may use what it has read from when it says that it answers visitors until it ends. */
const UNTIL_IT_ENDS = Number.POSITIVE_INFINITY;
const NOT_YET = Number.NEGATIVE_INFINITY;

/**
 * All readers of the log, and what each has confirmed (R24). A purge has settled once every reader that may answer
 * visitors has confirmed it. A reader whose process has ended no longer holds a lease.
 */
export class LogReaders {
  readonly #log: PushedLog;
  readonly #clock: Clock;
  readonly #hasStrangers: () => boolean;
  readonly #settlement = new Settlement();
  readonly #inTime: TimelyConfirmations;
  readonly #readers = new Map<string, Reader>();
  readonly #admissions = new Map<string, () => void>();
  #settled: Stamp | null = null;
  #areDismissed = false;

  /** `hasStrangers`: whether a reader may be alive that this log does not know. */
  constructor(log: PushedLog, clock: Clock, hasStrangers: () => boolean, confirmWithinMs = CONFIRM_WITHIN_MS) {
    this.#log = log;
    this.#clock = clock;
    this.#hasStrangers = hasStrangers;
    this.#inTime = new TimelyConfirmations(clock, confirmWithinMs);
  }

  /** A process is about to start. Until it is admitted, it must not answer visitors. */
  expect(name: string): void {
    this.#add(name, false);
  }

  /** Adds a process that answers visitors already, because it read this log while another process kept it. */
  adopt(name: string): void {
    this.#add(name, true);
  }

  /**
   * Resolves once the reader has confirmed the head; rejects if its process has ended. Only then may it answer visitors:
   * without a view it could serve what was fetched less than a lease ago (R8), and a purge that has settled without it may
   * have ended that.
   */
  async admit(name: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const reader = this.#readers.get(name);
    if (reader === undefined) throw new Error(`${name} has ended`);
    this.#admissions.set(name, resolve);
    this.#decide();
    while (!reader.isAdmitted && this.#readers.has(name)) {
      this.#pushTo(reader, true);
      await within(this.#clock, ASK_AGAIN_MS, promise, () => undefined);
    }
    if (!reader.isAdmitted) throw new Error(`${name} has ended`);
  }

  /** The reader's process has ended. */
  dismiss(name: string): void {
    this.#readers.delete(name);
    this.#settlement.leave(name);
    this.#inTime.forgive(name);
    this.#admissions.get(name)?.();
    this.#admissions.delete(name);
    this.#decide();
  }

  /**
   * Another process keeps the log from here on: nobody is admitted by this one any more, and nothing settles, because the
   * readers that go on are not known here. Calls of the log may still be under way.
   */
  dismissAll(): void {
    this.#areDismissed = true;
    this.#readers.clear();
    for (const resolve of this.#admissions.values()) resolve();
    this.#admissions.clear();
    this.#inTime.endAll();
  }

  /**
   * A reader has connected. Its view has reached `position`, if it has one. One that is not known gets no pushes and is not
   * waited for, because receipts settle by the lease while it lives. Returns false if there can be none.
   */
  connect(name: string, channel: PushChannel, position: Stamp | null): boolean {
    const reader = this.#readers.get(name);
    if (reader === undefined) return this.#hasStrangers();
    reader.channel = channel;
    reader.sent = position;
    this.#pushTo(reader, this.#admissions.has(name));
    if (position !== null) this.confirm(name, position);
    return true;
  }

  disconnect(name: string, channel: PushChannel): void {
    const reader = this.#readers.get(name);
    if (reader?.channel === channel) reader.channel = null;
  }

  /** The reader's view has reached this position. */
  confirm(name: string, position: Stamp): void {
    if (!this.#readers.has(name) || this.#settlement.hasConfirmed(name, position)) return;
    this.#settlement.confirm(name, position);
    if (this.#settlement.hasConfirmed(name, this.#log.head())) this.#inTime.forgive(name);
    this.#decide();
  }

  /**
   * Sends each reader the purges that it lacks. Resolves to whether all readers that may answer visitors have confirmed
   * them in time.
   */
  async push(position: Stamp): Promise<boolean> {
    if (this.#areDismissed) return false;
    for (const reader of this.#readers.values()) this.#pushTo(reader, false);
    const { late } = this.#inTime.wait(() => this.#settlement.unconfirmed(position, this.#clock.now()));
    this.#settle();
    return (await late)?.length === 0 && !this.#hasStrangers();
  }

  #add(name: string, isAdmitted: boolean): void {
    this.#readers.set(name, { channel: null, sent: null, isAdmitted });
    this.#settlement.leave(name); // an earlier process of the same name
    this.#settlement.join(name, isAdmitted ? UNTIL_IT_ENDS : NOT_YET, this.#clock.now());
    this.#inTime.forgive(name);
  }

  #pushTo(reader: Reader, evenIfNothingIsNew: boolean): void {
    const head = this.#log.head();
    const { channel, sent } = reader;
    if (channel === null) return;
    const lacksNothing = sent?.logId === head.logId && sent.seq === head.seq;
    if (lacksNothing && !evenIfNothingIsNew) return;
    // A reader without a view cannot take in a push, and reads the log when it gets one.
    const delta = this.#log.changesSince(sent ?? head);
    if (delta === null) return;
    channel.push(delta);
    reader.sent = head;
  }

  /** Ends the waits that are no longer needed or possible. */
  #decide(): void {
    if (this.#areDismissed) return;
    for (const [name, resolve] of this.#admissions) {
      if (!this.#settlement.hasConfirmed(name, this.#log.head())) continue;
      this.#readers.get(name)!.isAdmitted = true;
      this.#settlement.join(name, UNTIL_IT_ENDS, this.#clock.now());
      this.#admissions.delete(name);
      resolve();
    }
    this.#settle();
    this.#inTime.decide();
  }

  #settle(): void {
    const head = this.#log.head();
    const seq = this.#settlement.confirmedUpTo(head, this.#clock.now());
    const isNews = seq > (this.#settled?.logId === head.logId ? this.#settled.seq : 0);
    if (!isNews || this.#hasStrangers()) return;
    this.#settled = { logId: head.logId, seq };
    this.#log.settleUpTo(this.#settled);
  }
}
