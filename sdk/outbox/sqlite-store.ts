import type { Clock } from "../clock.ts";
import {
  type ClaimTerms,
  chooseClaims,
  HALF_ACCEPTED_ROWS,
  MAX_SCANNED_ROWS,
  orderedPage,
  PAGE_ROWS,
  WAITING_INDEXES,
} from "./claims.ts";
import type { FailedRow, Lease, OutboxStore, StoreClaims } from "./outbox-store.ts";
import { type TableRow, toWaitingRow } from "./queued-purge.ts";
import { SCHEMA_VERSION, schemaError } from "./schema-version.ts";

/** The table as `createTable` creates it in SQLite, for the migrations of a backend. */
export const TABLE_SQL: string = `CREATE TABLE IF NOT EXISTS tidemark_outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  request TEXT NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  failure_scope TEXT,
  due_at INTEGER NOT NULL DEFAULT 0,
  lease_id TEXT,
  lease_until INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  enqueued_at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  dead_at INTEGER
) STRICT;
${WAITING_INDEXES}
CREATE TABLE IF NOT EXISTS tidemark_outbox_schema (version INTEGER NOT NULL) STRICT;
INSERT INTO tidemark_outbox_schema
  SELECT ${SCHEMA_VERSION} WHERE NOT EXISTS (SELECT 1 FROM tidemark_outbox_schema);
`;

/** The common part of the connections of `node:sqlite` and `better-sqlite3`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  /** Whether a transaction is open, as `node:sqlite` calls it. */
  readonly isTransaction?: boolean;
  /** The same, as `better-sqlite3` calls it. */
  readonly inTransaction?: boolean;
}

/** A prepared statement of either client. */
export interface SqliteStatement {
  // With a narrower type the statements of better-sqlite3 do not fit in TypeScript 5.
  run(...parameters: unknown[]): { changes: number | bigint };
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  /** Only `node:sqlite` has it. */
  setReturnArrays?(enabled: boolean): void;
}

/** A statement whose rows are objects, even on a connection of `node:sqlite` that returns arrays. */
export function prepared(database: SqliteDatabase, sql: string): SqliteStatement {
  const statement = database.prepare(sql);
  statement.setReturnArrays?.(false);
  return statement;
}

export function isInTransaction({ isTransaction, inTransaction }: SqliteDatabase): boolean {
  return isTransaction ?? inTransaction ?? false;
}

/**
 * Does work that writes, for which the connection waits as long as a step does for another connection's transaction to
 * end. It blocks the process, because the work is not asynchronous.
 */
export function waitingForLocks<T>(database: SqliteDatabase, work: () => T): T {
  return withBusyTimeout(database, MAX_BUSY_MS, work);
}

/** Does work for which the connection blocks the process for at most `ms` while another one has the lock. */
function withBusyTimeout<T>(database: SqliteDatabase, ms: number, work: () => T): T {
  const { timeout } = prepared(database, "PRAGMA busy_timeout").get() as { timeout: unknown };
  database.exec(`PRAGMA busy_timeout = ${ms}`);
  try {
    return work();
  } finally {
    database.exec(`PRAGMA busy_timeout = ${timeout}`);
  }
}

function hasSchema(database: SqliteDatabase): boolean {
  return prepared(database, "SELECT 1 FROM sqlite_schema WHERE name = 'tidemark_outbox_schema'").get() !== undefined;
}

/** Throws if the tables are missing or of another version. */
export function checkSchema(database: SqliteDatabase): void {
  const row = hasSchema(database) && prepared(database, "SELECT version FROM tidemark_outbox_schema").get();
  const error = schemaError(row ? Number((row as { version: unknown }).version) : null, TABLE_SQL);
  if (error) throw error;
}

/** Creates the tables unless they exist: all or none, so that no other process finds only some of them. */
export function createTable(database: SqliteDatabase): void {
  const create = () => database.exec(TABLE_SQL);
  // Without work it takes no lock.
  if (!hasSchema(database)) isInTransaction(database) ? create() : inTransaction(database, create);
  checkSchema(database);
}

/** How long a step waits for another connection's transaction to end. */
const MAX_BUSY_MS = 5_000;
const MAX_BUSY_PAUSE_MS = 50;

/**
 * The table in SQLite. SQLite lets one connection write at a time, so claims never overlap. The steps never run inside
 * a transaction of the caller's, which could roll them back, or show rows that are not committed yet.
 */
export function sqliteStore(
  database: SqliteDatabase,
  now: () => number,
  { clock, random }: { readonly clock: Clock; random(): number },
): OutboxStore {
  /**
   * Runs the work in a transaction, and repeats it while another transaction blocks it. The connection itself does not
   * wait, because the other transaction could not end in a blocked process.
   */
  async function transaction<T>(work: () => T): Promise<T> {
    const until = clock.now() + MAX_BUSY_MS;
    for (;;) {
      try {
        return withBusyTimeout(database, 0, () => inTransaction(database, work));
      } catch (error) {
        if (!isBusy(error) || clock.now() >= until) throw error;
        await clock.sleep(MAX_BUSY_PAUSE_MS * (0.1 + 0.9 * random()));
      }
    }
  }

  function claim(lease: Lease, terms: ClaimTerms): Promise<StoreClaims> {
    return transaction(() => {
      checkSchema(database);
      const halfAccepted = prepared(database, HALF_ACCEPTED_ROWS).all() as TableRow[];
      let claims = chooseClaims(halfAccepted.map(toWaitingRow), terms);
      const page = prepared(database, orderedPage("?"));
      let lastSeq = 0;
      for (let scanned = 0; scanned < MAX_SCANNED_ROWS; scanned += PAGE_ROWS) {
        const rows = (page.all(lastSeq) as TableRow[]).map(toWaitingRow);
        claims = chooseClaims(rows, terms, claims);
        if (rows.length < PAGE_ROWS || claims.isFull) break;
        lastSeq = rows.at(-1)!.seq;
      }
      const update = database.prepare("UPDATE tidemark_outbox SET lease_id = ?, lease_until = ? WHERE seq = ?");
      for (const { seq } of claims.rows) update.run(lease.id, lease.until, seq);
      return claims;
    });
  }

  async function remove(seq: number): Promise<void> {
    await transaction(() => database.prepare("DELETE FROM tidemark_outbox WHERE seq = ?").run(seq));
  }

  async function release(seqs: readonly number[], leaseId: string): Promise<void> {
    await transaction(() => {
      const update = database.prepare(
        "UPDATE tidemark_outbox SET lease_id = NULL, lease_until = 0 WHERE seq = ? AND lease_id = ?",
      );
      for (const seq of seqs) update.run(seq, leaseId);
    });
  }

  async function fail(
    seq: number,
    leaseId: string,
    { failures, scope, error, dueAt, deadAt }: FailedRow,
  ): Promise<boolean> {
    const { changes } = await transaction(() =>
      database
        .prepare(
          `UPDATE tidemark_outbox SET lease_id = NULL, lease_until = 0, failures = ?, failure_scope = ?, last_error = ?,
             due_at = ?, dead_at = ?
           WHERE seq = ? AND lease_id = ?`,
        )
        .run(failures, scope, error, dueAt, deadAt, seq, leaseId),
    );
    return Number(changes) > 0;
  }

  return { now: async () => now(), claim, remove, release, fail };
}

function inTransaction<T>(database: SqliteDatabase, work: () => T): T {
  if (isInTransaction(database)) throw new CallersTransaction();
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (isInTransaction(database)) database.exec("ROLLBACK");
    throw error;
  }
}

/** The backend's transaction is using the connection that was given to the outbox. */
class CallersTransaction extends Error {
  constructor() {
    super(
      "A transaction of the backend was open on the outbox's connection for more than five seconds. Give the outbox a connection of its own.",
    );
  }
}

/** SQLITE_BUSY, with its extended codes. */
function isBusy(error: unknown): boolean {
  if (error instanceof CallersTransaction) return true;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return (
    (typeof errcode === "number" && (errcode & 0xff) === 5) ||
    (typeof code === "string" && code.startsWith("SQLITE_BUSY"))
  );
}
