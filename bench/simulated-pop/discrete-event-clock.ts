import { Heap } from "../../tools/counting/heap.ts";
import type { Clock, Wait } from "../../worker/ports/clock.ts";

interface Timer {
  readonly at: number;
  /** If two timers have the same time, the one that was set first fires first. */
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
  readonly #timers = new Heap(firesBefore);

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
      const next = this.#timers.first;
      if (!next || next.at > end) break;
      this.#timers.removeFirst();
      if (next.isCancelled) continue;
      this.#now = next.at;
      next.wake();
      await promisesSettled();
    }
    this.#now = end;
  }

  #set(at: number, wake: () => void): Timer {
    const timer = { at, order: this.#order++, wake, isCancelled: false };
    this.#timers.add(timer);
    return timer;
  }
}

function firesBefore(one: Timer, other: Timer): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** Lets every promise continue that is ready to. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
