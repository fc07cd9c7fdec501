import type { UnseenKey } from "../../metrics/unseen-key.ts";
import { nearestKey } from "../../rules/key/nearest-key.ts";
import { type SeenKind, seenKindOf } from "../../rules/key/seen-key.ts";
import type { Sql } from "./sql.ts";

const HOUR_MS = 3_600_000;

const DAY_MS = 24 * HOUR_MS;

/** A key that no report has named for so long is forgotten, up to a day later: milliseconds. */
const SEEN_FOR_MS = 7 * DAY_MS;

/** The time of a key is written anew after so long: milliseconds. A row that is written costs much more than one that is read. */
const NOTED_EVERY_MS = DAY_MS;

/** A ledger that has listened for less has not heard of most pages, so that it cannot tell which are missing: milliseconds. */
const LISTENED_MS = HOUR_MS;

/** The most keys of one kind. Up to twice as many have rows until they are counted. They take about 2 MB. */
const MAX_SEEN = 20_000;

/** The most keys in one parameter: the platform takes about 2 MB, and the longest key in JSON 1.5 KB. */
const MAX_BOUND = 1000;

/**
 * The most keys that one answer calls unseen, for how many of them the nearest are searched, and the shortest time between two
 * such searches. A search takes up to 80 ms for each, in which the log does nothing else.
 */
const MAX_UNSEEN = 10;
const MAX_SEARCHED = 3;
const SEARCH_EVERY_MS = 1000;

/**
 * The tags and the paths of stored pages, as reports have named them lately. If there are more of a kind than it holds, it
 * forgets them, and begins to listen again when no page that it has forgotten would still be remembered.
 */
export class SqlSeenKeys {
  readonly #sql: Sql;
  readonly #now: () => number;
  /** What waits for `write`. A kind with too many keys has only itself among them. */
  readonly #held = new Map<SeenKind, Set<string>>();
  #searchedAt = 0;
  /** The rows that were written since the keys were counted. */
  #written = 0;

  constructor(sql: Sql, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    sql.exec("CREATE TABLE IF NOT EXISTS seen_keys (key TEXT PRIMARY KEY, at INTEGER) WITHOUT ROWID");
    // The time since which it listens to a kind.
    sql.exec("CREATE TABLE IF NOT EXISTS seen_kinds (kind TEXT PRIMARY KEY, since INTEGER)");
  }

  /** Takes in what a report has named. A kind itself is among its keys if there were more. */
  hold(seen: readonly string[]): void {
    for (const key of seen) {
      const kind = seenKindOf(key);
      if (kind === undefined) continue;
      const held = this.#held.get(kind) ?? new Set();
      if (!held.has(kind)) held.add(key);
      this.#held.set(kind, key === kind || held.size > MAX_SEEN ? new Set([kind]) : held);
    }
  }

  /** Writes what is held. If it throws, it is all still held, because the reports that have named it are not taken again. */
  write(): void {
    this.#sql.transaction(() => this.#writeHeld());
    this.#held.clear();
  }

  /** The keys among these that no report has named, as far as that is known. */
  unseen(keys: readonly string[]): UnseenKey[] {
    const now = this.#now();
    const missing = this.#sql.exec<{ at: number; since: number }>(
      `SELECT json_each.key AS at, ifnull(since, ?2) AS since
        FROM json_each(?1) LEFT JOIN seen_kinds ON value GLOB kind || '*'
        WHERE ifnull(since, 0) <= ?2 AND value NOT IN (SELECT key FROM seen_keys) LIMIT ?3`,
      ...[JSON.stringify(keys), now, MAX_UNSEEN],
    );
    const mayBeSearched = Math.abs(now - this.#searchedAt) >= SEARCH_EVERY_MS;
    const searched = missing.slice(0, mayBeSearched ? MAX_SEARCHED : 0);
    if (searched.length > 0) this.#searchedAt = now;
    const known = [...new Set(searched.map(({ at }) => seenKindOf(keys[at]!)!))].flatMap((kind) => this.#keysOf(kind));
    return missing.map(({ at, since }, place) => ({
      at,
      nearest: place < searched.length ? nearestKey(keys[at]!, known) : undefined,
      isSure: now - since >= LISTENED_MS,
    }));
  }

  /**
   * Forgets keys that were not named for long, which is as of `at`, and kinds that have too many keys. It reads each key three
   * times.
   */
  prune(at: number): void {
    this.#written = 0;
    this.#sql.exec("DELETE FROM seen_keys WHERE at <= ?", at - SEEN_FOR_MS - NOTED_EVERY_MS);
    const full = this.#sql.exec<{ kind: SeenKind }>(
      "SELECT kind FROM seen_kinds JOIN seen_keys ON key GLOB kind || '*' GROUP BY kind HAVING count(*) > ?",
      MAX_SEEN,
    );
    for (const { kind } of full) this.#forget(kind);
  }

  #writeHeld(): void {
    const now = this.#now();
    for (const [kind, keys] of this.#held) {
      this.#sql.exec("INSERT OR IGNORE INTO seen_kinds VALUES (?, ?)", kind, now);
      if (keys.has(kind)) this.#forget(kind);
      else this.#writeKeys(kind, [...keys], now);
    }
    if (this.#written > MAX_SEEN) this.prune(now);
  }

  #writeKeys(kind: SeenKind, keys: readonly string[], now: number): void {
    for (let from = 0; from < keys.length; from += MAX_BOUND) {
      // They are passed as one parameter, because a statement has at most 100.
      const written = this.#sql.exec(
        `INSERT INTO seen_keys SELECT value, ? FROM json_each(?) JOIN seen_kinds ON kind = ? AND since <= ? WHERE true
          ON CONFLICT (key) DO UPDATE SET at = excluded.at WHERE at <= excluded.at - ? RETURNING 1`,
        ...[now, JSON.stringify(keys.slice(from, from + MAX_BOUND)), kind, now, NOTED_EVERY_MS],
      );
      this.#written += written.length;
    }
  }

  #keysOf(kind: SeenKind): string[] {
    const rows = this.#sql.exec<{ key: string }>("SELECT key FROM seen_keys WHERE key GLOB ? || '*'", kind);
    return rows.map(({ key }) => key);
  }

  #forget(kind: SeenKind): void {
    this.#sql.exec("DELETE FROM seen_keys WHERE key GLOB ? || '*'", kind);
    this.#sql.exec("UPDATE seen_kinds SET since = ? WHERE kind = ?", this.#now() + SEEN_FOR_MS, kind);
  }
}
