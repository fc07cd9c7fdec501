import { systemClock } from "../../server/system-clock.ts";
import { within } from "../../worker/within.ts";

/** Long enough for others to get on with what is waited for, and short beside what a process needs to start. */
const LOOK_EVERY_MS = 10;

/** What takes longer hangs. It is less than a test may take, so that the test says for what it waited. */
const GIVE_UP_AFTER_MS = 50_000;

/** Resolves once that is so. It looks from time to time, so that other processes have the processor meanwhile. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(`this did not become true in ${GIVE_UP_AFTER_MS} ms: ${isSo}`);
    await breath();
  }
}

/** What that resolves to. Rejects if it hangs. `waited`: what was waited for, in words. */
export function inTime<T>(done: Promise<T>, waited: () => string): Promise<T> {
  return within(systemClock, GIVE_UP_AFTER_MS, done, () => {
    throw new Error(`in ${GIVE_UP_AFTER_MS} ms ${waited()}`);
  });
}

/** Between two looks, or two requests of a visitor: a loop without it takes the processor from what it waits for. */
export function breath(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}
