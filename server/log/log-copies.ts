import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { OwnerError } from "../../package/owner-error.ts";
import { namesIn } from "../names-in.ts";
import { MachineNote } from "../postgres/machine-note.ts";
import { LOG_FILE } from "./log-file.ts";
import { LogFolder } from "./log-folder.ts";
import { SQLITE_SUFFIXES, setAside } from "./set-aside.ts";
import { storageFault } from "./storage-error.ts";

/** The log cannot be copied. The message is for the owner. */
export class LogCopyError extends OwnerError {
  override readonly name = "LogCopyError";
}

/** What a copy of the log holds. */
export interface LogCopy {
  /** The number of its last purge. */
  readonly seq: number;
  readonly bytes: number;
}

const OWNERS_ALONE = 0o600;
/** How often the copy begins again before it fails. */
const MOST_ATTEMPTS = 100;

/** The write-ahead log's header has another salt whenever it is written anew from its start. */
const WAL_HEADER_BYTES = 32;

/**
 * Copies the log of a folder into one file, also while a server writes to it: the copy holds all purges up to one moment,
 * and none in part. It has no log id, so that a log which is opened from it gets a new one, however it was put there (R13).
 * The file is there whole or not at all. `copyFile`: for tests in which purges come meanwhile. Throws a `LogCopyError`.
 */
export function backUpLog(folder: string, to: string, copyFile = copyFileSync): LogCopy {
  const from = join(folder, LOG_FILE);
  expectNoneOfSites(folder);
  if (!existsSync(from)) {
    throw new LogCopyError(`There is no purge log in ${folder}. Name the folder that tidemark serve has as --cache.`);
  }
  if (existsSync(to)) throw new LogCopyError(`${to} exists already. Name another file.`);
  return explaining(`The purge log in ${folder} cannot be copied to ${to}`, () => copyWithoutId(from, to, copyFile));
}

/** Throws a `LogCopyError` if a folder has no log, and those of several sites are beside it. */
function expectNoneOfSites(folder: string): void {
  const sites = join(dirname(folder), "sites");
  const ofSites = namesIn(sites).map((name) => join(sites, name));
  const one = ofSites.find((each) => existsSync(join(each, "log", LOG_FILE)));
  if (one !== undefined && !existsSync(join(folder, LOG_FILE)))
    throw new LogCopyError(`There is no purge log in ${folder}. Each site has one: --cache ${one}.`);
}

/**
 * Puts a copy in the place of a folder's log, which is set aside. No server may be running there. It counts as a new
 * log: everything that was stored before is fetched again (R13). Throws a `LogCopyError`, or as `LogFolder.own` does.
 */
export function restoreLog(from: string, folder: string, now: Date): LogCopy & { readonly setAside: string | null } {
  if (!existsSync(from)) throw new LogCopyError(`There is no file ${from}.`);
  if (MachineNote.isIn(folder)) {
    throw new LogCopyError(
      `${folder} belongs to a machine whose purge log is in PostgreSQL, so no other log can be restored there. Restore into another folder, or restore the database.`,
    );
  }
  expectNoneOfSites(folder);
  const owned = LogFolder.own(folder, "restore");
  try {
    return explaining(`The purge log in ${folder} cannot be restored from ${from}`, () => {
      const draft = join(folder, `${LOG_FILE}.restored`);
      rmSync(draft, { force: true });
      const copy = copyWithoutId(from, draft);
      const setAside = setAsideLog(folder, now);
      renameSync(draft, join(folder, LOG_FILE));
      return { ...copy, setAside };
    });
  } finally {
    owned.release();
  }
}

function copyWithoutId(from: string, to: string, copyFile = copyFileSync): LogCopy {
  const draft = join(dirname(to), `.${basename(to)}.${process.pid}`);
  const removeDraft = () => {
    for (const suffix of [...SQLITE_SUFFIXES, "-journal"]) rmSync(draft + suffix, { force: true });
  };
  removeDraft(); // a killed process left it: in a container, each process has the same id
  try {
    closeSync(openSync(draft, "wx", OWNERS_ALONE));
    copyAtOneMoment(from, draft, copyFile);
    const copy = new DatabaseSync(draft);
    let seq: number;
    try {
      copy.exec("PRAGMA locking_mode=EXCLUSIVE"); // as in `LogFile`
      expectLog(copy, from);
      copy.exec("UPDATE state SET id = ''; PRAGMA journal_mode=DELETE");
      seq = Number(copy.prepare("SELECT head FROM state").get()!.head);
    } finally {
      copy.close();
    }
    const file = openSync(draft, "r+");
    fsyncSync(file);
    closeSync(file);
    renameSync(draft, to);
    return { seq, bytes: statSync(to).size };
  } finally {
    removeDraft();
  }
}

/**
 * Copies the file and its write-ahead log, which a server may write meanwhile: it lets no other process have the file open.
 * What it has written to the file since the write-ahead log began is in that as well, so that the copy is whole if the
 * write-ahead log has not begun anew. Else the file is copied again.
 */
function copyAtOneMoment(from: string, to: string, copyFile: typeof copyFileSync): void {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const header = walOf(from).subarray(0, WAL_HEADER_BYTES);
    copyFile(from, to);
    chmodSync(to, OWNERS_ALONE);
    writeFileSync(`${to}-wal`, walOf(from), { mode: OWNERS_ALONE });
    if (walOf(from).subarray(0, WAL_HEADER_BYTES).equals(header)) return;
  }
  throw new LogCopyError(`${from} changes too fast to be copied. Try again when there are fewer purges.`);
}

/** The write-ahead log of a file of SQLite; empty if it has none. */
function walOf(path: string): Buffer {
  try {
    return readFileSync(`${path}-wal`);
  } catch (cause) {
    if ((cause as { code?: unknown }).code === "ENOENT") return Buffer.alloc(0);
    throw cause;
  }
}

/** Throws if the file is no purge log, or is damaged. */
function expectLog(log: DatabaseSync, path: string): void {
  const table = log.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'purged_keys'").get();
  if (table === undefined) throw new LogCopyError(`${path} is not a purge log.`);
  const [found] = log.prepare("PRAGMA quick_check").all();
  if (found?.quick_check !== "ok") throw new LogCopyError(`${path} is damaged: ${String(found?.quick_check)}.`);
}

/**
 * Renames the log's files. The files that SQLite keeps beside it are renamed first: without them the file is an older
 * log, and the noted head shows that; but the leftovers of one log beside another would damage it.
 */
function setAsideLog(folder: string, now: Date): string | null {
  const path = join(folder, LOG_FILE);
  if (!existsSync(path)) return null;
  const newPath = `${path}.replaced-${now.toISOString().replaceAll(":", "")}`;
  setAside(path, newPath);
  return newPath;
}

function explaining<T>(failed: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof LogCopyError || storageFault(cause) === null) throw cause;
    throw new LogCopyError(`${failed}: ${(cause as Error).message}.`, { cause });
  }
}
