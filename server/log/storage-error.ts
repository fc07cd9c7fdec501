import { closeSync, existsSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OwnerError } from "../../package/owner-error.ts";
import { failureCode } from "../failure-code.ts";
import { fullInWords } from "../full-disk.ts";
import { nearestExisting } from "../make-folders.ts";

/** Why the log's file cannot be used. */
export type StorageFault = "full" | "read-only" | "in-use" | "damaged" | "removed" | "replaced" | "failed";

/** SQLite's primary result codes, https://www.sqlite.org/rescode.html. */
const FAULTS: ReadonlyMap<number, StorageFault> = new Map([
  [1, "damaged"], // SQLITE_ERROR: the statements here fail so only where the tables are not those of this program
  [5, "in-use"], // SQLITE_BUSY
  [6, "in-use"], // SQLITE_LOCKED
  [8, "read-only"], // SQLITE_READONLY
  [11, "damaged"], // SQLITE_CORRUPT
  [13, "full"], // SQLITE_FULL
  [26, "damaged"], // SQLITE_NOTADB
]);

/** SQLITE_IOERR and SQLITE_CANTOPEN, which say nothing of why, such as of a quota that is used up. */
const VAGUE: ReadonlySet<number | null> = new Set([10, 14]);

/** An extended code holds its primary code in the low byte. */
const PRIMARY = 0xff;

/** The errors of the file system, for the folder and for files that SQLite does not write. */
const SYSTEM_FAULTS: Readonly<Record<string, StorageFault>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EROFS: "read-only",
  EACCES: "read-only",
  EPERM: "read-only",
};

/** A log needs no more than this to be opened, and to take a purge. */
const PROBE_BYTES = 256 * 1024;

/**
 * The errors of a disk that takes no writes. Other errors are mistakes of the owner, such as a folder of another user.
 */
const REFUSALS: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EROFS", "EIO"]);

const WORDS: Readonly<Record<Exclude<StorageFault, "full">, string>> = {
  "read-only": "it cannot be written",
  "in-use": "another process, such as sqlite3 or a backup, has locked its .sqlite file and must end",
  damaged: "it is damaged",
  removed: "its file was removed while the server ran; restart the server, which then fetches every page again",
  replaced:
    "another file was put in its place while the server ran; restart the server, which then fetches every page again",
  failed: "it cannot be used",
};

/** The file of the purge log, or its folder, cannot be used. */
export class StorageError extends OwnerError {
  override readonly name = "StorageError";
  readonly fault: StorageFault;

  constructor(path: string, fault: StorageFault, cause: unknown) {
    const detail = cause instanceof Error ? ` (${cause.message})` : "";
    const words = fault === "full" ? fullInWords(path, cause) : WORDS[fault];
    super(`The purge log in ${path}: ${words}${detail}.`, { cause });
    this.fault = fault;
  }
}

/** Throws a `StorageError` if this user may not write one of these files in a folder that is there. Writes nothing. */
export function expectWritableFiles(folder: string, names: readonly string[]): void {
  for (const path of names.map((name) => join(folder, name)).filter((each) => existsSync(each))) {
    try {
      closeSync(openSync(path, "r+"));
    } catch (cause) {
      throw new StorageError(folder, storageFault(cause) ?? "failed", cause);
    }
  }
}

/**
 * Whether a server starts though it cannot use the log in a folder, with another one in memory until it can: mistakes of the
 * owner, and logs that others use, keep it from starting, unless the log is one of several.
 */
export function mayStandIn(error: unknown, folder: string, oneOfSeveral: boolean): boolean {
  return oneOfSeveral ? error instanceof OwnerError : error instanceof StorageError && refusesWrites(folder);
}

/** Whether the disk of a folder takes no writes now, because it is full, read-only or broken. */
export function refusesWrites(folder: string): boolean {
  return refusalOf(folder) !== null;
}

/** How the disk of a folder refuses a write now; `null` if it does not. */
function refusalOf(folder: string): unknown {
  const probe = join(nearestExisting(folder), `probe-${process.pid}`);
  try {
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES));
    return null;
  } catch (cause) {
    return REFUSALS.has(failureCode(cause)) ? cause : null;
  } finally {
    removeIfThere(probe);
  }
}

function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The disk is read-only, so there is no such file.
  }
}

/** An exception of SQLite or of the file system as an error of the log in a folder; any other one as it is. */
export function storageErrorOf(folder: string, cause: unknown): unknown {
  const known = VAGUE.has(primaryCodeOf(cause)) ? (refusalOf(folder) ?? cause) : cause;
  const fault = storageFault(known);
  return fault === null ? cause : new StorageError(folder, fault, known);
}

/** SQLite's primary code of an exception; `null` if it is not one of SQLite. */
function primaryCodeOf(cause: unknown): number | null {
  const { code, errcode } = (cause ?? {}) as { code?: unknown; errcode?: unknown };
  return code === "ERR_SQLITE_ERROR" && typeof errcode === "number" ? errcode & PRIMARY : null;
}

/** The fault that an exception of SQLite or of the file system shows; `null` if it comes from neither. */
export function storageFault(cause: unknown): StorageFault | null {
  if (!(cause instanceof Error)) return null;
  const primary = primaryCodeOf(cause);
  if (primary !== null) return FAULTS.get(primary) ?? "failed";
  const code = failureCode(cause);
  return code === null ? null : (SYSTEM_FAULTS[code] ?? "failed");
}
