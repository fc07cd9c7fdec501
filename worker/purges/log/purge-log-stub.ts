import type { LedgerClient } from "../../metrics/reports.ts";
import type { UnseenKey } from "../../metrics/unseen-key.ts";
import type { PurgeAudit, PurgeRecord, PurgeRecordPage } from "../../ports/purge-log.ts";
import type {
  AppendRequest,
  AppendResult,
  ConnectingReader,
  LogConnection,
  PurgeLogClient,
  ViewDelta,
} from "./log-contract.ts";
import { connectionOf, LOG_NAME, type PurgeLog } from "./purge-log.ts";

/**
 * The log behind its Durable Object. A stub belongs to the request that made it, so each call makes its own. For a worker
 * that has no binding for the log, every call rejects, as for a log that is silent.
 */
export class PurgeLogStub implements PurgeLogClient, PurgeAudit, LedgerClient {
  readonly #namespace: DurableObjectNamespace<PurgeLog> | null;

  constructor(namespace: DurableObjectNamespace<PurgeLog> | null) {
    this.#namespace = namespace;
  }

  async read(...asked: Parameters<PurgeLogClient["read"]>): Promise<ViewDelta> {
    const read = () => this.#stub().read(...asked);
    try {
      return await read();
    } catch (error) {
      // As at a deployment, which restarts the object. A second copy of the report is not counted.
      const { retryable, overloaded } = error as { readonly retryable?: boolean; readonly overloaded?: boolean };
      if (!retryable || overloaded) throw error;
      return read();
    }
  }

  async connect({ learn, ...reader }: ConnectingReader): Promise<LogConnection | null> {
    return connectionOf(await this.#stub().openConnection(reader, learn));
  }

  async report(report: string): Promise<void> {
    await this.#stub().report(report);
  }

  async readLedger(lastMs: number | null, pop: string | null): Promise<string> {
    return this.#stub().readLedger(lastMs, pop);
  }

  async findUnseen(keys: readonly string[]): Promise<readonly UnseenKey[]> {
    return this.#stub().findUnseen(keys);
  }

  async append(purge: AppendRequest): Promise<AppendResult> {
    return this.#stub().append(purge);
  }

  async list(before: number | null, limit: number): Promise<PurgeRecordPage> {
    return this.#stub().list(before, limit);
  }

  async find(seq: number, waitMs?: number): Promise<PurgeRecord | null> {
    return this.#stub().find(seq, waitMs);
  }

  /**
   * The id of the log's object, which no object of another class or namespace has. The notes of isolates that have a log
   * are not for one without.
   */
  get objectId(): string {
    return this.#namespace?.idFromName(LOG_NAME).toString() ?? "unbound";
  }

  #stub(): DurableObjectStub<PurgeLog> {
    if (this.#namespace === null) throw new Error("the worker has no binding PURGE_LOG");
    return this.#namespace.get(this.#namespace.idFromName(LOG_NAME));
  }
}
