import type { Clock } from "../../worker/ports/clock.ts";

/** The readers that have not confirmed a purge yet; `null` while that is unknown. */
type Missing = () => readonly string[] | null;

/** A receipt that waits. */
export interface WaitingReceipt {
  /** Resolves to the missing readers once all of them are late, which may be none; to `null` if the wait was ended. */
  readonly late: Promise<readonly string[] | null>;
  end(): void;
}

interface Waiting {
  readonly missing: Missing;
  readonly end: (late: readonly string[] | null) => void;
  isOver: boolean;
}

/**
 * Receipts that wait for readers to confirm a purge, for a short time (R24). A reader that did not confirm in time is not
 * waited for again until it is forgiven.
 */
export class TimelyConfirmations {
  readonly #clock: Clock;
  readonly #withinMs: number;
  readonly #late = new Set<string>();
  readonly #waiting = new Set<Waiting>();

  constructor(clock: Clock, withinMs: number) {
    this.#clock = clock;
    this.#withinMs = withinMs;
  }

  wait(missing: Missing): WaitingReceipt {
    const { promise, resolve } = Promise.withResolvers<readonly string[] | null>();
    const time = this.#clock.wait(this.#withinMs);
    const end = (late: readonly string[] | null) => {
      this.#waiting.delete(waiting);
      time.cancel();
      resolve(late);
    };
    const waiting: Waiting = { missing, end, isOver: false };
    this.#waiting.add(waiting);
    void time.over.then(() => {
      waiting.isOver = true;
      this.decide();
    });
    this.decide();
    return { late: promise, end: () => end(null) };
  }

  /** Receipts wait for the reader again. */
  forgive(reader: string): void {
    this.#late.delete(reader);
  }

  /** Ends the waits that need not go on. To be called when a reader has confirmed a purge, or has left. */
  decide(): void {
    for (const { missing, end, isOver } of this.#waiting) {
      const readers = missing();
      if (readers === null) continue;
      if (isOver) for (const reader of readers) this.#late.add(reader);
      if (readers.every((reader) => this.#late.has(reader))) end(readers);
    }
  }

  /** Ends all waits. */
  endAll(): void {
    for (const { end } of this.#waiting) end(null);
  }
}
