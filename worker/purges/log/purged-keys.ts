import { HASH_WORDS } from "../view/key-hash.ts";
import type { Sql } from "./sql.ts";

/**
 * A key's hash and its highest sequence number. The hash is two signed words, which SQLite stores in fewer bytes than
 * unsigned ones.
 */
export interface PurgedKey {
  readonly a: number;
  readonly b: number;
  readonly seq: number;
}

/** The highest sequence number of each purged key in each mode, by the hash of the key. */
export class PurgedKeys {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS purged_keys (a INTEGER, b INTEGER, seq INTEGER NOT NULL, PRIMARY KEY (a, b))
        WITHOUT ROWID`,
    );
    sql.exec("CREATE INDEX IF NOT EXISTS purged_keys_by_seq ON purged_keys (seq)");
  }

  /** Gives the keys a number that is higher than all before. Returns how many of the keys are new. */
  raise(hashes: string, count: number, seq: number): number {
    const [{ held }] = this.#sql.exec(
      `SELECT count(*) AS held FROM json_each(?) AS named
        JOIN purged_keys ON a = json_extract(named.value, '$[0]') AND b = json_extract(named.value, '$[1]')`,
      hashes,
    ) as [{ held: number }];
    // The keys are passed as one parameter, because a statement has at most 100.
    this.#sql.exec(
      `INSERT INTO purged_keys SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), ? FROM json_each(?)
        WHERE true ON CONFLICT (a, b) DO UPDATE SET seq = excluded.seq`,
      seq,
      hashes,
    );
    return count - held;
  }

  /** The keys with numbers above `from` and up to `to`, the newest first. */
  newest(from: number, to: number, limit: number): PurgedKey[] {
    if (from >= to) return [];
    return this.#sql.exec<PurgedKey>(
      "SELECT a, b, seq FROM purged_keys WHERE seq > ? AND seq <= ? ORDER BY seq DESC LIMIT ?",
      from,
      to,
      limit,
    );
  }

  /** The lowest number up to which the log holds at least `count` keys. */
  seqOfOldest(count: number): number {
    const rows = this.#sql.exec("SELECT seq FROM purged_keys ORDER BY seq LIMIT 1 OFFSET ?", count - 1);
    return rows[0]!.seq as number;
  }

  /** Deletes whole purges. Returns the number of deleted keys. */
  forgetUpTo(seq: number): number {
    const [{ count }] = this.#sql.exec("SELECT count(*) AS count FROM purged_keys WHERE seq <= ?", seq) as [
      { count: number },
    ];
    this.#sql.exec("DELETE FROM purged_keys WHERE seq <= ?", seq);
    return count;
  }
}

/** Hashes as JSON, the format that this table takes. */
export function writeHashes(words: Uint32Array): string {
  const pairs: (readonly [a: number, b: number])[] = [];
  for (let at = 0; at < words.length; at += HASH_WORDS) pairs.push([words[at]! | 0, words[at + 1]! | 0]);
  return JSON.stringify(pairs);
}
