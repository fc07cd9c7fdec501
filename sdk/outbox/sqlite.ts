/** `tidemark/outbox/sqlite`: an outbox of purges in SQLite, over `node:sqlite` or `better-sqlite3`. */

import type { PurgeInput } from "../purge-request.ts";
import type { Receipt } from "../receipt.ts";
import { Drain, outboxPlatform } from "./drain.ts";
import type { DrainReport } from "./drain-report.ts";
import {
  type EnqueueOptions,
  type ListOptions,
  type OutboxOptions,
  parseEnqueue,
  parseIds,
  parseListOptions,
  parseOutboxOptions,
  type StartOptions,
} from "./outbox-options.ts";
import {
  heldPurge,
  LISTED_COLUMNS,
  type QueuedPurge,
  REQUEUED,
  refuseAnother,
  type TableRow,
  toQueuedPurge,
  writePurge,
} from "./queued-purge.ts";
import {
  checkSchema,
  createTable,
  isInTransaction,
  prepared,
  type SqliteDatabase,
  sqliteStore,
  waitingForLocks,
} from "./sqlite-store.ts";

/** The options of `createOutbox`. */
export interface SqliteOutboxOptions<Answer = Receipt> extends OutboxOptions<Answer> {
  /**
   * The connection for sending: the backend's own, or another one to the same file. If the backend's transactions last
   * across an `await`, give another one, because the outbox waits until no transaction is open on this connection.
   */
  database: SqliteDatabase;
}

/**
 * Purges that are written in the transaction of the change that they belong to, and sent after its commit: at least once
 * each, always with the same `id`, so that the edge carries them out once.
 */
export interface SqliteOutbox<Answer = Receipt> extends AsyncDisposable {
  /** Creates the table unless it exists. Throws if it exists in another version. */
  createTable(): void;
  /**
   * Writes a purge in the open transaction of this connection, and returns its `id`. If the transaction is rolled back,
   * nothing is purged. A repeated `id` requeues its purge if the table still has that. Throws a `TypeError` for an
   * invalid purge, for the `id` of another purge in the table, and if no transaction is open.
   */
  enqueue(transaction: SqliteDatabase, request: PurgeInput, options?: EnqueueOptions): string;
  /**
   * Sends all purges that are due, at most a thousand. A call during another waits for it and looks again; its report
   * covers both. Failed purges are in the report; it rejects only with errors of the database. After `close` it sends
   * nothing.
   */
  drain(): Promise<DrainReport<Answer>>;
  /**
   * Drains now and whenever a purge falls due, until `close`. It does not keep the process running.
   */
  start(options: StartOptions): void;
  /** The purges that wait or were given up, the oldest first. */
  list(options?: ListOptions): QueuedPurge[];
  /**
   * Makes purges due at once, with all their attempts again: all that were given up, or those with these ids, even
   * waiting ones. Returns their number. `drain` sends them.
   */
  requeue(ids?: Iterable<string>): number;
  /** Deletes purges that were given up, by their ids. Returns their number. */
  discard(ids: Iterable<string>): number;
  /** Ends `start`, and waits for running sends. Unsent purges remain in the table. */
  close(): Promise<void>;
}

/** Makes an outbox. Throws a `TypeError` for an unknown option, or one of the wrong type. */
export function createOutbox<Answer = Receipt>(options: SqliteOutboxOptions<Answer>): SqliteOutbox<Answer> {
  const settings = parseOutboxOptions(options);
  const { database, now = Date.now } = options;
  const sending = new Drain(sqliteStore(database, now, outboxPlatform), settings, outboxPlatform);

  async function drain(): Promise<DrainReport<Answer>> {
    if (isInTransaction(database)) {
      throw new TypeError("drain: a transaction is open, so its purges are not committed yet. Drain after the commit.");
    }
    return sending.drain();
  }

  return {
    drain,
    start: (options) => sending.start(options),
    close: () => sending.close(),
    [Symbol.asyncDispose]: () => sending.close(),
    createTable() {
      waitingForLocks(database, () => createTable(database));
    },
    enqueue(transaction, request, options) {
      const purge = parseEnqueue(request, options, outboxPlatform.newId);
      if (!isInTransaction(transaction)) {
        throw new TypeError(
          "enqueue: no transaction is open on this connection. Write the change and its purge in one transaction, or else a crash between the two loses the purge.",
        );
      }
      checkSchema(transaction);
      const writing = prepared(transaction, writePurge("?", "?"));
      if (writing.all(purge.id, JSON.stringify(purge)).length === 0) {
        const { request: text } = prepared(transaction, heldPurge("?")).get(purge.id) as TableRow;
        refuseAnother(purge, text);
        writing.all(purge.id, text);
      }
      return purge.id;
    },
    list(options) {
      const { state, limit } = parseListOptions(options);
      checkSchema(database);
      const where = { waiting: "WHERE dead_at IS NULL", dead: "WHERE dead_at IS NOT NULL" };
      const sql = `SELECT ${LISTED_COLUMNS} FROM tidemark_outbox ${state ? where[state] : ""} ORDER BY seq LIMIT ?`;
      return (prepared(database, sql).all(limit) as TableRow[]).map(toQueuedPurge);
    },
    requeue(ids) {
      const given = ids === undefined ? null : parseIds("requeue", ids);
      return waitingForLocks(database, () => {
        checkSchema(database);
        const statement = database.prepare(
          `UPDATE tidemark_outbox SET ${REQUEUED}
           WHERE ${given ? "id = ?" : "dead_at IS NOT NULL"}`,
        );
        return changesOf(given ? given.map((id) => statement.run(id)) : [statement.run()]);
      });
    },
    discard(ids) {
      const given = parseIds("discard", ids);
      return waitingForLocks(database, () => {
        checkSchema(database);
        const statement = database.prepare("DELETE FROM tidemark_outbox WHERE dead_at IS NOT NULL AND id = ?");
        return changesOf(given.map((id) => statement.run(id)));
      });
    },
  };
}

function changesOf(results: readonly { changes: number | bigint }[]): number {
  return results.reduce((sum, { changes }) => sum + Number(changes), 0);
}

export type { DeadPurge, DrainReport, FailedPurge, SentPurge } from "./drain-report.ts";
export type { EnqueueOptions, ListOptions, OutboxOptions, OutboxPurger, StartOptions } from "./outbox-options.ts";
export type { IdentifiedRequest, QueuedPurge } from "./queued-purge.ts";
export { type SqliteDatabase, type SqliteStatement, TABLE_SQL } from "./sqlite-store.ts";
