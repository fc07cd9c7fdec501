/** An address that could not be connected to comes after the others for this long. Milliseconds. */
const AVOIDED_MS = 10_000;

/** A name may lead to other addresses each time, so the oldest failures are forgotten. */
const MOST_KEPT = 100;

/** Which of an origin's addresses took no connection when they were last tried. */
export class FailedAddresses {
  readonly #failedAt = new Map<string, number>();
  readonly #now: () => number;
  readonly #say: (line: string) => void;

  /** `now`: milliseconds. `say` gets a line for the owner's log. */
  constructor(now: () => number, say: (line: string) => void) {
    this.#now = now;
    this.#say = say;
  }

  /**
   * An address is tried now. Of one that has failed, a trial finds out whether it still does: the others go on to avoid it.
   * Returns whether this is one.
   */
  isTrial(address: string): boolean {
    const isTrial = this.#failedAt.has(address);
    if (isTrial) this.#failedAt.set(address, this.#now());
    return isTrial;
  }

  fails(address: string, why: string): void {
    if (!this.#failedAt.has(address)) {
      this.#say(`the origin's address ${address} takes no connection (${why}), so others are asked first`);
    }
    this.#failedAt.delete(address); // so that it is the newest
    this.#failedAt.set(address, this.#now());
    const [oldest] = this.#failedAt.keys();
    if (this.#failedAt.size > MOST_KEPT) this.#failedAt.delete(oldest!);
  }

  works(address: string): void {
    if (this.#failedAt.delete(address)) this.#say(`the origin's address ${address} answers again`);
  }

  /** Those that have just failed come after the others. */
  inOrder<T>(addresses: readonly T[], addressIn: (each: T) => string): readonly T[] {
    if (this.#failedAt.size === 0) return addresses;
    const now = this.#now();
    // A failure far ahead is one from before the clock was set back.
    const isAvoided = (each: T) =>
      Number(Math.abs(now - (this.#failedAt.get(addressIn(each)) ?? Number.NEGATIVE_INFINITY)) < AVOIDED_MS);
    return addresses.toSorted((a, b) => isAvoided(a) - isAvoided(b));
  }
}
