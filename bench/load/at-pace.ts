import { setTimeout as wait } from "node:timers/promises";

export interface Pace {
  readonly perSecond: number;
  readonly times: number;
  /** Ends the work early. */
  readonly isOver: () => boolean;
}

/** Repeats a piece of work at most `perSecond` times a second, and never two at a time. */
export async function atPace(
  { perSecond, times, isOver }: Pace,
  work: (number: number) => Promise<void>,
): Promise<void> {
  let dueAt = performance.now();
  for (let number = 0; number < times && !isOver(); number++) {
    const earlyMs = dueAt - performance.now();
    if (earlyMs > 1) await wait(earlyMs);
    dueAt = Math.max(dueAt, performance.now()) + 1000 / perSecond; // Lost time is not made up for.
    await work(number);
  }
}
