import type { Clock, Wait } from "../../worker/ports/clock.ts";

interface Timer {
  readonly at: number;
  /** Of two timers for the same instant, the one that was set first fires first. */
  readonly order: number;
  readonly wake: () => void;
  isCancelled: boolean;
}

/**
 * The clock of a discrete-event simulation. It jumps from one timer to the next, so weeks pass in seconds, and a heap
 * keeps hundreds of thousands of timers in order.
 *
 * It is not the `Scheduler` of the tests. That one searches for races: a seed picks which of the ready tasks runs next.
 * Here, events run strictly in the order of time, because the result is a figure, and no order is to be searched.
 */
export class DiscreteEventClock implements Clock {
  #now = 0;
  #order = 0;
  /** A binary heap: no timer fires before its parent, which stands at half its index. */
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

  /** Runs a callback at an instant. */
  at(instant: number, wake: () => void): void {
    this.#set(instant, wake);
  }

  /** Advances to an instant, and fires every timer on the way. */
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
      if (!firesBefore(timer, timers[above]!)) break;
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
      if (below + 1 < timers.length && firesBefore(timers[below + 1]!, timers[below]!)) below++;
      if (!firesBefore(timers[below]!, last)) break;
      timers[place] = timers[below]!;
      place = below;
    }
    timers[place] = last;
  }
}

function firesBefore(one: Timer, other: Timer): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** Lets every promise continue that is ready to. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
