import type { SeenKeys } from "../../metrics/sightings.ts";
import type { UnseenKey } from "../../metrics/unseen-key.ts";
import { nearestKey } from "../../rules/key/nearest-key.ts";
import { SEEN_KINDS } from "../../rules/key/seen-key.ts";
import type { Sql } from "./sql.ts";

const HOUR_MS = 3_600_000;

/** A key that no report has named for so long is forgotten: milliseconds. */
const SEEN_FOR_MS = 7 * 24 * HOUR_MS;

/** The time of a key is written anew after so long: milliseconds. A row that is written costs much more than one that is read. */
const NOTED_EVERY_MS = HOUR_MS;

/** A ledger that has listened for less has not heard of most pages, so that it cannot tell which are missing: milliseconds. */
const LISTENED_MS = HOUR_MS;

/** The most keys of one kind, up to those of one report. 20,000 of them take about 2 MB. */
const MAX_SEEN = 20_000;

/** The most keys of one kind that are looked up for one purge. */
const MAX_LOOKED_UP = 50;

/** The shortest time between two searches for nearest keys, which read all keys of a kind: milliseconds. */
const SEARCH_EVERY_MS = 100;

/**
 * The tags and the paths of stored pages, as reports have named them lately. If there are more of a kind than it holds,
 * nothing is said of that kind for as long as a key that was dropped would have been remembered.
 */
export class SqlSeenKeys {
  readonly #sql: Sql;
  readonly #now: () => number;
  #searchedAt = Number.NEGATIVE_INFINITY;
  #prunedAt = Number.NEGATIVE_INFINITY;
  /** How many keys of each kind may come before they are counted again. */
  readonly #room: Record<string, number> = {};

  constructor(sql: Sql, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    sql.exec("CREATE TABLE IF NOT EXISTS seen_keys (key TEXT PRIMARY KEY, kind TEXT, at INTEGER) WITHOUT ROWID");
    // `begun` lies ahead while nothing is said.
    sql.exec("CREATE TABLE IF NOT EXISTS seen_kinds (kind TEXT PRIMARY KEY, begun INTEGER)");
  }

  /** Takes in what a report has named. */
  take(seen: readonly SeenKeys[]): void {
    const now = this.#now();
    if (Math.abs(now - this.#prunedAt) >= NOTED_EVERY_MS) {
      this.#prunedAt = now;
      this.#sql.exec("DELETE FROM seen_keys WHERE at <= ?", now - SEEN_FOR_MS);
    }
    for (const { kind, keys, isWhole } of seen) {
      if (keys.length === 0) continue;
      const hasRoom = this.#hasRoom(kind, keys.length);
      const begin = (how: string, at: number) =>
        this.#sql.exec(`INSERT OR ${how} INTO seen_kinds VALUES (?, ?)`, kind, at);
      if (isWhole && hasRoom) begin("IGNORE", now);
      else begin("REPLACE", now + SEEN_FOR_MS);
      if (!hasRoom) continue;
      // The keys are passed as one parameter, because a statement has at most 100.
      this.#sql.exec(
        `INSERT INTO seen_keys SELECT value, ?, ? FROM json_each(?) WHERE true
          ON CONFLICT (key) DO UPDATE SET at = excluded.at WHERE at <= excluded.at - ?`,
        ...[kind, now, JSON.stringify(keys), NOTED_EVERY_MS],
      );
    }
  }

  /** Those of these keys that no report has named, as far as that can be told. */
  unseen(keys: readonly string[]): UnseenKey[] {
    const now = this.#now();
    const isSearched = Math.abs(now - this.#searchedAt) >= SEARCH_EVERY_MS;
    return SEEN_KINDS.flatMap((kind) => {
      const begun = this.#sql.exec("SELECT begun FROM seen_kinds WHERE kind = ?", kind)[0]?.begun as number | undefined;
      const missing = this.#missing(keys.filter((key) => key.startsWith(kind)));
      if (missing.length === 0 || begun! > now) return [];
      if (isSearched) this.#searchedAt = now;
      const known = isSearched ? this.#keysOf(kind) : [];
      return missing.map((key) => ({ key, nearest: nearestKey(key, known), isSure: now - begun! >= LISTENED_MS }));
    });
  }

  #missing(keys: readonly string[]): string[] {
    const named = JSON.stringify(keys.slice(0, MAX_LOOKED_UP));
    return this.#texts("SELECT value AS key FROM json_each(?) WHERE value NOT IN (SELECT key FROM seen_keys)", named);
  }

  #keysOf(kind: string): string[] {
    return this.#texts("SELECT key FROM seen_keys WHERE kind = ?", kind);
  }

  #texts(statement: string, binding: string): string[] {
    return this.#sql.exec<{ key: string }>(statement, binding).map(({ key }) => key);
  }

  #hasRoom(kind: string, count: number): boolean {
    this.#room[kind] = (this.#room[kind] ?? 0) - count;
    if (this.#room[kind] < 0) this.#room[kind] = MAX_SEEN - this.#keysOf(kind).length;
    return this.#room[kind] > 0;
  }
}
