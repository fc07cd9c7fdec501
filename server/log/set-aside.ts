import { existsSync, renameSync } from "node:fs";

/** What SQLite keeps beside a file. */
export const SQLITE_SUFFIXES = ["", "-wal", "-shm"];

/** Renames a file of SQLite, and before it what is beside it, which the next file must not meet. The file is not open. */
export function setAside(path: string, newPath: string): void {
  for (const suffix of SQLITE_SUFFIXES.toReversed()) {
    if (existsSync(path + suffix)) renameSync(path + suffix, newPath + suffix);
  }
}
