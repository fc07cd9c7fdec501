import { randomUUID } from "node:crypto";
import { existsSync, renameSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../../worker/ports.ts";
import type { LogSettings } from "../../../worker/purges/log/log-settings.ts";
import { SqlLedger } from "../../../worker/purges/log/sql-ledger.ts";
import type { Clocks } from "../clock-steps.ts";
import { LOG_FILE } from "../log-file.ts";
import { sqlOver } from "../node-sql.ts";
import { StorageError, storageFault } from "../storage-error.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { LogChangedError, MachineNote } from "./machine-note.ts";
import { expectPrimary, PgPurgeLog } from "./pg-purge-log.ts";
import { SharedLogKeeper, type SharedLogKeeperOptions } from "./shared-log-keeper.ts";

const LEDGER_FILE = "ledger.sqlite";

export interface SharedLogOptions extends Omit<SharedLogKeeperOptions, "log" | "database" | "ledger" | "closeLedger"> {
  /** The address of the database: `postgres://…`. */
  readonly url: string;
  /** The folder of this machine's note and ledger. */
  readonly folder: string;
  readonly clock: Clock & Clocks;
  readonly random: () => number;
  readonly settings?: Partial<LogSettings>;
}

/** Opens the log that this machine shares with others. Rejects, and leaves nothing open, if it cannot be used. */
export async function openSharedLog(options: SharedLogOptions): Promise<SharedLogKeeper> {
  const { url, folder, clock, random, settings } = options;
  if (existsSync(join(folder, LOG_FILE))) throw new LogChangedError(folder, "had a purge log of its own");
  const database = await Database.over({ url, clock, random });
  try {
    const log = await PgPurgeLog.open({
      database,
      note: new MachineNote(folder, randomUUID),
      name: hostname(),
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
    await expectPrimary(database);
  } finally {
    await database.close();
  }
}

/** The counts of this machine. They may be lost with the power; a damaged file is set aside. */
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
    if (fault !== "damaged") throw fault === null ? cause : new StorageError(folder, fault, cause);
    for (const suffix of ["", "-wal", "-shm"]) {
      if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.damaged${suffix}`);
    }
    return open();
  }
}
