/**
 * Imports the module of a config. Throws what it throws, and an `Error` if it waits for what never comes: Node would end the
 * process then, and name none of its files.
 */
export async function importConfig(url: string): Promise<{ readonly default?: unknown }> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(new Error("an await in the file never ends"));
  process.once("beforeExit", giveUp);
  try {
    return await Promise.race([import(url) as Promise<{ readonly default?: unknown }>, promise]);
  } finally {
    process.off("beforeExit", giveUp);
  }
}
