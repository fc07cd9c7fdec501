import { accessSync, closeSync, constants, openSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { OwnerError } from "../../package/owner-error.ts";
import type { LogSettings } from "../../worker/purges/log/log-settings.ts";
import { beginTotals, SqlLedger } from "../../worker/purges/log/sql-ledger.ts";
import { SqlPurgeLog } from "../../worker/purges/log/sql-purge-log.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import { messageOf } from "../message-of.ts";
import { ClockSteps, type Clocks } from "./clock-steps.ts";
import { followClock } from "./follow-clock.ts";
import { hasCopies, keepCopies, refuseAnyDamage, refuseDamage } from "./log-damage.ts";
import { sqlOver } from "./node-sql.ts";
import { NotedHead } from "./noted-head.ts";
import { readToTheEnd, SQLITE_SUFFIXES, setAside } from "./set-aside.ts";
import {
  expectWritableFiles,
  mayStandIn,
  refusesWrites,
  StorageError,
  storageErrorOf,
  storageFault,
} from "./storage-error.ts";

/*
 * SQLite with a write-ahead log. Its guarantees, on which this code relies:
 * - With `synchronous=FULL`, a committed transaction survives the death of the process and the loss of power.
 * - After an error, the transaction has not happened.
 * - With `locking_mode=EXCLUSIVE`, it maps no file beside the log into memory: on a full disk that copies on write (btrfs, XFS
 *   with snapshots), writing there would kill the process.
 * And what it does not notice:
 * - A damaged write-ahead log ends, for SQLite, before the damage, so that the log goes back in time.
 * - A damaged file is noticed when the damaged part is read, if it breaks the structure of the file, and not otherwise.
 */

export const LOG_FILE = "purge-log.sqlite";
const HEAD_FILE = "purge-log.head";

/**
 * How long another process may hold the file, such as `sqlite3`, before it cannot be opened: milliseconds, in which nothing
 * else runs here.
 */
const BUSY_MS = 1_000;

/** More reads a second than the processes of a machine can make. */
const READS_PER_SECOND = 100_000;

/** The longest lease and view age of the site. The log grants them once at the start, so that they are in storage. */
export interface GrantAtStart {
  readonly leaseMs: number;
  readonly longestViewAgeMs: number;
}

export interface LogFileOptions {
  readonly folder: string;
  readonly clocks: Clocks;
  readonly newId: () => string;
  readonly grant: GrantAtStart;
  /** As in `mayStandIn`. Default: it is the only one. */
  readonly isOneOfSeveral?: boolean;
  readonly settings?: Partial<LogSettings>;
  /** Called when another log has begun, with the reason, once the log can be used. */
  readonly onReplaced: (why: string) => void;
  /**
   * Locks the folder for this process, before anything in it is opened. Throws while it cannot. Default: the folder is
   * locked already.
   */
  readonly claimFolder?: () => void;
  /** Opens the file, for tests in which the disk fails. Default: as SQLite does. */
  readonly open?: (path: string) => DatabaseSync;
}

const openDatabase = (path: string) => new DatabaseSync(path, { timeout: BUSY_MS });

/** Only the owner may read the audit trail. */
const OWNERS_ALONE = 0o600;

/** An open log. */
interface OpenLog {
  readonly database: DatabaseSync;
  readonly log: SqlPurgeLog;
  readonly ledger: SqlLedger;
  /** `null` for one in memory. */
  readonly notedHead: NotedHead | null;
  /** Which file it is, whatever is at its path later. A snapshot of a disk has its inodes, but not its device. */
  readonly identity?: Pick<Stats, "dev" | "ino">;
}

/**
 * The purge log in a file. Only one process may have it open; see `LogFolder`.
 *
 * While the file cannot be used, an empty log in memory may stand in for it, so that a server can start. It counts
 * as another log, so no entry on the disk is served. It accepts no purges, because they would be lost.
 */
export class LogFile {
  readonly #options: LogFileOptions;
  readonly #steps: ClockSteps;
  #opened: OpenLog;
  #unwritable: OwnerError | null = null;
  /** Why the file has to count as another log once it can be written, or opened; `null` if it has not. */
  #replaceBecause: string | null = null;

  /** Throws an `OwnerError` if the log cannot be used, unless another one may stand in. */
  constructor(options: LogFileOptions) {
    this.#options = options;
    this.#steps = new ClockSteps(options.clocks);
    try {
      this.#opened = this.#open();
    } catch (cause) {
      const error = this.#explained(cause);
      if (!mayStandIn(error, options.folder, options.isOneOfSeveral ?? false)) throw error;
      this.#unwritable = error as OwnerError;
      this.#opened = { ...this.#openOver(new DatabaseSync(":memory:")), notedHead: null };
    }
  }

  /** Throws a `StorageError` if this user could not use the files that are in a folder. Writes nothing. */
  static expectUsable(folder: string): void {
    expectWritableFiles(folder, [HEAD_FILE, ...SQLITE_SUFFIXES.map((suffix) => LOG_FILE + suffix)]);
  }

  /** Why another log stands in for the file; `null` if none does. */
  get unwritable(): OwnerError | null {
    return this.#unwritable;
  }

  /** Whether the file still has to count as another log (R13), which no other process would know. */
  get isToBeReplaced(): boolean {
    return this.#replaceBecause !== null;
  }

  /** Opens the file if another log stands in for it. Returns whether the file is in use. */
  comeBack(): boolean {
    if (this.#unwritable === null) return true;
    try {
      const file = this.#open();
      this.close();
      this.#opened = file;
      this.#unwritable = null;
      return true;
    } catch (cause) {
      const error = this.#explained(cause);
      if (!(error instanceof OwnerError)) throw error;
      this.#unwritable = error;
      return false;
    }
  }

  /**
   * Works on the log. An exception of the storage becomes a `StorageError`. If the file proves to be damaged, it is set
   * aside and another log begins, whose id makes everything stored invalid (R13).
   */
  use<T>(work: (log: SqlPurgeLog, ledger: SqlLedger) => T): T {
    try {
      if (!this.#opened.database.isOpen) this.#opened = this.#open();
      this.#followClock();
      return work(this.#opened.log, this.#opened.ledger);
    } catch (cause) {
      const error = this.#explained(cause);
      if (storageFault(cause) === "damaged") {
        this.close();
        this.#opened = this.#explaining(() => this.#openDoubted());
      }
      throw error;
    }
  }

  /** Works on purges. A stand-in log has none, so it throws the reason why it stands in. */
  usePurges<T>(work: (log: SqlPurgeLog) => T): T {
    if (!this.comeBack()) throw this.#unwritable;
    return this.use(work);
  }

  /**
   * Throws a `StorageError` if the file is not at its path any more: the next server would not find what is written. It takes
   * another file that is there for another log (R13), because the note of its head then counts as damaged.
   */
  expectFile(): void {
    const { folder } = this.#options;
    const { database, identity } = this.#opened;
    if (identity === undefined || !database.isOpen) return; // or it is opened by the next call
    const there = statSync(join(folder, LOG_FILE), { throwIfNoEntry: false });
    if (there?.ino === identity.ino && there.dev === identity.dev) return;
    if (there) this.#explaining(() => NotedHead.spoil(join(folder, HEAD_FILE)));
    throw new StorageError(folder, there ? "replaced" : "removed", null);
  }

  /**
   * Begins another log in the file (R13): now, or once the disk takes writes. Throws as `use` does, and the reason why another
   * log stands in if that is another one: it may last over restarts, of which none would know that this is still to be done.
   */
  replace(why: string): void {
    const before = this.#replaceBecause;
    this.#replaceBecause = why;
    try {
      this.#replace(why);
    } catch (cause) {
      if (this.#replaceBecause === why) this.#replaceBecause = before; // the caller does without it
      throw cause;
    }
  }

  #replace(why: string): void {
    const { folder, onReplaced } = this.#options;
    if (this.#unwritable !== null) {
      if (!this.comeBack() && !refusesWrites(folder)) throw this.#unwritable;
      return;
    }
    this.use((log) => sqlOver(this.#opened.database).transaction(() => log.replace()));
    this.#replaceBecause = null;
    this.noteHead();
    onReplaced(`${folder}: ${why}`);
  }

  /** Like `use`, for a write that a loss of power may undo, so that it need not wait for the disk. */
  useWithoutSync<T>(work: (log: SqlPurgeLog, ledger: SqlLedger) => T): T {
    return this.use((log, ledger) => {
      const { database } = this.#opened;
      database.exec("PRAGMA synchronous=NORMAL");
      let isDamaged = false;
      try {
        return work(log, ledger);
      } catch (cause) {
        isDamaged = storageFault(cause) === "damaged";
        throw cause;
      } finally {
        // SQLite may not have been able to end the transaction, and would say so in place of the damage. It is opened anew.
        if (!isDamaged) database.exec("PRAGMA synchronous=FULL");
      }
    });
  }

  /** Notes the log's head. Call it after a commit. */
  noteHead(): void {
    try {
      const head = this.use((log) => log.head);
      this.#opened.notedHead?.write(head);
    } catch {
      // The disk fails. The purge is committed, and the note is only behind the log.
    }
  }

  close(): void {
    const { database, notedHead } = this.#opened;
    if (database.isOpen) database.close();
    notedHead?.close();
  }

  /** Opens the file; a new one if it is damaged. */
  #open(): OpenLog {
    this.#options.claimFolder?.();
    return this.#openUnlessDamaged(refuseDamage, () => this.#openDoubted());
  }

  /**
   * Opens a file that seems to be damaged; a new one if it is. While reads fail, SQLite also takes a whole file for damaged.
   * So its bytes are read first, which fails then, and leaves them in the memory of the system.
   */
  #openDoubted(): OpenLog {
    readToTheEnd(join(this.#options.folder, LOG_FILE));
    return this.#openUnlessDamaged(refuseAnyDamage, (damage) => this.#openNew(damage));
  }

  #openUnlessDamaged(refuse: typeof refuseDamage, otherwise: (damage: unknown) => OpenLog): OpenLog {
    try {
      return this.#openFile(refuse);
    } catch (cause) {
      if (this.#isDamage(cause)) return otherwise(cause);
      throw cause;
    }
  }

  #openFile(refuse: typeof refuseDamage): OpenLog {
    const { folder, open = openDatabase, onReplaced } = this.#options;
    const headPath = join(folder, HEAD_FILE);
    closeSync(openSync(join(folder, LOG_FILE), "a", OWNERS_ALONE)); // the files beside it get the same permissions
    const database = open(join(folder, LOG_FILE));
    try {
      database.exec("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL");
      database.exec("PRAGMA synchronous=FULL; PRAGMA fullfsync=ON");
      refuse(database);
      const before = headOf(database);
      const noted = NotedHead.read(headPath) ?? (hasCopies(database) ? "missing" : null);
      let why = this.#replaceBecause ?? whyAnother(before, noted);
      database.exec("BEGIN IMMEDIATE");
      const opened = this.#openOver(database);
      if (why !== null) opened.log.replace();
      if (hasCopies(database)) keepCopies(database); // with the tables of a new version, or a crash would look like damage
      database.exec("COMMIT");
      beginTotals(sqlOver(database));
      const { head } = opened.log;
      if (before !== null && before.logId !== head.logId) why ??= "this version stores it in another format";
      const notedHead = new NotedHead(headPath, head);
      keepCopies(database); // the first time only after there is a note, which is expected from then on
      database.exec("PRAGMA wal_checkpoint(PASSIVE)"); // so that damage beside the file does not undo it
      this.#replaceBecause = null;
      if (why !== null) onReplaced(`${folder}: ${why}`);
      return { ...opened, notedHead, identity: statSync(join(folder, LOG_FILE)) };
    } catch (cause) {
      database.close();
      throw cause;
    }
  }

  #openOver(database: DatabaseSync): Omit<OpenLog, "notedHead"> {
    const { clocks, newId, grant, settings } = this.#options;
    const sql = sqlOver(database);
    const log = new SqlPurgeLog(sql, { readsPerSecond: READS_PER_SECOND, ...settings }, clocks.now, newId);
    log.read(null, grant.leaseMs, grant.longestViewAgeMs);
    return { database, log, ledger: new SqlLedger(sql, clocks.now) };
  }

  /** Sets a damaged file aside, and opens a new one. */
  #openNew(damage: unknown): OpenLog {
    const { folder, clocks } = this.#options;
    const newName = `${LOG_FILE}.damaged-${new Date(clocks.now()).toISOString().replaceAll(":", "")}`;
    setAside(join(folder, LOG_FILE), join(folder, newName));
    this.#replaceBecause = `it was damaged (${messageOf(damage)}), and its file was renamed to ${newName}`;
    return this.#openFile(refuseDamage);
  }

  /** If this program wrote the file, the statements that open it fail in no other way. */
  #isDamage(cause: unknown): boolean {
    const { folder } = this.#options;
    const fault = storageFault(cause);
    if (fault === "read-only") return mayWrite(join(folder, LOG_FILE)) && !refusesWrites(folder);
    return fault === "damaged";
  }

  #followClock(): void {
    try {
      const { database } = this.#opened;
      this.#steps.tell((byMs) => followClock(sqlOver(database), byMs, this.#options.clocks.now()));
    } catch {
      // The disk may be full, and reads must still work. The next call tries again.
    }
  }

  #explaining<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw this.#explained(cause);
    }
  }

  #explained(cause: unknown): unknown {
    return cause instanceof OwnerError ? cause : storageErrorOf(this.#options.folder, cause);
  }
}

/** The head of the log that a file holds; `null` if it holds none. */
function headOf(database: DatabaseSync): Stamp | null {
  if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'state'").get() === undefined) return null;
  const row = database.prepare("SELECT id, head FROM state").get();
  return row === undefined ? null : { logId: String(row.id), seq: Number(row.head) };
}

/** Why a file counts as another log than the one that was noted (R13); `null` if it does not. */
function whyAnother(before: Stamp | null, noted: Stamp | "missing" | "damaged" | null): string | null {
  if (before === null) return noted === null ? null : "its file was missing";
  if (before.logId === "") return "it was restored from a copy"; // which has no id (`backUpLog`)
  if (noted === null) return null;
  if (noted === "missing" || noted === "damaged") return `${HEAD_FILE} beside it is ${noted}`;
  if (noted.logId !== before.logId) return `${HEAD_FILE} beside it belongs to another log`;
  if (noted.seq <= before.seq) return null;
  return `it lost purges: it ends with number ${before.seq}, and ${HEAD_FILE} beside it says ${noted.seq}`;
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
