import type { Clock } from "#tidemark/internal";

interface Timer {
  readonly at: number;
  readonly resolve: () => void;
}

/** The time of the log. It advances when the next request is due, and fires the timers that are due by then. */
export class VirtualClock implements Clock {
  #now: number;
  readonly #timers = new Set<Timer>();

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  wait(ms: number) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = { at: this.#now + ms, resolve };
    this.#timers.add(timer);
    return { over: promise, cancel: () => void this.#timers.delete(timer) };
  }

  /**
   * Advances to an instant. An earlier one changes nothing: a log may be slightly out of order, but a clock may not.
   */
  goTo(at: number): void {
    if (at <= this.#now) return;
    this.#now = at;
    for (const timer of this.#timers) {
      if (timer.at > at) continue;
      this.#timers.delete(timer);
      timer.resolve();
    }
  }
}
