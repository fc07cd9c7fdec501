/** Long enough for others to get on with what is waited for, and short beside what a process needs to start. */
const LOOK_EVERY_MS = 10;

/** Resolves once that is so. It looks from time to time, so that other processes have the processor meanwhile. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await breath();
}

/** Between two looks, or two requests of a visitor: a loop without it takes the processor from what it waits for. */
export function breath(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}
