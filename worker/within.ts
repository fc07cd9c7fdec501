import type { Clock } from "./ports/clock.ts";

/** Waits for work, but at most for this many milliseconds: the outcome is then that of `late`, and the work goes on. */
export async function within<T, L>(
  clock: Pick<Clock, "wait">,
  ms: number,
  work: Promise<T>,
  late: () => L | Promise<L>,
): Promise<T | L> {
  const wait = clock.wait(ms);
  try {
    return await Promise.race([work, wait.over.then(late)]);
  } finally {
    wait.cancel();
  }
}
