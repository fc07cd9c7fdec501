import type { Clock } from "../../ports/clock.ts";
import type { PurgeRecord } from "../../ports/purge-log.ts";

/** More answers than this are not held at the same time. The others are given at once. */
const MAX_HELD = 1000;

/** The part of the log that tells of one purge. */
export interface AuditedLog {
  find(seq: number): PurgeRecord | null;
  /** When the purge has settled, as far as is known now: epoch milliseconds of the log's clock. */
  settlesAt(seq: number): number;
}

/** Holds answers about purges until these have settled. */
export class HeldAnswers {
  readonly #log: AuditedLog;
  readonly #clock: Clock;
  #held = 0;
  #settled = Promise.withResolvers<void>();

  constructor(log: AuditedLog, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** A purge has settled, or is known to settle earlier. */
  noteSettled(): void {
    this.#settled.resolve();
    this.#settled = Promise.withResolvers();
  }

  /** One purge by its number. If it has not settled, waits until it has, and at most for `waitMs`. */
  async find(seq: number, waitMs: number): Promise<PurgeRecord | null> {
    const record = this.#log.find(seq);
    if (waitMs <= 0 || this.#held >= MAX_HELD || !isUnsettled(record)) return record;
    const limit = this.#clock.wait(waitMs);
    let isOver = false;
    const over = limit.over.then(() => {
      isOver = true;
    });
    this.#held++;
    try {
      for (;;) {
        const settles = this.#clock.wait(Math.min(Math.max(1, this.#log.settlesAt(seq) - this.#clock.now()), waitMs));
        await Promise.race([settles.over, this.#settled.promise, over]);
        settles.cancel();
        const found = this.#log.find(seq);
        if (isOver || !isUnsettled(found)) return found;
      }
    } finally {
      this.#held--;
      limit.cancel();
    }
  }
}

function isUnsettled(record: PurgeRecord | null): boolean {
  return record?.settled === false;
}
