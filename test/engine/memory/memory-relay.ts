import { DatabaseSync } from "node:sqlite";
import { sqlOver } from "../../../server/log/node-sql.ts";
import type { ConnectingReader, LogConnection, PurgeLogClient } from "../../../worker/purges/log/log-contract.ts";
import { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import { Relay } from "../../../worker/purges/relay/relay.ts";
import type { Holds } from "../holds.ts";
import type { Scheduler } from "../scheduler.ts";

/** The real relay, over a copy in memory. */
export class MemoryRelay {
  /** Whether it and the log do not reach each other. */
  isCutOff = false;
  readonly #scheduler: Scheduler;
  readonly #holds: Holds;
  readonly #log: PurgeLogClient;
  readonly #database = new DatabaseSync(":memory:");
  #relay!: Relay;

  constructor(scheduler: Scheduler, holds: Holds, log: PurgeLogClient) {
    this.#scheduler = scheduler;
    this.#holds = holds;
    this.#log = log;
    this.restart();
  }

  /** Another object takes its place, over the same storage. Connections to the one before lead nowhere. */
  restart(): void {
    const copy = new SqlPurgeLog(
      sqlOver(this.#database),
      {},
      () => this.#scheduler.now(),
      () => "copy",
    );
    const log = this.#log;
    const isMine = () => this.#relay === relay && !this.isCutOff;
    const reach = <T>(call: () => Promise<T>): Promise<T> =>
      isMine() ? call() : Promise.reject(new Error("the log cannot be reached"));
    const root = {
      read: (...asked: Parameters<PurgeLogClient["read"]>) => reach(() => log.read(...asked)),
      connect: async ({ learn, ...asked }: ConnectingReader) => {
        const opened = await reach(() => log.connect!({ ...asked, learn: (delta) => reach(() => learn(delta)) }));
        const renew: LogConnection["renew"] = (...given) => reach(() => opened!.renew(...given));
        return opened && { ...opened, renew, release: () => reach(() => opened.release()) };
      },
    };
    const relay = new Relay(copy, root, this.#scheduler, () => this.#scheduler.random());
    this.#relay = relay;
  }

  /** The log for an isolate whose connections go to the relay. */
  before(log: PurgeLogClient): PurgeLogClient {
    return {
      read: (...asked) => log.read(...asked),
      append: (purge) => log.append(purge),
      connect: (reader) => this.#connect(reader),
    };
  }

  async #connect({ learn, ...asked }: ConnectingReader): Promise<LogConnection | null> {
    const relay = this.#relay;
    const reach = async () => {
      await this.#scheduler.turn();
      if (this.#relay !== relay) throw new Error("the relay has ended");
    };
    await reach();
    const opened = await relay.open(asked, async (delta) => {
      await this.#holds.pass("push of a relay");
      await reach();
      return learn(delta);
    });
    if (opened === null) return null;
    const { first, connection } = opened;
    return {
      first,
      renew: async (since, leaseMs, longestViewAgeMs) => {
        await reach();
        return relay.renew(connection, since, leaseMs, longestViewAgeMs);
      },
      release: async () => {
        await reach();
        relay.release(connection);
      },
      close: () => relay.disconnect(connection),
    };
  }
}
