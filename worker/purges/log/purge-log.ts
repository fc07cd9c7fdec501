import { DurableObject } from "cloudflare:workers";
import type { PurgeRecord, PurgeRecordPage } from "../../ports.ts";
import type { AppendRequest, AppendResult, ReaderPosition, ViewDelta } from "./log-contract.ts";
import { LOG_SETTINGS } from "./log-settings.ts";
import type { Sql } from "./sql.ts";
import { SqlLedger } from "./sql-ledger.ts";
import { SqlPurgeLog } from "./sql-purge-log.ts";

/**
 * The purge log as a Durable Object over its own SQLite storage. Each call is one synchronous block, and the runtime
 * holds its reply until the writes are durable.
 */
export class PurgeLog extends DurableObject {
  #log: SqlPurgeLog | undefined;
  #ledger: SqlLedger | undefined;

  /** Overridden by the simulated CDN, which has its own time. */
  protected now(): number {
    return Date.now();
  }

  read(since: ReaderPosition | null, leaseMs: number, longestViewAgeMs?: number, report?: string): ViewDelta {
    if (report !== undefined) this.#takeReport(report);
    return this.#opened().read(since, leaseMs, longestViewAgeMs);
  }

  /** Adds an isolate's report to the site's ledger. */
  report(report: string): void {
    this.#ledgerOpened().take(report);
  }

  /** The ledger of a time up to now, or since it began for `null`, as JSON: `LedgerReading`. */
  readLedger(lastMs: number | null, pop: string | null): string {
    return JSON.stringify(this.#ledgerOpened().read(lastMs, pop));
  }

  async append(purge: AppendRequest): Promise<AppendResult> {
    const result = this.#opened().append(purge);
    if (purge.repeatAfterMs !== null) await this.#wakeWhenDue();
    return result;
  }

  list(before: number | null, limit: number): PurgeRecordPage {
    return this.#opened().list(before, limit);
  }

  find(seq: number): PurgeRecord | null {
    return this.#opened().find(seq);
  }

  /** Carries out the repetitions that are due. Called by the alarm, and by the simulated CDN. */
  async runDue(): Promise<void> {
    this.#opened().runDue();
    await this.#wakeWhenDue();
  }

  /** The platform calls it again if it throws. Repetitions that are done are then skipped. */
  override alarm(): Promise<void> {
    return this.runDue();
  }

  /** Overridden by the simulated CDN, which has no real time. */
  protected async wakeAt(at: number): Promise<void> {
    await this.ctx.storage.setAlarm(at);
  }

  async #wakeWhenDue(): Promise<void> {
    const nextDueAt = this.#opened().nextDueAt();
    if (nextDueAt !== null) await this.wakeAt(nextDueAt);
  }

  /** A fault of the ledger must not keep a reader from its purges. What the report counted is then missing. */
  #takeReport(report: string): void {
    try {
      this.report(report);
    } catch (cause) {
      console.warn(`The ledger could not take a report: ${String(cause)}`);
    }
  }

  #ledgerOpened(): SqlLedger {
    this.#ledger ??= new SqlLedger(sqlOf(this.ctx.storage), () => this.now());
    return this.#ledger;
  }

  #opened(): SqlPurgeLog {
    const newId = () => crypto.randomUUID();
    this.#log ??= new SqlPurgeLog(sqlOf(this.ctx.storage), LOG_SETTINGS, () => this.now(), newId);
    return this.#log;
  }
}

/** In this runtime an exception alone does not roll back; only `transactionSync` does. */
function sqlOf(storage: DurableObjectStorage): Sql {
  return {
    exec: (statement, ...bindings) => storage.sql.exec(statement, ...bindings).toArray(),
    transaction: (work) => storage.transactionSync(work),
  };
}
