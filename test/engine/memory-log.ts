import { DatabaseSync } from "node:sqlite";
import type { PurgeAudit, PurgeRecord, PurgeRecordPage } from "../../worker/ports.ts";
import { Log } from "../../worker/purges/log.ts";
import type {
  AppendRequest,
  AppendResult,
  PurgeLogClient,
  ReaderPosition,
  ViewDelta,
} from "../../worker/purges/log-contract.ts";
import { LOG_SETTINGS } from "../../worker/purges/log-settings.ts";
import type { Sql } from "../../worker/purges/sql.ts";
import type { Scheduler } from "./scheduler.ts";

/** The real log over SQLite in memory, reached through the scheduler, so that calls and replies may be late or lost. */
export class MemoryLog implements PurgeLogClient, PurgeAudit {
  reads = 0;
  isReachable = true;
  readonly #scheduler: Scheduler;
  readonly #database = new DatabaseSync(":memory:");
  readonly #log: Log;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
    let ids = 0;
    this.#log = new Log(
      sqlOf(this.#database),
      LOG_SETTINGS,
      () => scheduler.now(),
      () => `log-${++ids}`,
    );
  }

  async read(since: ReaderPosition | null, leaseMs: number, withinMs?: number): Promise<ViewDelta> {
    return this.#call(() => {
      this.reads++;
      return this.#log.read(since, leaseMs, withinMs);
    });
  }

  async append(purge: AppendRequest): Promise<AppendResult> {
    return this.#call(() => {
      const result = this.#log.append(purge);
      if (purge.repeatAfterMs !== null)
        void this.#scheduler.wait(purge.repeatAfterMs).over.then(() => this.#log.runDue());
      return result;
    });
  }

  async list(before: number | null, limit: number): Promise<PurgeRecordPage> {
    return this.#call(() => this.#log.list(before, limit));
  }

  async one(seq: number): Promise<PurgeRecord | null> {
    return this.#call(() => this.#log.one(seq));
  }

  async #call<T>(work: () => T): Promise<T> {
    await this.#scheduler.turn();
    if (!this.isReachable) throw new Error("the log cannot be reached");
    const reply = work();
    await this.#scheduler.turn();
    return reply;
  }
}

/** SQLite of Node as the log needs it. */
export function sqlOf(database: DatabaseSync): Sql {
  return {
    exec: (statement, ...bindings) => database.prepare(statement).all(...bindings) as Record<string, unknown>[],
    transaction: (work) => {
      database.exec("SAVEPOINT work");
      try {
        const result = work();
        database.exec("RELEASE work");
        return result;
      } catch (cause) {
        database.exec("ROLLBACK TO work; RELEASE work");
        throw cause;
      }
    },
  };
}
