import type { Clock, PurgeRecord } from "../../ports.ts";
import type { Stamp } from "../../rules/storing/stored-response.ts";
import type { ReaderPosition, ViewDelta } from "./log-contract.ts";
import type { SqlPurgeLog } from "./sql-purge-log.ts";

/** A purge is sent to each of them by itself. */
const MAX_CONNECTIONS = 20_000;

/** Sends purges to one reader. Resolves to whether its view has reached them; rejects if the reader cannot be reached. */
export type Push = (delta: ViewDelta) => Promise<boolean>;

/** One reader's connection. */
interface Connection {
  readonly reader: string;
  readonly push: Push;
  /** What its view has reached, as far as is known; before it has said so, what it has been sent. */
  position: Stamp | null;
}

/**
 * The log with the readers that keep a connection to it (R26): it sends them each purge at once, and settles it when they
 * have confirmed it. A connection proves nothing about a reader; its leases are in the log's book (R25).
 */
export class ConnectedLog {
  readonly #log: SqlPurgeLog;
  readonly #clock: Clock;
  readonly #maxConnections: number;
  readonly #connections = new Set<Connection>();
  #settled = Promise.withResolvers<void>();

  constructor(log: SqlPurgeLog, clock: Clock, maxConnections = MAX_CONNECTIONS) {
    this.#maxConnections = maxConnections;
    this.#log = log;
    this.#clock = clock;
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Throws if there are too many. The reader then reads the log. */
  connect(reader: string, push: Push): Connection {
    if (this.#connections.size >= this.#maxConnections) throw new Error("too many connections");
    const connection: Connection = { reader, push, position: null };
    this.#connections.add(connection);
    return connection;
  }

  disconnect(connection: Connection): void {
    this.#connections.delete(connection);
  }

  /** Answers a reader that renews its lease. Its own position confirms what its view has reached. */
  renew(connection: Connection, since: ReaderPosition | null, leaseMs: number, longestViewAgeMs: number): ViewDelta {
    const { reader } = connection;
    if (since !== null) this.#confirm(connection, since);
    const reply = this.#log.read(since, leaseMs, longestViewAgeMs, reader, connection);
    connection.position ??= { logId: reply.logId, seq: reply.to };
    return reply;
  }

  /** The reader has given up its leases, because it has no more requests. */
  release(connection: Connection): void {
    if (this.#log.release(connection.reader, connection)) this.#noteSettled();
  }

  /** Sends every connected reader what it may lack. */
  push(): void {
    const { head } = this.#log;
    const deltas = new Map<string, ViewDelta>();
    for (const connection of this.#connections) {
      const since = connection.position ?? head;
      const key = `${since.logId} ${since.seq}`;
      const delta = deltas.get(key) ?? this.#log.changesSince(since);
      deltas.set(key, delta);
      void this.#pushTo(connection, delta);
    }
  }

  /** One purge by its number. If it has not settled, waits until it has, and at most for `waitMs`. */
  async find(seq: number, waitMs: number): Promise<PurgeRecord | null> {
    const until = this.#clock.now() + waitMs;
    for (;;) {
      const record = this.#log.find(seq);
      const now = this.#clock.now();
      if (record === null || record.settled || now >= until) return record;
      const wait = this.#clock.wait(Math.max(1, Math.min(until, this.#log.settlesAt(seq)) - now));
      await Promise.race([wait.over, this.#settled.promise]);
      wait.cancel();
    }
  }

  async #pushTo(connection: Connection, delta: ViewDelta): Promise<void> {
    const hasReached = await connection.push(delta).catch(() => null);
    if (hasReached === null) this.disconnect(connection);
    else if (hasReached) this.#confirm(connection, { logId: delta.logId, seq: delta.to });
  }

  #confirm(connection: Connection, { logId, seq }: Stamp): void {
    const { reader, position } = connection;
    if (position?.logId !== logId || position.seq < seq) connection.position = { logId, seq };
    if (this.#log.confirm(reader, { logId, seq })) this.#noteSettled();
  }

  #noteSettled(): void {
    this.#settled.resolve();
    this.#settled = Promise.withResolvers();
  }
}
