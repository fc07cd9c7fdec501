import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beginTotals, SqlLedger } from "../../worker/purges/log/sql-ledger.ts";
import { sqlOver } from "../log/node-sql.ts";
import { setAside } from "../log/set-aside.ts";
import { refusesWrites, StorageError, storageFault } from "../log/storage-error.ts";

const LEDGER_FILE = "ledger.sqlite";

interface OpenLedger {
  readonly database: DatabaseSync;
  readonly ledger: SqlLedger;
}

/**
 * The counts of this machine, in a file. They may be lost with the power, and are while the disk takes no writes at the start.
 * A damaged file is set aside, and the next call begins another one.
 */
export class LedgerFile {
  readonly #path: string;
  readonly #now: () => number;
  #opened: OpenLedger | null = null;

  /** Throws a `StorageError` if the file cannot be used. */
  constructor(folder: string, now: () => number) {
    this.#path = join(folder, LEDGER_FILE);
    this.#now = now;
    try {
      this.#opened = this.#open();
    } catch (cause) {
      const fault = storageFault(cause);
      if (fault === null) throw cause;
      if (refusesWrites(folder)) this.#opened = this.#over(new DatabaseSync(":memory:"));
      else if (fault === "damaged") this.#setAside();
      else throw new StorageError(folder, fault, cause);
    }
  }

  /** As `SqlLedger` has it. Throws what SQLite throws. */
  take(report: string): void {
    this.#use((ledger) => ledger.take(report));
  }

  /** As `SqlLedger` has it. Throws what SQLite throws. */
  read(...asked: Parameters<SqlLedger["read"]>): ReturnType<SqlLedger["read"]> {
    return this.#use((ledger) => ledger.read(...asked));
  }

  close(): void {
    this.#opened?.database.close();
  }

  /** SQLite notices damage when it reads the damaged part. */
  #use<T>(work: (ledger: SqlLedger) => T): T {
    try {
      this.#opened ??= this.#open();
      return work(this.#opened.ledger);
    } catch (cause) {
      if (storageFault(cause) === "damaged") this.#setAside();
      throw cause;
    }
  }

  #setAside(): void {
    this.close();
    this.#opened = null;
    setAside(this.#path, `${this.#path}.damaged`);
  }

  #open(): OpenLedger {
    const database = new DatabaseSync(this.#path);
    try {
      // Exclusive as in `LogFile`.
      database.exec("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
      const opened = this.#over(database);
      beginTotals(sqlOver(database));
      return opened;
    } catch (cause) {
      database.close();
      throw cause;
    }
  }

  #over(database: DatabaseSync): OpenLedger {
    return { database, ledger: new SqlLedger(sqlOver(database), this.#now) };
  }
}
