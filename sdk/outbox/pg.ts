/** `tidemark/outbox/pg`: an outbox of purges in PostgreSQL, over `pg`. */

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
import { checkSchema, createTable, type PgDatabase, pgStore, rowsOf } from "./pg-store.ts";
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

/** The options of `createOutbox`. */
export interface PgOutboxOptions<Answer = Receipt> extends OutboxOptions<Answer> {
  /** A `Pool`, or a connected `Client` that the backend uses for no transactions. */
  database: PgDatabase;
}

/**
 * Purges that are written in the transaction of the change that they belong to, and sent after its commit: at least once
 * each, always with the same `id`, so that the edge carries them out once. Any number of processes may send them.
 */
export interface PgOutbox<Answer = Receipt> extends AsyncDisposable {
  /** Creates the table unless it exists. Rejects if it exists in another version. */
  createTable(): Promise<void>;
  /**
   * Writes a purge in the open transaction of this client, and resolves to its `id`. If the transaction is rolled back,
   * nothing is purged. A repeated `id` requeues its purge if the table still has that. Rejects with a `TypeError` for
   * an invalid purge, for the `id` of another purge in the table, and if it sees that no transaction is open.
   */
  enqueue(transaction: PgDatabase, request: PurgeInput, options?: EnqueueOptions): Promise<string>;
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
  list(options?: ListOptions): Promise<QueuedPurge[]>;
  /**
   * Makes purges due at once, with all their attempts again: all that were given up, or those with these ids, even
   * waiting ones. Resolves to their number. `drain` sends them.
   */
  requeue(ids?: Iterable<string>): Promise<number>;
  /** Deletes purges that were given up, by their ids. Resolves to their number. */
  discard(ids: Iterable<string>): Promise<number>;
  /** Ends `start`, and waits for running sends. Unsent purges remain in the table. */
  close(): Promise<void>;
}

/** Makes an outbox. Throws a `TypeError` for an unknown option, or one of the wrong type. */
export function createOutbox<Answer = Receipt>(options: PgOutboxOptions<Answer>): PgOutbox<Answer> {
  const settings = parseOutboxOptions(options);
  const { database, now } = options;
  const sending = new Drain(pgStore(database, now), settings, outboxPlatform);
  let isChecked = false;

  async function check(connection: PgDatabase): Promise<void> {
    if (!isChecked) await checkSchema(connection);
    isChecked = true;
  }

  return {
    drain: () => sending.drain(),
    start: (options) => sending.start(options),
    close: () => sending.close(),
    [Symbol.asyncDispose]: () => sending.close(),
    createTable: () => createTable(database),
    async enqueue(transaction, request, options) {
      const purge = parseEnqueue(request, options, outboxPlatform.newId);
      refuseNoTransaction(transaction);
      await check(transaction);
      const write = (text: unknown) => rowsOf(transaction, writePurge("$1", "$2"), [purge.id, text]);
      if ((await write(JSON.stringify(purge))).length === 0) {
        const [held] = await rowsOf(transaction, heldPurge("$1"), [purge.id]);
        const { request: text } = held as TableRow;
        refuseAnother(purge, text);
        await write(text);
      }
      return purge.id;
    },
    async list(options) {
      const { state, limit } = parseListOptions(options);
      await check(database);
      const where = { waiting: "WHERE dead_at IS NULL", dead: "WHERE dead_at IS NOT NULL" };
      const { rows } = await database.query(
        `SELECT ${LISTED_COLUMNS} FROM tidemark_outbox ${state ? where[state] : ""} ORDER BY seq LIMIT $1`,
        [limit],
      );
      return (rows as readonly TableRow[]).map(toQueuedPurge);
    },
    async requeue(ids) {
      const given = ids === undefined ? null : parseIds("requeue", ids);
      await check(database);
      const { rowCount } = await database.query(
        `UPDATE tidemark_outbox SET ${REQUEUED}
         WHERE ${given ? "id = ANY($1::text[])" : "dead_at IS NOT NULL"}`,
        given ? [given] : [],
      );
      return rowCount ?? 0;
    },
    async discard(ids) {
      const given = parseIds("discard", ids);
      await check(database);
      const { rowCount } = await database.query(
        "DELETE FROM tidemark_outbox WHERE dead_at IS NOT NULL AND id = ANY($1::text[])",
        [given],
      );
      return rowCount ?? 0;
    },
  };
}

/**
 * A pool is refused, because its queries run on connections of their own. Newer clients of `pg` know whether a
 * transaction is open (`I` for idle); with others this is not checked, because that would cost a query.
 */
function refuseNoTransaction(transaction: PgDatabase): void {
  const { totalCount, getTransactionStatus } = transaction as {
    totalCount?: unknown;
    getTransactionStatus?: () => unknown;
  };
  const isPool = typeof totalCount === "number";
  if (isPool || (typeof getTransactionStatus === "function" && getTransactionStatus.call(transaction) === "I")) {
    throw new TypeError(
      `enqueue: ${isPool ? "this is a pool, whose queries are not part of your transaction" : "no transaction is open on this client"}. Write the change and its purge with one client in one transaction, or else a crash between the two loses the purge.`,
    );
  }
}

export type { DeadPurge, DrainReport, FailedPurge, SentPurge } from "./drain-report.ts";
export type { EnqueueOptions, ListOptions, OutboxOptions, OutboxPurger, StartOptions } from "./outbox-options.ts";
export { type PgDatabase, type PgResult, TABLE_SQL } from "./pg-store.ts";
export type { IdentifiedRequest, QueuedPurge } from "./queued-purge.ts";
