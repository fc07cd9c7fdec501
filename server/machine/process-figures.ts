import { readdir } from "node:fs/promises";
import type { ProcessStats } from "../../wire/machine-stats.ts";
import { mayOpenFiles } from "../startup/connection-limit.ts";

/** What a process knows of itself. */
export type ProcessFigures = Omit<ProcessStats, "name" | "isDraining">;

/** The figures of this process, at this moment. Never rejects. */
export async function processFigures(worker: ProcessFigures["worker"] = null): Promise<ProcessFigures> {
  return {
    pid: process.pid,
    residentBytes: process.memoryUsage.rss(),
    openFiles: await openFiles(),
    maxOpenFiles: mayOpenFiles(),
    worker,
  };
}

/** One of them is that of the folder itself, while it is read. */
async function openFiles(): Promise<number | null> {
  try {
    return (await readdir("/proc/self/fd")).length - 1;
  } catch {
    return null; // a system without /proc, or no file is left to open the folder with
  }
}
