import { CONFIRM_WITHIN_MS } from "../../../server/log/log-readers.ts";
import type { LedgerClient } from "../../../worker/metrics/reports.ts";
import type { UnseenKey } from "../../../worker/metrics/unseen-key.ts";
import type { PurgeAudit, PurgeRecord, PurgeRecordPage } from "../../../worker/ports/purge-log.ts";
import { ConnectedLog } from "../../../worker/purges/log/connected-log.ts";
import type {
  AppendRequest,
  AppendResult,
  ConnectingReader,
  LogConnection,
  PurgeLogClient,
  ReaderPosition,
  ViewDelta,
} from "../../../worker/purges/log/log-contract.ts";
import { LOG_SETTINGS } from "../../../worker/purges/log/log-settings.ts";
import type { Sql } from "../../../worker/purges/log/sql.ts";
import { SqlLedger } from "../../../worker/purges/log/sql-ledger.ts";
import { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import { Holds } from "../holds.ts";
import type { Scheduler } from "../scheduler.ts";
import { Storages } from "./storages.ts";

/** Storages of logs that no scenario uses now. */
const free: Sql[] = [];

/** The state that the logs of one scenario share. */
export interface LogWorld {
  isReachable: boolean;
  /** How long a call takes, in milliseconds: half of it on the way there, half on the way back. */
  takesMs: number;
  readonly holds: Holds;
  readonly newId: () => string;
  readonly storages: Storages;
  /** Pushes to each running isolate; `null` if the log does not push. */
  learners: (() => readonly Learn[]) | null;
}

/** Pushes purges to one isolate. Resolves to whether its view has reached them. */
export type Learn = (delta: ViewDelta) => Promise<boolean>;

/**
 * The real log over SQLite in memory. It is called through the scheduler, so that calls and replies may be late or
 * lost.
 */
export class MemoryLog implements PurgeLogClient, PurgeAudit, LedgerClient {
  reads = 0;
  /** The number of pushes that have been sent over connections. */
  pushes = 0;
  readonly #scheduler: Scheduler;
  readonly #world: LogWorld;
  #storage: Sql;
  #openLedger: SqlLedger | undefined;
  #log!: SqlPurgeLog;
  #connected!: ConnectedLog;

  constructor(scheduler: Scheduler, world: LogWorld = newLogWorld(), storage = world.storages.empty()) {
    this.#scheduler = scheduler;
    this.#world = world;
    this.#storage = storage;
    this.#open();
  }

  /** Its storage is lost, and it begins with an empty one. */
  makeAnew(): void {
    this.#storage = this.#world.storages.empty();
    this.#open();
  }

  /** Saves the storage for `setBack`. */
  save(): void {
    this.#world.storages.keep(this.#storage);
    this.#storage.exec("SAVEPOINT saved");
  }

  /** Restores the saved storage. The object starts anew over it. */
  setBack(): void {
    this.#storage.exec("ROLLBACK TO saved");
    this.#open();
  }

  /** Another object over the same storage. This object does not know of it, and continues. */
  successor(): MemoryLog {
    return new MemoryLog(this.#scheduler, this.#world, this.#storage);
  }

  #open(): void {
    this.#openLedger = undefined;
    const now = () => this.#scheduler.now();
    this.#log = new SqlPurgeLog(this.#storage, LOG_SETTINGS, now, this.#world.newId);
    this.#connected = new ConnectedLog(this.#log, this.#scheduler);
  }

  /** Opened by its first call, since most scenarios make none. */
  get #ledger(): SqlLedger {
    this.#openLedger ??= new SqlLedger(this.#storage, () => this.#scheduler.now());
    return this.#openLedger;
  }

  async read(
    since: ReaderPosition | null,
    leaseMs: number,
    longestViewAgeMs?: number,
    report?: string,
    reader?: string,
  ): Promise<ViewDelta> {
    return this.#call(() => {
      this.reads++;
      if (report !== undefined) this.#ledger.take(report);
      return this.#log.read(since, leaseMs, longestViewAgeMs, reader);
    });
  }

  async connect({ name, learn, since, leaseMs, longestViewAgeMs }: ConnectingReader): Promise<LogConnection | null> {
    const connected = this.#connected;
    const connection = await this.#call(() =>
      connected.connect(name, async (delta) => {
        this.pushes++;
        await this.#world.holds.pass("push of the log");
        await this.#scheduler.turn();
        return learn(delta);
      }),
    );
    if (connection === null) return null;
    const renew: LogConnection["renew"] = (...asked) =>
      this.#call(() => {
        if (connected !== this.#connected) throw new Error("the connection has ended with its object");
        return connected.renew(connection, ...asked);
      });
    return {
      first: await renew(since, leaseMs, longestViewAgeMs),
      renew,
      release: () => this.#call(() => connected.release(connection)),
      close: () => connected.disconnect(connection),
    };
  }

  async append(purge: AppendRequest): Promise<AppendResult> {
    const result = await this.#call(() => {
      const { head } = this.#log;
      const appended = this.#log.append(purge);
      this.#connected.push();
      if (purge.repeatAfterMs !== null)
        void this.#scheduler.wait(purge.repeatAfterMs).over.then(() => this.#log.runDue());
      const confirmed = this.#push(this.#log.changesSince(head));
      return { appended, confirmed };
    });
    if (result.appended.kind === "conflict" || !(await result.confirmed)) return result.appended;
    return { ...result.appended, settlesInMs: 0 };
  }

  async list(before: number | null, limit: number): Promise<PurgeRecordPage> {
    return this.#call(() => this.#log.list(before, limit));
  }

  async find(seq: number, waitMs = 0): Promise<PurgeRecord | null> {
    await this.#call(() => undefined);
    return this.#connected.find(seq, waitMs);
  }

  async report(report: string): Promise<void> {
    return this.#call(() => this.#ledger.take(report));
  }

  async readLedger(lastMs: number | null, pop: string | null): Promise<string> {
    return this.#call(() => JSON.stringify(this.#ledger.read(lastMs, pop)));
  }

  async findUnseen(keys: readonly string[]): Promise<readonly UnseenKey[]> {
    return this.#call(() => this.#ledger.unseen(keys));
  }

  /** Resolves to whether every isolate has confirmed in time (R24). */
  async #push(delta: ViewDelta): Promise<boolean> {
    const { learners } = this.#world;
    if (learners === null) return false;
    const confirmations = learners().map(async (learn) => {
      await this.#scheduler.turn();
      return learn(delta);
    });
    const all = Promise.all(confirmations).then((confirmed) => confirmed.every((isSo) => isSo));
    return Promise.race([all, this.#scheduler.wait(CONFIRM_WITHIN_MS).over.then(() => false)]);
  }

  async #call<T>(work: () => T): Promise<T> {
    const { takesMs, holds } = this.#world;
    await this.#goHalfWay(takesMs);
    if (!this.#world.isReachable) throw new Error("the log cannot be reached");
    const reply = work();
    await holds.pass("reply of the log");
    await this.#goHalfWay(takesMs);
    return reply;
  }

  async #goHalfWay(takesMs: number): Promise<void> {
    if (takesMs > 0) await this.#scheduler.wait(takesMs / 2).over;
    await this.#scheduler.turn();
  }
}

/** The world of a single log that is reached without delay. */
export function newLogWorld(holds: Holds = new Holds()): LogWorld {
  let ids = 0;
  const storages = new Storages(free);
  return { isReachable: true, takesMs: 0, holds, newId: () => `log-${++ids}`, storages, learners: null };
}
