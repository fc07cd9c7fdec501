import { DatabaseSync } from "node:sqlite";
import { sqlOver } from "../../../server/log/node-sql.ts";
import type { Clock } from "../../../worker/ports/clock.ts";
import type { ConnectedLog } from "../../../worker/purges/log/connected-log.ts";
import type { LogSettings } from "../../../worker/purges/log/log-settings.ts";
import type { Sql } from "../../../worker/purges/log/sql.ts";
import { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import type { Scheduler } from "../../engine/scheduler.ts";

/** Storage that nobody has written to. */
export function emptyStorage(): Sql {
  return sqlOver(new DatabaseSync(":memory:"));
}

interface LogWishes {
  /** Default: empty. */
  readonly storage?: Sql;
  /** Default: always `log-1`. */
  readonly newId?: () => string;
  readonly settings?: Partial<LogSettings>;
}

/** A log on a clock. */
export function openLog(
  clock: Pick<Clock, "now">,
  { storage = emptyStorage(), newId = () => "log-1", settings = {} }: LogWishes = {},
): SqlPurgeLog {
  return new SqlPurgeLog(storage, settings, () => clock.now(), newId);
}

/** How many milliseconds after now a purge has settled, as its caller hears it. */
export async function settlesAfter(connected: ConnectedLog, seq: number, scheduler: Scheduler): Promise<number> {
  const from = scheduler.now();
  let after = Number.NaN;
  void connected.find(seq, 25_000).then((record) => {
    if (record?.settled) after = scheduler.now() - from;
  });
  await scheduler.advance(5000);
  return after;
}
