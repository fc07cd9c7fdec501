import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import type { Clock } from "../../worker/ports/clock.ts";
import type { LogSettings } from "../../worker/purges/log/log-settings.ts";
import type { Clocks } from "../log/clock-steps.ts";
import { LOG_FILE } from "../log/log-file.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { LedgerFile } from "./ledger-file.ts";
import { expectUsable } from "./log-tables.ts";
import { LogChangedError, MachineNote } from "./machine-note.ts";
import { PgPurgeLog } from "./pg-purge-log.ts";
import { SharedLogKeeper, type SharedLogKeeperOptions } from "./shared-log-keeper.ts";

export interface SharedLogOptions extends Omit<SharedLogKeeperOptions, "log" | "database" | "ledger"> {
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
  const note = new MachineNote(folder, randomUUID);
  const database = await Database.over({ url, clock, random });
  try {
    const log = await PgPurgeLog.open({
      database,
      note,
      // A host may run several servers, each in a folder of its own.
      name: `${hostname()}:${dirname(folder)}`,
      onReplaced: () => onReplaced(database.where),
      newId: randomUUID,
      elapsed: clock.elapsed,
      ...(settings && { settings }),
    });
    const ledger = new LedgerFile(folder, clock.now);
    try {
      return await SharedLogKeeper.open({ ...options, log, database, ledger });
    } catch (cause) {
      ledger.close();
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
