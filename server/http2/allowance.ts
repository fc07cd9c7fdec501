/** A token bucket: how much a peer may do at once, and how much in the long run. */
export class Allowance {
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #at = 0;

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#left = burst;
  }

  /** Takes one token. Returns false if none is left. `now` is in milliseconds. */
  take(now: number): boolean {
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
