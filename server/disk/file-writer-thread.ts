import { closeSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { CacheFolder } from "./cache-folder.ts";
import { filesOf } from "./file-batch.ts";

/** What the thread works with. */
export interface ThreadStart {
  /** The path of the cache's folder. */
  readonly folder: string;
  /** The name of each file until it is whole. */
  readonly draft: string;
}

/** Why a file was not written: the failed call, as `node:fs` tells it. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code: string | undefined;
  readonly errno: number | undefined;
  readonly syscall: string | undefined;
}

const { folder: path, draft } = workerData as ThreadStart;
const folder = CacheFolder.at(path);

parentPort!.on("message", (batch: Uint8Array<ArrayBuffer>) => {
  const bytes = Buffer.from(batch.buffer, 0, batch.length);
  const failures: Failure[] = [];
  for (const { name, start, end } of filesOf(bytes)) {
    try {
      write(folder.pathOf(name), bytes, start, end);
    } catch (cause) {
      const { message, code, errno, syscall } = cause as NodeJS.ErrnoException;
      failures.push({ name, message, code, errno, syscall });
    }
  }
  parentPort!.postMessage(failures);
});

function write(path: string, bytes: Uint8Array, start: number, end: number): void {
  const fd = openSync(draft, "w");
  try {
    try {
      // The system may write only a part of the bytes at a time.
      for (let at = start; at < end; ) at += writeSync(fd, bytes, at, end - at);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, path);
  } catch (cause) {
    dropDraft();
    throw cause;
  }
}

/** A full disk needs the room of the half-written file. If it cannot be deleted, the next file overwrites it. */
function dropDraft(): void {
  try {
    unlinkSync(draft);
  } catch {
    // Reports the first failure.
  }
}
