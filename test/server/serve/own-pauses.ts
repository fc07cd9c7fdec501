/** A server that ends lets idle connections go after a second: a client that did not run for as long may find its own gone. */
const LONG_MS = 500;
/** For so long after that it may meet what happened meanwhile. */
const SINCE_MS = 5_000;
const LOOK_EVERY_MS = 50;

/** Whether this process, whose clients keep connections, did not run for a while. */
export class OwnPauses {
  #lookedAt = performance.now();
  #pausedAt = Number.NEGATIVE_INFINITY;
  readonly #looks = setInterval(() => this.#look(), LOOK_EVERY_MS);

  hasJustPaused(): boolean {
    this.#look();
    return performance.now() - this.#pausedAt < SINCE_MS;
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
