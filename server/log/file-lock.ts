import { readFileSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { storageFault } from "./storage-error.ts";

/**
 * A lock on a file that ends with its process, however the process ends. Node has no call for file locks, but SQLite
 * takes them: `exclusive` for one holder, `shared` for many.
 */
export class FileLock {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** `null` if another holder has the lock. Throws if the file cannot be opened. */
  static take(path: string, kind: "exclusive" | "shared"): FileLock | null {
    const database = new DatabaseSync(path);
    try {
      database.exec(kind === "exclusive" ? "BEGIN EXCLUSIVE" : "BEGIN; SELECT * FROM sqlite_schema");
      return new FileLock(database);
    } catch (cause) {
      database.close();
      if (storageFault(cause) === "in-use") return null;
      throw cause;
    }
  }

  release(): void {
    this.#database.close();
  }
}

/** The processes that have a lock on a file. Only Linux tells, and not of processes in other containers. */
export function holdersOf(path: string): number[] {
  try {
    // `1: POSIX  ADVISORY  READ 4711 fe:01:123456 0 EOF`. The device is another one than that of the file on some file systems.
    const { ino } = statSync(path);
    const held = readFileSync("/proc/locks", "latin1").matchAll(/ POSIX +\S+ +\S+ +(\d+) +\w+:\w+:(\d+) /g);
    return [...new Set([...held].filter(([, , inode]) => Number(inode) === ino).map(([, pid]) => Number(pid)))];
  } catch {
    return [];
  }
}
