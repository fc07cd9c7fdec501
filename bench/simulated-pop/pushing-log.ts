import { DatabaseSync } from "node:sqlite";
import { sqlOver } from "../../server/log/node-sql.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import { ConnectedLog } from "../../worker/purges/log/connected-log.ts";
import {
  type AppendRequest,
  type AppendResult,
  type ConnectingReader,
  type LogConnection,
  type PurgeLogClient,
  REMEMBERED_MS,
  type ReaderPosition,
} from "../../worker/purges/log/log-contract.ts";
import { SqlPurgeLog } from "../../worker/purges/log/sql-purge-log.ts";
import { ReaderWay } from "./reader-way.ts";

/** The real log with its connections, as readers at any distance reach it. */
export class PushingLog {
  /** Requests of the log's object, as the platform bills them: a connection with all its messages is one. */
  billed = 0;
  /** Calls of any kind, over connections and without. */
  messages = 0;
  readonly #clock: Clock;
  readonly #random: () => number;
  #log!: SqlPurgeLog;
  #connected!: ConnectedLog;
  #behindMs = 0;
  readonly #sql = sqlOver(new DatabaseSync(":memory:"));

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
    this.#behindMs = 2 * REMEMBERED_MS; // a log that was made days ago
    this.restart();
    this.#log.read(null, 0, 0, "the first");
    this.#behindMs = 0;
  }

  /** The object ends, with all connections, and another begins over the same storage. */
  restart(): void {
    this.#log = new SqlPurgeLog(
      this.#sql,
      {},
      () => this.#clock.now() - this.#behindMs,
      () => "log",
    );
    this.#connected = new ConnectedLog(this.#log, this.#clock);
  }

  /** `onNews`: called whenever the reader has got something from the log. */
  at(roundTripMs: number, onNews: () => void = () => undefined): PurgeLogClient {
    const way = new ReaderWay(this.#clock, this.#random, roundTripMs, onNews);
    const call = <T>(work: () => T): Promise<T> => {
      this.messages++;
      return way.call(work);
    };
    return {
      read: (since: ReaderPosition | null, leaseMs: number, longestMs?: number, _?: string, name?: string) => {
        this.billed++;
        return call(() => this.#log.read(since, leaseMs, longestMs, name));
      },
      append: (purge: AppendRequest): Promise<AppendResult> => {
        this.billed++;
        return call(() => {
          const result = this.#log.append(purge);
          this.#connected.push();
          return result;
        });
      },
      connect: async ({ name, learn, ...asked }: ConnectingReader): Promise<LogConnection | null> => {
        this.billed++;
        const connected = this.#connected;
        const open = () => {
          if (connected !== this.#connected) throw new Error("the object has ended");
          return connected.connect(name, way.push(learn));
        };
        const [connection, first] = await call(() => {
          const opened = open();
          return [
            opened,
            opened && connected.renew(opened, asked.since, asked.leaseMs, asked.longestViewAgeMs),
          ] as const;
        });
        if (connection === null || first === null) return null;
        const renew = (since: ReaderPosition | null, leaseMs: number, longestMs: number) =>
          call(() => {
            if (connected !== this.#connected) throw new Error("the object has ended");
            return connected.renew(connection, since, leaseMs, longestMs);
          });
        const release = async () => {
          await way.oneWay();
          connected.release(connection);
        };
        return { first, renew, release, close: () => connected.disconnect(connection) };
      },
    };
  }

  /** Resolves to whether a purge has settled, once it has. */
  async settled(seq: number, roundTripMs: number): Promise<boolean> {
    this.billed++;
    await this.#clock.wait(roundTripMs / 2).over;
    const record = await this.#connected.find(seq, 25_000);
    await this.#clock.wait(roundTripMs / 2).over;
    return record?.settled ?? false;
  }
}
