import { closeSync, openSync, renameSync, writeSync } from "node:fs";
import { parentPort } from "node:worker_threads";

/** A file to be written, whole or not at all. */
export interface WrittenFile {
  readonly draft: string;
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Why the file at this place of the batch was not written: the failed call, as `node:fs` tells it. */
export interface Failure {
  readonly index: number;
  readonly message: string;
  readonly code: string | undefined;
  readonly syscall: string | undefined;
}

parentPort!.on("message", (batch: readonly WrittenFile[]) => {
  const failures: Failure[] = [];
  for (const [index, file] of batch.entries()) {
    try {
      write(file);
    } catch (cause) {
      const { message, code, syscall } = cause as NodeJS.ErrnoException;
      failures.push({ index, message, code, syscall });
    }
  }
  parentPort!.postMessage(failures);
});

function write({ draft, path, bytes }: WrittenFile): void {
  const fd = openSync(draft, "wx");
  try {
    // The system may write only a part of the bytes at a time.
    for (let at = 0; at < bytes.byteLength; ) at += writeSync(fd, bytes, at);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, path);
}
