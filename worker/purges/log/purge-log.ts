import { DurableObject, RpcTarget } from "cloudflare:workers";
import type { UnseenKey } from "../../metrics/unseen-key.ts";
import { type Clock, waitByTimer } from "../../ports/clock.ts";
import type { PurgeRecord, PurgeRecordPage } from "../../ports/purge-log.ts";
import { ConnectedLog, type Connecting, type Connection, MAX_CONNECTIONS, type Push } from "./connected-log.ts";
import type { AppendRequest, AppendResult, LogConnection, ReaderPosition, ViewDelta } from "./log-contract.ts";
import { LOG_SETTINGS } from "./log-settings.ts";
import { ReportIntake } from "./report-intake.ts";
import type { Sql } from "./sql.ts";
import { SqlLedger } from "./sql-ledger.ts";
import { SqlPurgeLog } from "./sql-purge-log.ts";

/** The name of a site's one log. */
export const LOG_NAME = "tidemark";

/**
 * The purge log, a Durable Object with SQLite storage. A worker exports it beside its edge, and its wrangler config binds it
 * as `PURGE_LOG`. Only the edge calls it. Each call is one synchronous block, and the runtime holds its reply until the
 * writes are durable.
 */
export class PurgeLog extends DurableObject {
  #log: SqlPurgeLog | undefined;
  #ledger: SqlLedger | undefined;
  #connected: ConnectedLog | undefined;
  readonly #clock: Clock = { now: () => this.now(), wait: waitByTimer };
  readonly #reports = new ReportIntake(
    (report) => this.#ledgerOpened().hold(report),
    (cause) => cause !== null && console.warn(`The ledger could not store a report: ${String(cause)}`),
    { clock: this.#clock, write: () => this.#ledgerOpened().write() },
  );

  /** Overridden by the simulated CDN, which has its own time. */
  protected now(): number {
    return Date.now();
  }

  /** The bench overrides it with a higher value. */
  protected get maxConnections(): number {
    return MAX_CONNECTIONS;
  }

  read(
    since: ReaderPosition | null,
    leaseMs: number,
    longestViewAgeMs?: number,
    report?: string,
    reader?: string,
  ): ViewDelta {
    const outcome = this.#reports.outcomeOf(report);
    return { ...this.#opened().read(since, leaseMs, longestViewAgeMs, reader), ...outcome };
  }

  /**
   * Opens a reader's connection with its first read (R26). It is one session of the runtime's own calls: it is billed as
   * one request, and ends with the request that has opened it.
   */
  openConnection(reader: Connecting, learn: PushStub): Promise<LentConnection | null> {
    return lendConnection(this.#connectedLog(), reader, learn);
  }

  /** Adds an isolate's report to the site's ledger. Throws if it cannot be stored, which the owner is told once. */
  report(report: string): void {
    this.#reports.take(report);
  }

  /** The ledger of a time up to now, or since it began for `null`, as JSON: `LedgerReading`. */
  readLedger(lastMs: number | null, pop: string | null): string {
    this.#reports.flush();
    return JSON.stringify(this.#ledgerOpened().read(lastMs, pop));
  }

  /** The purge keys among these that no report has named, as far as that is known. */
  findUnseen(keys: readonly string[]): UnseenKey[] {
    this.#reports.flush();
    return this.#ledgerOpened().unseen(keys);
  }

  async append(purge: AppendRequest): Promise<AppendResult> {
    const result = this.#opened().append(purge);
    this.#connectedLog().push();
    await this.#wakeWhenDue();
    return result;
  }

  list(before: number | null, limit: number): PurgeRecordPage {
    return this.#opened().list(before, limit);
  }

  /** `waitMs`: how long to wait until the purge has settled. Default: not at all. */
  find(seq: number, waitMs = 0): Promise<PurgeRecord | null> {
    return this.#connectedLog().find(seq, waitMs);
  }

  /** Carries out the repetitions that are due. Called by the alarm, and by the simulated CDN. */
  async runDue(): Promise<void> {
    this.#opened().runDue();
    this.#connectedLog().push();
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

  #connectedLog(): ConnectedLog {
    this.#connected ??= new ConnectedLog(this.#opened(), this.#clock, this.maxConnections);
    return this.#connected;
  }

  /** Sets the alarm for the next repetition. Often, because the platform gives up an alarm that has failed seven times. */
  async #wakeWhenDue(): Promise<void> {
    const dueInMs = this.#opened().nextDueInMs();
    if (dueInMs !== null) await this.wakeAt(this.now() + dueInMs);
  }

  #ledgerOpened(): SqlLedger {
    this.#ledger ??= new SqlLedger(sqlOf(this.ctx.storage), () => this.now());
    return this.#ledger;
  }

  #opened(): SqlPurgeLog {
    if (this.#log === undefined) {
      const newId = () => crypto.randomUUID();
      this.#log = new SqlPurgeLog(sqlOf(this.ctx.storage), LOG_SETTINGS, () => this.now(), newId);
      // Not before the call that opens it, which may be the alarm's. If it fails, the next purge does it.
      queueMicrotask(() => void this.#wakeWhenDue().catch(() => undefined));
    }
    return this.#log;
  }
}

/** A reader's function as it comes over the runtime's own calls. A copy outlives the call that it came with. */
interface PushStub extends Push {
  dup?(): PushStub;
}

/** Not in the type of the stub, which is public: not every owner's `lib` knows `Symbol.dispose`. */
function disposeOf(stub: PushStub): void {
  (stub as Partial<Disposable>)[Symbol.dispose]?.();
}

/** A reader's end of its connection. */
interface ConnectionEnd extends RpcTarget {
  renew(since: ReaderPosition | null, leaseMs: number, longestViewAgeMs: number): ViewDelta;
  release(): void;
}

/** The reply to a reader's first read, and its connection. */
interface LentConnection {
  readonly first: ViewDelta;
  readonly connection: ConnectionEnd;
}

/** A connection as its reader has got it over the runtime's own calls. */
export function connectionOf(lent: LentStub | null): LogConnection | null {
  if (lent === null) return null;
  const { first, connection } = lent;
  return {
    first,
    renew: async (since, leaseMs, longestViewAgeMs) => connection.renew(since, leaseMs, longestViewAgeMs),
    release: async () => connection.release(),
    close: () => lent[Symbol.dispose](),
  };
}

type LentStub = NonNullable<Awaited<ReturnType<DurableObjectStub<PurgeLog>["openConnection"]>>>;

async function lendConnection(log: ConnectedLog, reader: Connecting, learn: PushStub): Promise<LentConnection | null> {
  const push = learn.dup?.() ?? learn;
  try {
    const opened = await log.open(reader, push);
    if (opened !== null)
      return { first: opened.first, connection: new PurgeLogConnection(log, opened.connection, push) };
  } catch (error) {
    disposeOf(push);
    throw error;
  }
  disposeOf(push);
  return null;
}

/** The runtime disposes of it when the connection ends. */
class PurgeLogConnection extends RpcTarget implements ConnectionEnd {
  readonly #log: ConnectedLog;
  readonly #connection: Connection;
  readonly #push: PushStub;

  constructor(log: ConnectedLog, connection: Connection, push: PushStub) {
    super();
    this.#log = log;
    this.#connection = connection;
    this.#push = push;
  }

  renew(since: ReaderPosition | null, leaseMs: number, longestViewAgeMs: number): ViewDelta {
    return this.#log.renew(this.#connection, since, leaseMs, longestViewAgeMs);
  }

  release(): void {
    this.#log.release(this.#connection);
  }

  [Symbol.dispose](): void {
    this.#log.disconnect(this.#connection);
    disposeOf(this.#push);
  }
}

/** In this runtime an exception alone does not roll back; only `transactionSync` does. */
export function sqlOf(storage: DurableObjectStorage): Sql {
  return {
    exec: <Row extends object>(statement: string, ...bindings: (string | number | null)[]) =>
      storage.sql.exec(statement, ...bindings).toArray() as Row[],
    iterate: <Row extends object>(statement: string, ...bindings: (string | number | null)[]) =>
      storage.sql.exec(statement, ...bindings) as Iterable<object> as Iterable<Row>,
    transaction: (work) => storage.transactionSync(work),
  };
}
