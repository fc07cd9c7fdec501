import { DurableObject } from "cloudflare:workers";
import type { Stamp } from "../rules/stored-response.ts";
import { Log, type LogSettings, type Sql } from "./log.ts";
import type { AppendRequest, AppendResult, ViewDelta } from "./log-contract.ts";

/** Bounds of the log; the view's own bound stands with the view. */
const SETTINGS: LogSettings = { replyKeys: 50_000, heldKeys: 1_300_000, auditMs: 30 * 24 * 3600 * 1000 };

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

  read(since: Stamp | null, leaseMs: number): ViewDelta {
    return this.#opened().read(since, leaseMs);
  }

  async append(purge: AppendRequest): Promise<AppendResult> {
    const result = this.#opened().append(purge);
    if (purge.repeatAfterMs !== null) await this.#wakeWhenDue();
    return result;
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
    this.#log ??= new Log(sqlOf(this.ctx.storage), SETTINGS, () => this.now(), newId);
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
