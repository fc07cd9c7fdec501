import { closeSync, existsSync, openSync, readSync, renameSync } from "node:fs";

/** What SQLite keeps beside a file. */
export const SQLITE_SUFFIXES = ["", "-wal", "-shm"];

const READ_BYTES = 1024 * 1024;

/** Renames a file of SQLite, and before it what is beside it, which the next file must not meet. The file is not open. */
export function setAside(path: string, newPath: string): void {
  for (const suffix of SQLITE_SUFFIXES.toReversed()) {
    if (existsSync(path + suffix)) renameSync(path + suffix, newPath + suffix);
  }
}

/** Reads a file of SQLite, and what is beside it, to the end. Throws as the file system does. The file is not open. */
export function readToTheEnd(path: string): void {
  const bytes = Buffer.allocUnsafe(READ_BYTES);
  for (const suffix of SQLITE_SUFFIXES) {
    if (!existsSync(path + suffix)) continue;
    const file = openSync(path + suffix, "r");
    try {
      while (readSync(file, bytes) > 0);
    } finally {
      closeSync(file);
    }
  }
}
