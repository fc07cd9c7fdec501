import { DatabaseSync } from "node:sqlite";
import { sqlOver } from "../../server/log/node-sql.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import type {
  ConnectingReader,
  LogConnection,
  PurgeLogClient,
  ReaderPosition,
} from "../../worker/purges/log/log-contract.ts";
import { SqlPurgeLog } from "../../worker/purges/log/sql-purge-log.ts";
import { Relay, type RelayedLog } from "../../worker/purges/relay/relay.ts";
import type { PushingLog } from "./pushing-log.ts";
import { ReaderWay } from "./reader-way.ts";

/** The real relay of a region, as its readers reach it. */
export class PushingRelay {
  /** Requests of its object, as the platform bills them: a connection with all its messages is one. */
  billed = 0;
  /** Reads and renewals that it has answered. */
  messages = 0;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #relay: Relay;

  constructor(clock: Clock, random: () => number, log: PushingLog, logMs: number) {
    this.#clock = clock;
    this.#random = random;
    const copy = new SqlPurgeLog(
      sqlOver(new DatabaseSync(":memory:")),
      {},
      () => clock.now(),
      () => "copy",
    );
    this.#relay = new Relay(copy, log.at(logMs) as RelayedLog, clock, random);
  }

  /** A reader's client: its connections go to the relay, and all else to the log. */
  before(log: PurgeLogClient, roundTripMs: number, onNews: () => void): PurgeLogClient {
    const way = new ReaderWay(this.#clock, this.#random, roundTripMs, onNews);
    const call = <T>(work: () => Promise<T>): Promise<T> => {
      this.messages++;
      return way.call(work);
    };
    const connect = async ({ learn, ...asked }: ConnectingReader): Promise<LogConnection | null> => {
      this.billed++;
      const opened = await call(() => this.#relay.open(asked, way.push(learn)));
      if (opened === null) return null;
      const { first, connection } = opened;
      return {
        first,
        renew: (since: ReaderPosition | null, leaseMs: number, longestMs: number) =>
          call(() => this.#relay.renew(connection, since, leaseMs, longestMs)),
        release: async () => {
          await way.oneWay();
          this.#relay.release(connection);
        },
        close: () => this.#relay.disconnect(connection),
      };
    };
    return { read: log.read, append: log.append, connect };
  }
}
