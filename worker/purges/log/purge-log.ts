import { DurableObject } from "cloudflare:workers";
import type { PurgeRecord, PurgeRecordPage } from "../../ports.ts";
import { Log } from "./log.ts";
import type { AppendRequest, AppendResult, ReaderPosition, ViewDelta } from "./log-contract.ts";
import { LOG_SETTINGS } from "./log-settings.ts";
import type { Sql } from "./sql.ts";

/**
 * The purge log as a Durable Object over its own SQLite storage. Each call is one synchronous block, and the runtime
 * holds its reply until the writes are durable.
 */
export class PurgeLog extends DurableObject {
  #log: Log | undefined;

  /** A time of its own for the simulated CDN. */
  protected now(): number {
    return Date.now();
  }

  read(since: ReaderPosition | null, leaseMs: number, withinMs?: number): ViewDelta {
    return this.#opened().read(since, leaseMs, withinMs);
  }

  async append(purge: AppendRequest): Promise<AppendResult> {
    const result = this.#opened().append(purge);
    if (purge.repeatAfterMs !== null) await this.#wakeWhenDue();
    return result;
  }

  list(before: number | null, limit: number): PurgeRecordPage {
    return this.#opened().list(before, limit);
  }

  one(seq: number): PurgeRecord | null {
    return this.#opened().one(seq);
  }

  /** Purges again what is due: called by the alarm, and where time is simulated. */
  async runDue(): Promise<void> {
    this.#opened().runDue();
    await this.#wakeWhenDue();
  }

  /** The platform tries again if it throws, and `runDue` of what has been done already does nothing. */
  override alarm(): Promise<void> {
    return this.runDue();
  }

  /** Real time, for the simulated CDN to turn off. */
  protected async wakeAt(at: number): Promise<void> {
    await this.ctx.storage.setAlarm(at);
  }

  async #wakeWhenDue(): Promise<void> {
    const nextDueAt = this.#opened().nextDueAt();
    if (nextDueAt !== null) await this.wakeAt(nextDueAt);
  }

  #opened(): Log {
    const newId = () => crypto.randomUUID();
    this.#log ??= new Log(sqlOf(this.ctx.storage), LOG_SETTINGS, () => this.now(), newId);
    return this.#log;
  }
}

/** An exception alone undoes nothing in this runtime: only `transactionSync` rolls back. */
function sqlOf(storage: DurableObjectStorage): Sql {
  return {
    exec: (statement, ...bindings) => storage.sql.exec(statement, ...bindings).toArray(),
    transaction: (work) => storage.transactionSync(work),
  };
}
