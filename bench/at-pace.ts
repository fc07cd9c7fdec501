import { setTimeout as wait } from "node:timers/promises";

export interface Pace {
  readonly perSecond: number;
  readonly times: number;
  /** Ends it sooner. */
  readonly isOver: () => boolean;
}

/** Does a piece of work again and again, at most so often in a second, and never two at a time. */
export async function atPace(
  { perSecond, times, isOver }: Pace,
  work: (number: number) => Promise<void>,
): Promise<void> {
  let dueAt = performance.now();
  for (let number = 0; number < times && !isOver(); number++) {
    const earlyMs = dueAt - performance.now();
    if (earlyMs > 1) await wait(earlyMs);
    dueAt = Math.max(dueAt, performance.now()) + 1000 / perSecond; // What is late is not made up for.
    await work(number);
  }
}
