import { closeSync, constants, existsSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { LogSettings } from "../../worker/purges/log/log-settings.ts";
import { SqlLedger } from "../../worker/purges/log/sql-ledger.ts";
import { SqlPurgeLog } from "../../worker/purges/log/sql-purge-log.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import { ClockSteps, type Clocks } from "./clock-steps.ts";
import { sqlOver } from "./node-sql.ts";
import { StorageError, storageFault } from "./storage-error.ts";

/*
 * SQLite with a write-ahead log. Its guarantees, on which this code relies:
 * - With `synchronous=FULL`, a committed transaction survives the death of the process and the loss of power.
 * - After an error, the transaction has not happened.
 * - A damaged file is noticed when the damaged part is read, not before.
 */

export const LOG_FILE = "purge-log.sqlite";
/** What SQLite keeps beside the file. */
export const LOG_SUFFIXES = ["", "-wal", "-shm"];
const HEAD_FILE = "purge-log.head";
/** The head is padded to this length, so that writing it again needs no space on the disk. */
const HEAD_BYTES = 128;

/** How long another process may hold the file, for example to copy it, before a call fails. Milliseconds. */
const BUSY_MS = 1000;

/** This many reads a second would only come from more readers than a machine has processes. */
const READS_PER_SECOND = 100_000;

/** The tables that the rules depend on. A damaged audit trail is noticed when it is read. */
const CHECKED_TABLES = ["state", "purged_keys", "repeats"];

/** The longest lease and view age of the site. They are granted once at the start, so that they are in storage. */
export interface GrantAtStart {
  readonly leaseMs: number;
  readonly longestViewAgeMs: number;
}

export interface LogFileOptions {
  readonly folder: string;
  readonly clocks: Clocks;
  readonly newId: () => string;
  readonly grant: GrantAtStart;
  readonly settings?: Partial<LogSettings>;
  /** A damaged file was renamed to this name, and a new log has begun. */
  readonly onDamage: (setAside: string, cause: unknown) => void;
  /** Opens the file, for tests in which the disk fails. Default: as SQLite does. */
  readonly open?: (path: string) => DatabaseSync;
}

const openDatabase = (path: string) => new DatabaseSync(path, { timeout: BUSY_MS });

/** The audit trail is for the owner alone. */
const OWNERS_ALONE = 0o600;

/** The purge log in a file. Only one process may have it open; see `LogFolder`. */
export class LogFile {
  readonly #options: LogFileOptions;
  readonly #steps: ClockSteps;
  #headFile: number;
  #database!: DatabaseSync;
  #log!: SqlPurgeLog;
  #ledger!: SqlLedger;

  /** Throws a `StorageError` if the folder cannot be written. */
  constructor(options: LogFileOptions) {
    this.#options = options;
    this.#steps = new ClockSteps(options.clocks);
    try {
      this.#open();
    } catch (cause) {
      if (storageFault(cause) !== "damaged") throw this.#explained(cause);
      this.#beginAnew(cause);
    }
    this.#headFile = this.#explaining(() => openHeadFile(join(options.folder, HEAD_FILE)));
    this.noteHead();
  }

  /**
   * Works on the log. An exception of the storage becomes a `StorageError`. If the file proves to be damaged, it is set
   * aside and another log begins, whose id makes everything stored invalid (R13).
   */
  use<T>(work: (log: SqlPurgeLog, ledger: SqlLedger) => T): T {
    try {
      if (!this.#database.isOpen) this.#open();
      this.#followClock();
      return work(this.#log, this.#ledger);
    } catch (cause) {
      const error = this.#explained(cause);
      if (storageFault(cause) === "damaged") this.#beginAnew(cause);
      throw error;
    }
  }

  /** The same for a write that may be lost with the power, and so need not wait for the disk. */
  useWithoutSync<T>(work: (log: SqlPurgeLog, ledger: SqlLedger) => T): T {
    return this.use((log, ledger) => {
      this.#database.exec("PRAGMA synchronous=NORMAL");
      try {
        return work(log, ledger);
      } finally {
        this.#database.exec("PRAGMA synchronous=FULL");
      }
    });
  }

  /**
   * Writes the log's head into a file of its own after a commit. If the log is later replaced by an older copy, this
   * file shows that numbers are missing. It is not synchronised with the disk: after a loss of power it may be behind the
   * log, which means nothing, and never ahead of it.
   */
  noteHead(): void {
    try {
      const { logId, seq } = this.use((log) => log.head);
      writeSync(this.#headFile, JSON.stringify({ logId, seq }).padEnd(HEAD_BYTES), 0);
    } catch {
      // The disk fails. The purge itself has been committed, and the file is behind the log.
    }
  }

  close(): void {
    this.#database.close();
    closeSync(this.#headFile);
  }

  #open(): void {
    const { folder, clocks, newId, grant, settings, open = openDatabase } = this.#options;
    closeSync(openSync(join(folder, LOG_FILE), "a", OWNERS_ALONE)); // the files beside it get the same permissions
    const database = open(join(folder, LOG_FILE));
    try {
      database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA fullfsync=ON");
      for (const table of CHECKED_TABLES) refuseDamage(database, table);
      nameRestoredLog(database, newId);
      const log = new SqlPurgeLog(
        sqlOver(database),
        { readsPerSecond: READS_PER_SECOND, ...settings },
        clocks.now,
        newId,
      );
      // The noted head takes part as a reader: if it is ahead of the log, history was lost (R13).
      log.read(notedHead(join(folder, HEAD_FILE)), grant.leaseMs, grant.longestViewAgeMs);
      this.#database = database;
      this.#log = log;
      this.#ledger = new SqlLedger(sqlOver(database), clocks.now);
    } catch (cause) {
      database.close();
      throw cause;
    }
  }

  #followClock(): void {
    try {
      this.#steps.tell((byMs) => this.#log.followClock(byMs));
    } catch {
      // The disk may be full, which must not stop reads. The next call tries again.
    }
  }

  #beginAnew(cause: unknown): void {
    const { folder, clocks, onDamage } = this.#options;
    this.#database?.close();
    const setAside = `${LOG_FILE}.damaged-${new Date(clocks.now()).toISOString().replaceAll(":", "")}`;
    this.#explaining(() => {
      for (const suffix of LOG_SUFFIXES) {
        const path = join(folder, LOG_FILE + suffix);
        if (existsSync(path)) renameSync(path, join(folder, setAside + suffix));
      }
      this.#open();
    });
    onDamage(join(folder, setAside), cause);
  }

  #explaining<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw this.#explained(cause);
    }
  }

  #explained(cause: unknown): unknown {
    const fault = storageFault(cause);
    return fault === null ? cause : new StorageError(this.#options.folder, fault, cause);
  }
}

function openHeadFile(path: string): number {
  return openSync(path, constants.O_RDWR | constants.O_CREAT, OWNERS_ALONE);
}

/** A copy of a log has no id (`backUpLog`), so that the log which is opened from it is a new one (R13). */
function nameRestoredLog(database: DatabaseSync, newId: () => string): void {
  const exists = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'state'").get();
  const isCopy = exists !== undefined && database.prepare("SELECT 1 FROM state WHERE id = ''").get() !== undefined;
  if (isCopy) database.prepare("UPDATE state SET id = ?").run(newId());
}

/** Throws as SQLite does if the table is damaged. A table that does not exist is sound. */
function refuseDamage(database: DatabaseSync, table: string): void {
  const exists = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(table);
  if (exists === undefined) return;
  const [first] = database.prepare(`PRAGMA quick_check(${table})`).all();
  const found = first?.quick_check;
  if (found !== "ok") throw Object.assign(new Error(String(found)), { code: "ERR_SQLITE_ERROR", errcode: 11 });
}

/** The head as it was last noted; `null` if nothing was, or not completely. */
function notedHead(path: string): Stamp | null {
  try {
    const { logId, seq } = JSON.parse(readFileSync(path, "utf8")) as Partial<Stamp>;
    return typeof logId === "string" && typeof seq === "number" ? { logId, seq } : null;
  } catch {
    return null;
  }
}
