import type { Clock } from "../../ports/clock.ts";
import type { PurgeRecord } from "../../ports/purge-log.ts";
import type { LogStorage } from "./log-storage.ts";

/** More answers than this are not held at the same time. The others are given at once. */
const MAX_HELD = 1000;

/** Holds answers about purges until these have settled. */
export class HeldAnswers {
  readonly #log: Pick<LogStorage, "find">;
  readonly #clock: Clock;
  #held = 0;
  #news = Promise.withResolvers<void>();

  constructor(log: Pick<LogStorage, "find">, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** A purge may have settled, or be known to settle earlier. */
  noteSettled(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /** The answers that are held fail. */
  fail(cause: Error): void {
    this.#news.promise.catch(() => undefined); // an unhandled rejection would end the process
    this.#news.reject(cause);
  }

  /**
   * One purge by its number. If it has not settled, waits until it has, and at most for `waitMs`. While the log cannot be
   * asked, the time alone decides.
   */
  async find(seq: number, waitMs: number): Promise<PurgeRecord | null> {
    let news = this.#news.promise; // of before the log is asked, so that none is missed
    let found = await this.#log.find(seq);
    if (found === null || found.settled || waitMs <= 0 || this.#held >= MAX_HELD) return found;
    let bound = this.#clock.wait(found.settlesInMs);
    const limit = this.#clock.wait(waitMs);
    this.#held++;
    try {
      for (;;) {
        /** `false` after the limit, `undefined` after news. */
        const isBound = await Promise.race([news, bound.over.then(() => true), limit.over.then(() => false)]);
        news = this.#news.promise;
        let now: PurgeRecord | null;
        try {
          now = await this.#log.find(seq);
        } catch {
          if (isBound === undefined) continue;
          return isBound ? { ...found, settled: true, waitsFor: undefined } : found;
        }
        if (now?.at !== found.at) return null; // another log has given its number to another purge (R13)
        if (now.settled || isBound === false) return now;
        found = now;
        bound.cancel();
        bound = this.#clock.wait(found.settlesInMs);
      }
    } finally {
      this.#held--;
      bound.cancel();
      limit.cancel();
    }
  }
}
