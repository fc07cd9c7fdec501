import { readdir } from "node:fs/promises";
import type { OriginQueueStats, ProcessStats, WorkerStats } from "../../wire/machine-stats.ts";
import { mayOpenFiles } from "../startup/connection-limit.ts";

/** What a process knows of itself. */
export interface ProcessFigures extends Omit<ProcessStats, "name" | "isDraining" | "worker"> {
  readonly worker: WorkerFigures | null;
}

/** What a worker knows in addition: `origins` has the queues of its sites, by their names. */
export interface WorkerFigures extends Omit<WorkerStats, "origin"> {
  readonly origins: Readonly<Record<string, OriginQueueStats>>;
}

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
