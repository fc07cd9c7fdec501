import type { Clock } from "../../worker/ports/clock.ts";
import type { PurgeRecord } from "../../worker/ports/purge-log.ts";

/** More answers than this are not held at the same time. The others are given at once. */
const MAX_HELD = 1000;

/** A notice may be lost, and a machine leaves without one, so the log is asked again after this time. Milliseconds. */
const ASK_AGAIN_MS = 1000;

/** A purge, and in how many milliseconds it settles as far as is known now. */
export interface AuditedPurge {
  readonly record: PurgeRecord;
  readonly settlesInMs: number;
}

/** The part of the log in PostgreSQL that tells of purges. */
export interface SettlingLog {
  audited(seq: number): Promise<AuditedPurge | null>;
  /** Which of these purges have settled, also those that every machine has just confirmed. */
  settledOf(seqs: readonly number[]): Promise<readonly number[]>;
}

/** Answers about purges that are held until every machine has confirmed the purge, or its lease is over. */
export class WaitedPurges {
  readonly #log: SettlingLog;
  readonly #clock: Clock;
  /** Those who wait for a purge, by its number. */
  readonly #waiters = new Map<number, Set<PromiseWithResolvers<"settled">>>();
  #held = 0;
  #hasNews = false;
  #isLooking = false;
  #isClosed = false;
  #again: { cancel(): void } | null = null;

  constructor(log: SettlingLog, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /**
   * One purge by its number. If it has not settled, waits until it has, and at most for `waitMs`. Where the database cannot
   * be asked any more, the time alone decides.
   */
  async find(seq: number, waitMs: number): Promise<PurgeRecord | null> {
    let found = await this.#log.audited(seq);
    if (found === null || found.record.settled || waitMs <= 0 || this.#held >= MAX_HELD) return found?.record ?? null;
    if (this.#isClosed) throw closedError();
    const limit = this.#clock.wait(waitMs);
    const isOver = limit.over.then(() => "over" as const);
    const waiter = this.#wait(seq);
    try {
      for (;;) {
        const bound = this.#clock.wait(Math.max(1, found.settlesInMs));
        const isBound = bound.over.then(() => "bound" as const);
        const because = await Promise.race([waiter.promise, isBound, isOver]).finally(() => bound.cancel());
        const now = await this.#log.audited(seq).catch(() => undefined);
        if (now === undefined) return because === "bound" ? settled(found.record) : found.record;
        if (now?.record.at !== found.record.at) return null; // another log has given its number to another purge (R13)
        if (now.record.settled || because === "over") return now.record;
        found = now;
      }
    } finally {
      limit.cancel();
      this.#forget(seq, waiter);
    }
  }

  /** A machine has confirmed purges. */
  noteConfirmed(): void {
    this.#hasNews = true;
    if (!this.#isLooking) void this.#look();
  }

  /** The answers that are held fail, and so do those that would be. */
  close(): void {
    this.#isClosed = true;
    for (const waiters of this.#waiters.values()) for (const { reject } of waiters) reject(closedError());
  }

  #wait(seq: number): PromiseWithResolvers<"settled"> {
    const waiter = Promise.withResolvers<"settled">();
    const others = this.#waiters.get(seq);
    if (others) others.add(waiter);
    else this.#waiters.set(seq, new Set([waiter]));
    this.#held++;
    this.noteConfirmed(); // the last confirmation may have come before
    this.#again ??= this.#askAgain();
    return waiter;
  }

  #forget(seq: number, waiter: PromiseWithResolvers<"settled">): void {
    const waiters = this.#waiters.get(seq)!;
    waiters.delete(waiter);
    this.#held--;
    if (waiters.size === 0) this.#waiters.delete(seq);
    if (this.#held > 0) return;
    this.#again?.cancel();
    this.#again = null;
  }

  #askAgain(): { cancel(): void } {
    const wait = this.#clock.wait(ASK_AGAIN_MS);
    void wait.over.then(() => {
      this.noteConfirmed();
      this.#again = this.#askAgain();
    });
    return wait;
  }

  /** Asks for all purges at once, and once more if a confirmation has come meanwhile. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    while (this.#hasNews && this.#held > 0) {
      this.#hasNews = false;
      const settled = await this.#log.settledOf([...this.#waiters.keys()]).catch(() => []);
      for (const seq of settled) for (const { resolve } of this.#waiters.get(seq) ?? []) resolve("settled");
    }
    this.#isLooking = false;
  }
}

function closedError(): Error {
  return new Error("the purge log was closed");
}

function settled({ waitsFor: _, ...record }: PurgeRecord): PurgeRecord {
  return { ...record, settled: true };
}
