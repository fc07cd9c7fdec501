import type { Clock } from "../../worker/ports/clock.ts";
import type { ViewDelta } from "../../worker/purges/log/log-contract.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import { within } from "../../worker/within.ts";

/**
 * How long a receipt waits for the workers' confirmations, in milliseconds. A worker confirms within a few; one that
 * takes longer hangs or has lost its connection, and the lease then bounds what it can serve (R6).
 */
export const CONFIRM_WITHIN_MS = 250;

/** A reader that could not confirm when it was to be admitted, because the log failed, is asked again after this time. */
const ASK_AGAIN_MS = 1000;

/** The way to push to one reader. */
export interface PushChannel {
  push(delta: ViewDelta): void;
}

/** The part of the log that pushing needs. Nothing here throws. */
export interface PushedLog {
  head(): Stamp;
  /** `null` if it cannot be read. */
  changesSince(position: Stamp | null): ViewDelta | null;
  settleUpTo(position: Stamp): void;
}

/** A process that answers visitors, or is about to. */
interface Reader {
  channel: PushChannel | null;
  /** What its view has reached. A view only grows, so that stays true when the connection is lost. */
  confirmed: Stamp | null;
  /** Up to where it has been sent purges over the current connection. */
  sent: Stamp | null;
  /** It may answer visitors, and so may hold a lease. */
  isAdmitted: boolean;
  /** It did not confirm in time. It is not waited for again until it does. */
  isLate: boolean;
}

interface Waiter {
  readonly position: Stamp;
  readonly resolve: (hasSettled: boolean) => void;
}

/**
 * The readers of the log, of which it knows every one, and what each has confirmed (R24). A purge has settled once every
 * reader that may answer visitors has confirmed it. A reader whose process has ended holds no lease any more.
 */
export class LogReaders {
  readonly #log: PushedLog;
  readonly #clock: Clock;
  readonly #hasStrangers: () => boolean;
  readonly #confirmWithinMs: number;
  readonly #readers = new Map<string, Reader>();
  readonly #admissions = new Map<string, () => void>();
  #waiters: Waiter[] = [];
  #settled: Stamp | null = null;
  #areDismissed = false;

  /** `hasStrangers`: whether a reader may be alive that this log does not know. */
  constructor(log: PushedLog, clock: Clock, hasStrangers: () => boolean, confirmWithinMs = CONFIRM_WITHIN_MS) {
    this.#log = log;
    this.#clock = clock;
    this.#hasStrangers = hasStrangers;
    this.#confirmWithinMs = confirmWithinMs;
  }

  /** A process is about to start. Until it is admitted, it must not answer visitors. */
  expect(name: string): void {
    this.#readers.set(name, { channel: null, confirmed: null, sent: null, isAdmitted: false, isLate: false });
  }

  /** A process that answers visitors already: it was a reader of this log while another process kept it. */
  adopt(name: string): void {
    this.#readers.set(name, { channel: null, confirmed: null, sent: null, isAdmitted: true, isLate: false });
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
    for (const { resolve } of this.#waiters.splice(0)) resolve(false);
  }

  /** A reader has connected. Its view has reached `position`, if it has one. Returns false if nobody expects it. */
  connect(name: string, channel: PushChannel, position: Stamp | null): boolean {
    const reader = this.#readers.get(name);
    if (reader === undefined) return false;
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
    const reader = this.#readers.get(name);
    if (reader === undefined) return;
    const { confirmed } = reader;
    if (confirmed?.logId === position.logId && confirmed.seq >= position.seq) return;
    reader.confirmed = position;
    if (this.#hasReached(reader, this.#log.head())) reader.isLate = false;
    this.#decide();
  }

  /** Sends each reader what it lacks. Resolves to whether everybody who may answer visitors has confirmed it in time. */
  async push(position: Stamp): Promise<boolean> {
    if (this.#areDismissed) return false;
    for (const reader of this.#readers.values()) this.#pushTo(reader, false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { position, resolve };
    this.#waiters.push(waiter);
    const wait = this.#clock.wait(this.#confirmWithinMs);
    void wait.over.then(() => this.#giveUp(waiter));
    this.#decide();
    const hasSettled = await promise;
    wait.cancel();
    return hasSettled;
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

  #hasReached({ confirmed }: Reader, position: Stamp): boolean {
    return confirmed?.logId === position.logId && confirmed.seq >= position.seq;
  }

  /** Ends the waits that need not, or cannot, go on. */
  #decide(): void {
    if (this.#areDismissed) return;
    for (const [name, resolve] of this.#admissions) {
      const reader = this.#readers.get(name)!;
      if (!this.#hasReached(reader, this.#log.head())) continue;
      reader.isAdmitted = true;
      this.#admissions.delete(name);
      resolve();
    }
    const admitted = [...this.#readers.values()].filter(({ isAdmitted }) => isAdmitted);
    this.#settle(admitted);
    this.#waiters = this.#waiters.filter(({ position, resolve }) => {
      const missing = admitted.filter((reader) => !this.#hasReached(reader, position));
      if (missing.some(({ isLate }) => !isLate)) return true;
      resolve(missing.length === 0 && !this.#hasStrangers());
      return false;
    });
  }

  #settle(admitted: readonly Reader[]): void {
    const { logId, seq } = this.#log.head();
    if (admitted.some(({ confirmed }) => confirmed?.logId !== logId)) return;
    const lowest = Math.min(seq, ...admitted.map(({ confirmed }) => confirmed!.seq));
    const isNews = lowest > (this.#settled?.logId === logId ? this.#settled.seq : 0);
    if (!isNews || this.#hasStrangers()) return;
    this.#settled = { logId, seq: lowest };
    this.#log.settleUpTo(this.#settled);
  }

  #giveUp(waiter: Waiter): void {
    for (const reader of this.#readers.values()) {
      if (reader.isAdmitted && !this.#hasReached(reader, waiter.position)) reader.isLate = true;
    }
    this.#decide();
  }
}
