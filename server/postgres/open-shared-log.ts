import { randomUUID } from "node:crypto";
import { existsSync, renameSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../worker/ports/clock.ts";
import type { LogSettings } from "../../worker/purges/log/log-settings.ts";
import { SqlLedger } from "../../worker/purges/log/sql-ledger.ts";
import type { Clocks } from "../log/clock-steps.ts";
import { LOG_FILE } from "../log/log-file.ts";
import { sqlOver } from "../log/node-sql.ts";
import { refusesWrites, StorageError, storageFault } from "../log/storage-error.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { LogChangedError, MachineNote } from "./machine-note.ts";
import { expectUsable, PgPurgeLog } from "./pg-purge-log.ts";
import { SharedLogKeeper, type SharedLogKeeperOptions } from "./shared-log-keeper.ts";

const LEDGER_FILE = "ledger.sqlite";

export interface SharedLogOptions extends Omit<SharedLogKeeperOptions, "log" | "database" | "ledger" | "closeLedger"> {
  /** The address of the database: `postgres://…`. */
  readonly url: string;
  /** The folder of this machine's note and ledger. */
  readonly folder: string;
  readonly clock: Clock & Clocks;
  readonly random: () => number;
  /** The machine reads another log than before. */
  readonly onReplaced: (where: string) => void;
  readonly settings?: Partial<LogSettings>;
}

/** Throws a `LogChangedError` if the folder is one of a server with a log of its own. */
export function expectNoLogIn(folder: string): void {
  if (existsSync(join(folder, LOG_FILE))) throw new LogChangedError(folder, "had a purge log of its own");
}

/** Opens the log that this machine shares with others. Rejects, and leaves nothing open, if it cannot be used. */
export async function openSharedLog(options: SharedLogOptions): Promise<SharedLogKeeper> {
  const { url, folder, clock, random, settings, onReplaced } = options;
  expectNoLogIn(folder);
  const database = await Database.over({ url, clock, random });
  try {
    const log = await PgPurgeLog.open({
      database,
      note: new MachineNote(folder, randomUUID),
      // A host may run several servers, each in a folder of its own.
      name: `${hostname()}:${dirname(folder)}`,
      onReplaced: () => onReplaced(database.where),
      newId: randomUUID,
      elapsed: clock.elapsed,
      ...(settings && { settings }),
    });
    const counts = openLedger(folder);
    try {
      const ledger = new SqlLedger(sqlOver(counts), clock.now);
      return await SharedLogKeeper.open({ ...options, log, database, ledger, closeLedger: () => counts.close() });
    } catch (cause) {
      counts.close();
      throw cause;
    }
  } catch (cause) {
    await database.close();
    throw cause;
  }
}

/** Rejects with a `SharedLogError` unless the log can be used now. */
export async function expectSharedLog(options: DatabaseOptions): Promise<void> {
  const database = await Database.over(options);
  try {
    await expectUsable(database);
  } finally {
    await database.close();
  }
}

/** The counts of this machine. They may be lost with the power, and are while the disk takes no writes; a damaged file is set aside. */
function openLedger(folder: string): DatabaseSync {
  const path = join(folder, LEDGER_FILE);
  const open = () => {
    const database = new DatabaseSync(path);
    database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
    return database;
  };
  try {
    return open();
  } catch (cause) {
    const fault = storageFault(cause);
    if (fault === null) throw cause;
    if (refusesWrites(folder)) return new DatabaseSync(":memory:"); // until the server starts again
    if (fault !== "damaged") throw new StorageError(folder, fault, cause);
    for (const suffix of ["", "-wal", "-shm"]) {
      if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.damaged${suffix}`);
    }
    return open();
  }
}
