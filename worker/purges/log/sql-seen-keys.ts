import type { UnseenKey } from "../../metrics/unseen-key.ts";
import { nearestKey } from "../../rules/key/nearest-key.ts";
import { SEEN_KINDS, type SeenKind } from "../../rules/key/seen-key.ts";
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

/** The most keys that one answer calls unseen. */
const MAX_UNSEEN = 20;

/** The shortest time between two searches for nearest keys, which read all keys of a kind: milliseconds. */
const SEARCH_EVERY_MS = 100;

/**
 * The tags and the paths of stored pages, as reports have named them lately. If there are more of a kind than it holds,
 * nothing is said of that kind for as long as a key that was dropped would have been remembered.
 */
export class SqlSeenKeys {
  readonly #sql: Sql;
  readonly #now: () => number;
  #searchedAt = 0;
  #prunedAt = 0;
  /** How many keys of each kind may come before they are counted again. */
  readonly #room: Record<SeenKind, number> = { "#": 0, "path:": 0 };

  constructor(sql: Sql, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    sql.exec("CREATE TABLE IF NOT EXISTS seen_keys (key TEXT PRIMARY KEY, at INTEGER) WITHOUT ROWID");
    // In the row of a kind, the time since which its keys are known. It lies ahead while nothing is said of them.
    sql.exec("CREATE TABLE IF NOT EXISTS seen_kinds (kind TEXT PRIMARY KEY, since INTEGER)");
  }

  /** Takes in what a report has named. A kind itself is among its keys if there were more. */
  take(seen: readonly string[]): void {
    const now = this.#now();
    if (Math.abs(now - this.#prunedAt) >= NOTED_EVERY_MS) {
      this.#prunedAt = now;
      this.#sql.exec("DELETE FROM seen_keys WHERE at <= ?", now - SEEN_FOR_MS);
    }
    for (const kind of SEEN_KINDS) {
      const keys = seen.filter((key) => key.startsWith(kind) && key !== kind);
      if (keys.length === 0) continue;
      const hasRoom = this.#hasRoom(kind, keys.length);
      const [how, since] = hasRoom && !seen.includes(kind) ? ["IGNORE", now] : ["REPLACE", now + SEEN_FOR_MS];
      this.#sql.exec(`INSERT OR ${how} INTO seen_kinds VALUES (?, ?)`, kind, since as number);
      if (!hasRoom) continue;
      // The keys are passed as one parameter, because a statement has at most 100.
      this.#sql.exec(
        `INSERT INTO seen_keys SELECT value, ? FROM json_each(?) WHERE true
          ON CONFLICT (key) DO UPDATE SET at = excluded.at WHERE at <= excluded.at - ?`,
        ...[now, JSON.stringify(keys), NOTED_EVERY_MS],
      );
    }
  }

  /** Those of these keys, a JSON array, that no report has named, as far as that can be told. */
  unseen(keys: string): UnseenKey[] {
    const now = this.#now();
    const missing = this.#sql.exec<{ key: string; since: number }>(
      `SELECT value AS key, since FROM json_each(?) JOIN seen_kinds ON value GLOB kind || '*'
        WHERE since <= ? AND value NOT IN (SELECT key FROM seen_keys) LIMIT ?`,
      ...[keys, now, MAX_UNSEEN],
    );
    if (missing.length === 0) return [];
    const isSearched = Math.abs(now - this.#searchedAt) >= SEARCH_EVERY_MS;
    if (isSearched) this.#searchedAt = now;
    const known = isSearched ? this.#keys("") : [];
    return missing.map(({ key, since }) => ({
      key,
      nearest: nearestKey(key, known),
      isSure: now - since >= LISTENED_MS,
    }));
  }

  #keys(kind: string): string[] {
    const rows = this.#sql.exec<{ key: string }>("SELECT key FROM seen_keys WHERE key GLOB ? || '*'", kind);
    return rows.map(({ key }) => key);
  }

  #hasRoom(kind: SeenKind, count: number): boolean {
    this.#room[kind] -= count;
    if (this.#room[kind] < 0) this.#room[kind] = MAX_SEEN - this.#keys(kind).length;
    return this.#room[kind] > 0;
  }
}
