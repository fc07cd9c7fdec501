import type { Clock } from "../../ports/clock.ts";

/** How long reports are held, so that those of several isolates are written together: milliseconds. */
const HELD_MS = 30_000;

/** Writes what is held. */
interface LaterWrites {
  readonly clock: Pick<Clock, "wait">;
  /** Throws if it cannot be written. Its counts are then lost. */
  readonly write: () => void;
}

/** Takes isolates' reports, and tells the owner once when that begins to fail, and once when it works again. */
export class ReportIntake {
  /** Whether reports cannot be stored. */
  fails = false;
  readonly #store: (report: string) => void;
  readonly #onCounts: (cause: unknown) => void;
  readonly #later: LaterWrites | undefined;
  #isTimed = false;

  /**
   * `onCounts`: called with the cause when reports cannot be stored any more, and with `null` once they are again. `later`: `store`
   * only holds a report in memory, so that those of several isolates are written together. Default: it writes.
   */
  constructor(
    store: (report: string) => void,
    onCounts: (cause: unknown) => void = () => undefined,
    later?: LaterWrites,
  ) {
    this.#store = store;
    this.#onCounts = onCounts;
    this.#later = later;
  }

  /** Throws if the report cannot be stored. After a failure none is held before one was written. */
  take(report: string): void {
    this.#attempt(() => {
      this.#store(report);
      if (this.fails) this.#later?.write();
    });
    if (!this.#later || this.#isTimed) return;
    this.#isTimed = true;
    void this.#later.clock.wait(HELD_MS).over.then(() => {
      this.#isTimed = false;
      this.flush();
    });
  }

  /** Writes what is held. The owner is told if that fails. */
  flush(): void {
    if (this.fails) return; // no counts are held
    try {
      this.#attempt(() => this.#later!.write());
    } catch {
      // Told.
    }
  }

  /** What the reply to a read says of the report that came with it: a fault of the ledger must not keep purges from a reader. */
  outcomeOf(report: string | undefined): { readonly reportFailed?: true } {
    try {
      if (report !== undefined) this.take(report);
      return {};
    } catch {
      return { reportFailed: true };
    }
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (cause) {
      if (!this.fails) this.#onCounts(cause);
      this.fails = true;
      throw cause;
    }
    if (this.fails) this.#onCounts(null);
    this.fails = false;
  }
}
