import type { Clock, Wait } from "../worker/ports.ts";

interface Timer {
  readonly at: number;
  /** Of timers for one instant, the one that was set first rings first. */
  readonly order: number;
  readonly wake: () => void;
  isCancelled: boolean;
}

/** Time that goes from one timer to the next, however long nothing happens: weeks pass in seconds. */
export class VirtualTime implements Clock {
  #now = 0;
  #order = 0;
  /** A heap: none rings before the one above it, at half its place. */
  readonly #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  wait(ms: number): Wait {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#set(this.#now + ms, resolve);
    return {
      over: promise,
      cancel: () => {
        timer.isCancelled = true;
      },
    };
  }

  /** Does something at an instant. */
  at(instant: number, wake: () => void): void {
    this.#set(instant, wake);
  }

  /** Goes on until an instant. */
  async runUntil(end: number): Promise<void> {
    for (;;) {
      const next = this.#timers[0];
      if (!next || next.at > end) break;
      this.#removeFirst();
      if (next.isCancelled) continue;
      this.#now = next.at;
      next.wake();
      await promisesSettled();
    }
    this.#now = end;
  }

  #set(at: number, wake: () => void): Timer {
    const timer = { at, order: this.#order++, wake, isCancelled: false };
    const timers = this.#timers;
    let place = timers.push(timer) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!ringsBefore(timer, timers[above]!)) break;
      timers[place] = timers[above]!;
      place = above;
    }
    timers[place] = timer;
    return timer;
  }

  #removeFirst(): void {
    const timers = this.#timers;
    const last = timers.pop()!;
    if (timers.length === 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= timers.length) break;
      if (below + 1 < timers.length && ringsBefore(timers[below + 1]!, timers[below]!)) below++;
      if (!ringsBefore(timers[below]!, last)) break;
      timers[place] = timers[below]!;
      place = below;
    }
    timers[place] = last;
  }
}

function ringsBefore(one: Timer, other: Timer): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** Lets every promise that is ready run on. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
