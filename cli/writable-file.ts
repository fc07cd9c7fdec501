import { existsSync } from "node:fs";
import { open, rm } from "node:fs/promises";

/**
 * Rejects as a write to the file would, so that this is said before the work and not after it. Leaves no file where there
 * was none.
 */
export async function expectWritable(path: string): Promise<void> {
  const isThere = existsSync(path);
  await (await open(path, "a")).close();
  if (!isThere) await rm(path);
}
