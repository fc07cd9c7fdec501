/** A server that ends lets idle connections go after a second: a client that did not run for as long may find its own gone. */
const LONG_MS = 500;
/** Within this time after that it may meet what happened meanwhile. */
const SINCE_MS = 5_000;
const LOOK_EVERY_MS = 50;

/** Whether this process, whose clients keep connections, did not run for a while. */
export class OwnPauses {
  #lookedAt = performance.now();
  #pausedAt = Number.NEGATIVE_INFINITY;
  readonly #looks = setInterval(() => this.#look(), LOOK_EVERY_MS);

  /** Resolves to the answer, or to `null` if asking failed just after a pause: the connection was idle meanwhile. */
  async orNull<T>(asked: Promise<T>): Promise<T | null> {
    try {
      return await asked;
    } catch (cause) {
      this.#look();
      if (performance.now() - this.#pausedAt >= SINCE_MS) throw cause;
      return null;
    }
  }

  stop(): void {
    clearInterval(this.#looks);
  }

  #look(): void {
    const now = performance.now();
    if (now - this.#lookedAt > LONG_MS) this.#pausedAt = now;
    this.#lookedAt = now;
  }
}
