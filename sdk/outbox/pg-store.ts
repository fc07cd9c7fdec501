import {
  type ClaimTerms,
  chooseClaims,
  HALF_ACCEPTED_ROWS,
  MAX_SCANNED_ROWS,
  obtainedClaims,
  orderedPage,
  PAGE_ROWS,
  WAITING_INDEXES,
} from "./claims.ts";
import type { FailedRow, Lease, OutboxStore, StoreClaims } from "./outbox-store.ts";
import { type TableRow, toWaitingRow } from "./queued-purge.ts";
import { SCHEMA_VERSION, schemaError } from "./schema-version.ts";

/** The table as `createTable` creates it in PostgreSQL, for the migrations of a backend. */
export const TABLE_SQL: string = `CREATE TABLE IF NOT EXISTS tidemark_outbox (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  request TEXT NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  failure_scope TEXT,
  due_at BIGINT NOT NULL DEFAULT 0,
  lease_id TEXT,
  lease_until BIGINT NOT NULL DEFAULT 0,
  last_error TEXT,
  enqueued_at BIGINT NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
  dead_at BIGINT
);
${WAITING_INDEXES}
CREATE TABLE IF NOT EXISTS tidemark_outbox_schema (version INTEGER NOT NULL);
INSERT INTO tidemark_outbox_schema
  SELECT ${SCHEMA_VERSION} WHERE NOT EXISTS (SELECT 1 FROM tidemark_outbox_schema);
`;

/** A `Client` or a `Pool` of `pg`, or another object with its `query`. */
export interface PgDatabase {
  query(text: string, values?: unknown[]): Promise<PgResult>;
}

/** The result of a query, as far as it is used. */
export interface PgResult {
  readonly rows: readonly unknown[];
  readonly rowCount: number | null;
}

/** Rejects with a `TypeError` for an object of another library that has no `query`, or one that resolves to a list. */
export async function rowsOf(database: PgDatabase, text: string, values?: unknown[]): Promise<readonly unknown[]> {
  const result = typeof database.query === "function" ? await database.query(text, values) : undefined;
  if (Array.isArray(result?.rows)) return result.rows;
  throw new TypeError(
    "The outbox needs an object with the query of pg, which resolves to { rows }. In a transaction, TypeORM has it as " +
      "await manager.queryRunner.connect(), Knex as await trx.client.acquireConnection(), Drizzle as tx.session.client.",
  );
}

async function hasSchema(database: PgDatabase): Promise<boolean> {
  const rows = await rowsOf(database, "SELECT to_regclass('tidemark_outbox_schema') IS NOT NULL AS exists");
  return (rows[0] as { exists: boolean }).exists;
}

/** Rejects if the tables are missing or of another version. It aborts no transaction. */
export async function checkSchema(database: PgDatabase): Promise<void> {
  const exists = await hasSchema(database);
  const { rows } = exists ? await database.query("SELECT version FROM tidemark_outbox_schema") : { rows: [] };
  const error = schemaError(rows.length > 0 ? Number((rows[0] as { version: unknown }).version) : null, TABLE_SQL);
  if (error) throw error;
}

/**
 * Creates the tables if they are missing: otherwise `CREATE INDEX IF NOT EXISTS` would wait for all transactions that
 * have written, and make later ones wait. Without the lock, two processes that both see no table fail in
 * `CREATE TABLE IF NOT EXISTS`. Statements in one text are one transaction, which holds the lock. One that is serializable
 * by the database's default fails even so if another has created them meanwhile, and looks again.
 */
export async function createTable(database: PgDatabase): Promise<void> {
  if (!(await hasSchema(database))) {
    try {
      await database.query(`SELECT pg_advisory_xact_lock(${LOCK_NUMBER});\n${TABLE_SQL}`);
    } catch (error) {
      if ((Object(error) as { code?: unknown }).code !== SERIALIZATION_FAILURE) throw error;
      return createTable(database);
    }
  }
  await checkSchema(database);
}

const SERIALIZATION_FAILURE = "40001";

/** Any number that other programs are unlikely to use: the letters "tidemark" as a 64-bit number. */
const LOCK_NUMBER = "8388346167743836779";

/**
 * The table in PostgreSQL. A claim reads without a lock, then leases in one statement what no other process holds. A
 * row that another process leased first is left out, and so are the rows behind it.
 *
 * Numbers are assigned before the commit, so a row can appear after one with a higher number that was committed, and
 * perhaps sent, earlier. Each purge is sent after its own commit, and that order counts.
 */
export function pgStore(database: PgDatabase, givenNow: (() => number) | undefined): OutboxStore {
  let isChecked = false;

  /** The clocks of several machines may differ, so the database's clock counts. */
  async function now(): Promise<number> {
    if (givenNow) return givenNow();
    const rows = await rowsOf(database, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now");
    return Number((rows[0] as { now: unknown }).now);
  }

  async function claim(lease: Lease, terms: ClaimTerms): Promise<StoreClaims> {
    if (!isChecked) await checkSchema(database);
    isChecked = true;
    const halfAccepted = await database.query(HALF_ACCEPTED_ROWS);
    let claims = chooseClaims((halfAccepted.rows as readonly TableRow[]).map(toWaitingRow), terms);
    let lastSeq = 0;
    for (let scanned = 0; scanned < MAX_SCANNED_ROWS; scanned += PAGE_ROWS) {
      const page = await database.query(orderedPage("$1"), [lastSeq]);
      const rows = (page.rows as readonly TableRow[]).map(toWaitingRow);
      claims = chooseClaims(rows, terms, claims);
      if (rows.length < PAGE_ROWS || claims.isFull) break;
      lastSeq = rows.at(-1)!.seq;
    }
    if (claims.rows.length === 0) return claims;
    const leased = await database.query(
      `WITH free AS (
         SELECT seq FROM tidemark_outbox
         WHERE seq = ANY($1::bigint[]) AND dead_at IS NULL
           AND (due_at <= $2 OR due_at > $5) AND (lease_until <= $2 OR lease_until > $5)
         FOR UPDATE SKIP LOCKED
       )
       UPDATE tidemark_outbox AS o SET lease_id = $3, lease_until = $4 FROM free WHERE o.seq = free.seq RETURNING o.seq`,
      [claims.rows.map(({ seq }) => seq), terms.now, lease.id, lease.until, terms.latestAt],
    );
    const obtained = new Set((leased.rows as readonly TableRow[]).map(({ seq }) => Number(seq)));
    const ours = obtainedClaims(claims, obtained, terms);
    const behind = [...obtained].filter((seq) => !ours.rows.some((row) => row.seq === seq));
    if (behind.length > 0) await release(behind, lease.id);
    return ours;
  }

  async function remove(seq: number): Promise<void> {
    await database.query("DELETE FROM tidemark_outbox WHERE seq = $1", [seq]);
  }

  async function release(seqs: readonly number[], leaseId: string): Promise<void> {
    await database.query(
      "UPDATE tidemark_outbox SET lease_id = NULL, lease_until = 0 WHERE seq = ANY($1::bigint[]) AND lease_id = $2",
      [seqs, leaseId],
    );
  }

  async function fail(
    seq: number,
    leaseId: string,
    { failures, scope, error, dueAt, deadAt }: FailedRow,
  ): Promise<boolean> {
    const { rowCount } = await database.query(
      `UPDATE tidemark_outbox SET lease_id = NULL, lease_until = 0, failures = $1, failure_scope = $2, last_error = $3,
         due_at = $4, dead_at = $5
       WHERE seq = $6 AND lease_id = $7`,
      [failures, scope, error, dueAt, deadAt, seq, leaseId],
    );
    return (rowCount ?? 0) > 0;
  }

  return { now, claim, remove, release, fail };
}
