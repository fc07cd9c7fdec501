/** The most locks that are remembered. */
const MAX_LOCKS = 2_000;

/** Locks that are remembered for a while; if there are too many, the one that was remembered first goes first. */
export class RecentLocks {
  readonly #forMs: number;
  readonly #until = new Map<string, number>();

  constructor(forMs: number) {
    this.#forMs = forMs;
  }

  remember(lock: string, now: number): void {
    this.#until.delete(lock);
    this.#until.set(lock, now + this.#forMs);
    if (this.#until.size > MAX_LOCKS) this.#until.delete(this.#until.keys().next().value!);
  }

  has(lock: string, now: number): boolean {
    const until = this.#until.get(lock);
    return until !== undefined && now < until;
  }
}
