import type { CrawlClock } from "./clock.ts";

/** The longest that a crawl waits because a site asks for it, by `Retry-After` or `Crawl-delay`. */
export const MAX_PAUSE_MS = 120_000;

/** When the next request may begin: one every `intervalMs`, and none during the site's Retry-After. */
export class Pace {
  readonly #clock: CrawlClock;
  #intervalMs: number;
  #nextAt = -Infinity;

  constructor(clock: CrawlClock, intervalMs: number) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  /** Resolves when the caller may send a request, or when the signal ends the wait. */
  async turn(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const now = this.#clock.now();
      if (this.#nextAt <= now) {
        this.#nextAt = now + this.#intervalMs;
        return;
      }
      await this.#clock.wait(this.#nextAt - now, signal);
    }
  }

  /** Lengthens the interval to at least this. */
  slowTo(intervalMs: number): void {
    this.#intervalMs = Math.max(this.#intervalMs, intervalMs);
  }

  /** Prevents requests from beginning for this long. */
  pauseFor(ms: number): void {
    this.#nextAt = Math.max(this.#nextAt, this.#clock.now() + ms);
  }
}
