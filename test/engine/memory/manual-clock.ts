import type { Clock, Wait } from "../../../worker/ports/clock.ts";

interface Timer {
  readonly at: number;
  readonly ring: () => void;
}

/** A clock beside real sockets that moves only when told. */
export class ManualClock implements Clock {
  readonly #timers = new Set<Timer>();
  #now: number;

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  /** How many wait for it. */
  get waits(): number {
    return this.#timers.size;
  }

  wait(ms: number): Wait {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer: Timer = { at: this.#now + ms, ring: resolve };
    this.#timers.add(timer);
    return { over: promise, cancel: () => this.#timers.delete(timer) };
  }

  /** Moves on. Each timer that rings on the way does so at its own time, and its work goes as far as it can at once. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.ring();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = end;
  }
}
