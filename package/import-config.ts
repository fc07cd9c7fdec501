/** A config that has not loaded then is refused, so that it cannot keep later ones from being loaded: milliseconds. */
export const LOADS_WITHIN_MS = 30_000;

/** Why such a config is refused. */
export function loadsTooLong(withinMs: number): string {
  return `the file has not loaded within ${withinMs / 1000} s; it must not wait for anything, nor have very many routes`;
}

/**
 * Imports the module of a config. Throws what it throws, and an `Error` if it waits for too long, or for what never comes:
 * Node would end the process then, and name none of its files.
 */
export async function importConfig(url: string, withinMs = LOADS_WITHIN_MS): Promise<{ readonly default?: unknown }> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(new Error("an await in the file never ends"));
  process.once("beforeExit", giveUp);
  const timer = setTimeout(() => reject(new Error(loadsTooLong(withinMs))), withinMs).unref();
  try {
    return await Promise.race([import(url) as Promise<{ readonly default?: unknown }>, promise]);
  } finally {
    process.off("beforeExit", giveUp);
    clearTimeout(timer);
  }
}
