import { closeSync, openSync, renameSync, writeSync } from "node:fs";
import { parentPort } from "node:worker_threads";

/** Files to be written, each whole or not at all. */
export interface Batch {
  readonly files: readonly WrittenFile[];
  /** The bytes of all files, one after the other. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface WrittenFile {
  readonly draft: string;
  readonly path: string;
  readonly byteLength: number;
}

/** Why the file at this place of the batch was not written: the failed call, as `node:fs` tells it. */
export interface Failure {
  readonly index: number;
  readonly message: string;
  readonly code: string | undefined;
  readonly syscall: string | undefined;
}

parentPort!.on("message", ({ files, bytes }: Batch) => {
  const failures: Failure[] = [];
  let at = 0;
  for (const [index, file] of files.entries()) {
    try {
      write(file, bytes, at);
    } catch (cause) {
      const { message, code, syscall } = cause as NodeJS.ErrnoException;
      failures.push({ index, message, code, syscall });
    }
    at += file.byteLength;
  }
  parentPort!.postMessage(failures);
});

function write({ draft, path, byteLength }: WrittenFile, bytes: Uint8Array, start: number): void {
  const fd = openSync(draft, "wx");
  try {
    const end = start + byteLength;
    // The system may write only a part of the bytes at a time.
    for (let at = start; at < end; ) at += writeSync(fd, bytes, at, end - at);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, path);
}
