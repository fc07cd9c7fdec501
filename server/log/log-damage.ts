import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { LeasesOnRecord } from "../../worker/purges/settlement/granted-leases.ts";

/*
 * SQLite has checksums in its write-ahead log and none in its file. So what the rules depend on is there twice, in a table
 * and in an index with all of its columns, and one is compared with the other. The schema has a checksum, in a field of the
 * file's header that SQLite leaves to its users.
 */

/** The tables that the rules depend on, with their indexes. A damaged audit trail is noticed when it is read. */
const COPIES: Readonly<Record<string, string>> = {
  state: "state_copy",
  repeats: "repeats_copy",
  purged_keys: "purged_keys_by_seq",
};

/** Makes the copies that are missing, and the checksum. The log's own tables are there, with the index of purged keys. */
export function keepCopies(database: DatabaseSync): void {
  if (checksumIn(database) === checksumOfSchema(database)) return;
  database.exec(`SAVEPOINT copies;
    CREATE INDEX IF NOT EXISTS state_copy ON state (form, id, head, floor, keys, hard, soft, invalidate, longest_lease);
    CREATE INDEX IF NOT EXISTS repeats_copy ON repeats (due_at, repeat_of, hashes, purge, skew_ms)`);
  database.exec(`PRAGMA user_version = ${checksumOfSchema(database)}; RELEASE copies`);
}

/** Whether the log was opened before. Then its head was noted, too. */
export function hasCopies(database: DatabaseSync): boolean {
  return checksumIn(database) !== 0;
}

/** Throws as SQLite does if the log is damaged. */
export function refuseDamage(database: DatabaseSync): void {
  if (hasCopies(database) && checksumIn(database) !== checksumOfSchema(database))
    throw damage("its schema has changed");
  const names = new Set(schemaOf(database).map(({ name }) => name));
  for (const [table, copy] of Object.entries(COPIES)) {
    if (names.has(table)) refuseDamagedTable(database, table, names.has(copy) ? copy : null);
  }
  for (const [table, isReadable] of Object.entries(READABLE)) {
    if (names.has(table) && !isReadable(database)) throw damage(`${table} has values that no log of this version has`);
  }
}

/** The same, also of what is noticed otherwise only when it is read: the audit trail and the counts. */
export function refuseAnyDamage(database: DatabaseSync): void {
  refuseDamage(database);
  refuse(database, "integrity_check");
}

function refuseDamagedTable(database: DatabaseSync, table: string, copy: string | null): void {
  // For the most keys that a log may have, SQLite's comparison takes 1.6 s, and this one 0.3 s.
  const isLarge = table === "purged_keys";
  refuse(database, `${isLarge ? "quick_check" : "integrity_check"}(${table})`);
  if (!isLarge || copy === null) return;
  const sums = (index: string) =>
    JSON.stringify(
      database.prepare(`SELECT count(*), sum(a), sum(b), sum(seq) FROM ${table} INDEXED BY ${index}`).get(),
    );
  if (sums(`sqlite_autoindex_${table}_1`) !== sums(copy)) throw damage(`${table} differs from ${copy}`);
}

/** `check`: one of SQLite's own. */
function refuse(database: DatabaseSync, check: string): void {
  const [first] = database.prepare(`PRAGMA ${check}`).all();
  const [found] = Object.values(first!);
  if (found !== "ok") throw damage(String(found));
}

/**
 * Whether this program can read what SQLite finds whole: another one may have written it. It must not be passed over, because
 * a lease that is forgotten lets a purge settle too early (R6); another log instead counts with the longest one (R13).
 */
const READABLE: Readonly<Record<string, (database: DatabaseSync) => boolean>> = {
  state: (database) => {
    const whole = ["form", "head", "floor", "keys", "hard", "soft", "invalidate"].map(
      (column) => `typeof(${column}) = 'integer' AND ${column} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`,
    );
    const rows = database
      .prepare(`SELECT longest_lease, typeof(id) = 'text' AND ${whole.join(" AND ")} AS fits FROM state`)
      .all();
    return rows.every(({ fits, longest_lease: leases }) => fits === 1 && areLeases(String(leases)));
  },
  repeats: (database) => {
    const purge = [
      ["mode", "'text'"],
      ["content", "'text'"],
      ["purgeKeys", "'text'"],
      ["purgeKeyCount", "'integer'"],
      ["accepted", "'object'"],
      ["reason", "'text', 'null'"],
      ["by", "'text'"],
    ].map(([name, types]) => `ifnull(json_type(purge, '$.${name}'), '') IN (${types})`);
    const numbers = ["due_at", "repeat_of", "skew_ms"].map((column) => `typeof(${column}) = 'integer'`);
    const fits = [...numbers, "json_valid(hashes)", "json_valid(purge)", ...purge].join(" AND ");
    return database.prepare(`SELECT count(*) AS odd FROM repeats WHERE NOT (${fits})`).get()!.odd === 0;
  },
};

/** Each log has granted some when it was opened for the first time. */
function areLeases(text: string): boolean {
  try {
    const { until, namelessAt, bornAt = 0 } = JSON.parse(text) as LeasesOnRecord;
    const numbers = [namelessAt, bornAt, ...Object.entries(until).flatMap(([ms, at]) => [Number(ms), at])];
    return Object(until) === until && numbers.every(Number.isFinite);
  } catch {
    return false;
  }
}

function checksumIn(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()!.user_version);
}

/** Never 0, which is the field's initial value. */
function checksumOfSchema(database: DatabaseSync): number {
  return crc32(JSON.stringify(schemaOf(database))) | 0 || 1;
}

function schemaOf(database: DatabaseSync) {
  return database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name").all();
}

function damage(words: string): Error {
  return Object.assign(new Error(words), { code: "ERR_SQLITE_ERROR", errcode: 11 });
}
