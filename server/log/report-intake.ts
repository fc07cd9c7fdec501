/** Takes the workers' reports, and tells the owner once when that begins to fail, and once when it works again. */
export class ReportIntake {
  readonly #store: (report: string) => void;
  readonly #onCounts: (cause: unknown) => void;
  #fails = false;

  /** `onCounts`: called with the cause when reports cannot be stored any more, and with `null` once they are again. */
  constructor(store: (report: string) => void, onCounts: (cause: unknown) => void = () => undefined) {
    this.#store = store;
    this.#onCounts = onCounts;
  }

  /** Throws if the report cannot be stored. */
  take(report: string): void {
    try {
      this.#store(report);
    } catch (cause) {
      if (!this.#fails) this.#onCounts(cause);
      this.#fails = true;
      throw cause;
    }
    if (this.#fails) this.#onCounts(null);
    this.#fails = false;
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
}
