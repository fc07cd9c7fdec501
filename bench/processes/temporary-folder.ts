import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atExit } from "./at-exit.ts";

/** Runs work in an empty folder, which is removed afterwards, also when the bench is interrupted. */
export async function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-bench-"));
  const forgetExit = atExit(() => rmSync(folder, { recursive: true, force: true }));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    forgetExit();
  }
}
