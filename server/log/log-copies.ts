import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
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
/** How long a writer may hold the file before the copy fails. Milliseconds. */
const BUSY_MS = 10_000;

/**
 * Copies the log of a folder into one file, also while a server writes to it: the copy holds all purges up to one moment,
 * and none in part. It has no log id, so that a log which is opened from it gets a new one, however it was put there (R13).
 * The file is there whole or not at all. Throws a `LogCopyError`.
 */
export function backUpLog(folder: string, to: string): LogCopy {
  const from = join(folder, LOG_FILE);
  expectNoneOfSites(folder);
  if (!existsSync(from)) {
    throw new LogCopyError(`There is no purge log in ${folder}. Name the folder that tidemark serve has as --cache.`);
  }
  if (existsSync(to)) throw new LogCopyError(`${to} exists already. Name another file.`);
  return explaining(`The purge log in ${folder} cannot be copied to ${to}`, () => copyWithoutId(from, to));
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

function copyWithoutId(from: string, to: string): LogCopy {
  const draft = join(dirname(to), `.${basename(to)}.${process.pid}`);
  const removeDraft = () => {
    for (const suffix of [...SQLITE_SUFFIXES, "-journal"]) rmSync(draft + suffix, { force: true });
  };
  removeDraft(); // a killed process left it: in a container, each process has the same id
  try {
    closeSync(openSync(draft, "wx", OWNERS_ALONE));
    const log = new DatabaseSync(from, { readOnly: true, timeout: BUSY_MS });
    try {
      expectLog(log, from);
      log.prepare("VACUUM INTO ?").run(draft);
    } finally {
      log.close();
    }
    const copy = new DatabaseSync(draft);
    let seq: number;
    try {
      copy.exec("UPDATE state SET id = ''");
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
