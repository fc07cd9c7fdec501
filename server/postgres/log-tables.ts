import { type Database, IS_STANDBY } from "./database.ts";
import { SharedLogError, sharedLogError } from "./database-error.ts";
import { CREATE_SQL, SCHEMA_FORMAT, SCHEMA_LOCK, UPGRADE_SQL } from "./schema.ts";

/** Makes the log's tables unless they exist. Rejects with a `SharedLogError` if the log cannot be used. */
export async function makeTables(database: Database): Promise<void> {
  await database.transaction(async (query) => {
    await query(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`);
    const format = await formatOf(database, query);
    if (format < SCHEMA_FORMAT) await query(format === SCHEMA_FORMAT - 1 ? UPGRADE_SQL : CREATE_SQL);
  });
}

/** Rejects with a `SharedLogError` if the database cannot be reached, or takes no log. It only reads. */
export async function expectUsable(database: Database): Promise<void> {
  await formatOf(database, (text) => database.query(text));
}

/** The format of the log in there; 0 if there is none. Rejects like `expectUsable`. */
async function formatOf(database: Database, query: <Row>(text: string) => Promise<Row[]>): Promise<number> {
  const [server] = await query<UsedDatabase>(
    `SELECT pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only') = 'on' AS is_read_only,
      current_setting('server_encoding') AS encoding, to_regclass('tidemark_log_format') IS NOT NULL AS has_log,
      has_schema_privilege(schema, 'CREATE') AS may_create, quote_ident(schema) AS schema, quote_ident(current_user) AS role
    FROM coalesce(current_schema()::text, 'public') AS schema`,
  );
  const { is_standby: isStandby, is_read_only: isReadOnly, encoding, has_log: hasLog, ...rights } = server!;
  if (isStandby) throw standbyError(database);
  if (isReadOnly) throw sharedLogError(database.where, { code: IS_STANDBY });
  if (!STORES_ALL.has(encoding)) throw encodingError(database, encoding);
  const [log] = hasLog ? await query<{ format: number }>("SELECT format FROM tidemark_log_format") : [];
  const format = log?.format ?? 0;
  if (format > SCHEMA_FORMAT) throw laterError(database, format);
  if (format < SCHEMA_FORMAT && !rights.may_create) throw rightsError(database, rights);
  return format;
}

interface UsedDatabase {
  readonly is_standby: boolean;
  readonly is_read_only: boolean;
  readonly encoding: string;
  readonly has_log: boolean;
  readonly may_create: boolean;
  readonly schema: string;
  readonly role: string;
}

/** The encodings of PostgreSQL in which every purge key can be written. */
const STORES_ALL: ReadonlySet<string> = new Set(["UTF8", "SQL_ASCII"]);

function encodingError({ where }: Database, encoding: string): SharedLogError {
  const words = `its encoding, ${encoding}, cannot store every purge; create it with: createdb -T template0 -E UTF8`;
  return new SharedLogError(where, words, "lasting");
}

function rightsError({ where }: Database, { schema, role }: Pick<UsedDatabase, "schema" | "role">): SharedLogError {
  const words = `this user may not create the log's tables; allow it with: GRANT CREATE ON SCHEMA ${schema} TO ${role}`;
  return new SharedLogError(where, words, "lasting");
}

function laterError({ where }: Database, format: number): SharedLogError {
  const words = `a later version of tidemark created it (format ${format}; this version knows ${SCHEMA_FORMAT})`;
  return new SharedLogError(where, words, "lasting");
}

function standbyError({ where }: Database): SharedLogError {
  return new SharedLogError(where, "it is a standby, and the log needs the primary", "out-of-reach");
}
