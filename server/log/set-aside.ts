import { existsSync, renameSync } from "node:fs";

/** What SQLite keeps beside a file. */
export const SQLITE_SUFFIXES = ["", "-wal", "-shm"];

/** Renames a file of SQLite, with what is beside it. The file is not open. */
export function setAside(path: string, newPath: string): void {
  for (const suffix of SQLITE_SUFFIXES) if (existsSync(path + suffix)) renameSync(path + suffix, newPath + suffix);
}
