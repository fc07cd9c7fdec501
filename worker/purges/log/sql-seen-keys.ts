import type { SeenKeys, SeenOfKind } from "../../metrics/sightings.ts";
import type { UnseenKey } from "../../metrics/unseen-key.ts";
import { nearestKey } from "../../rules/key/nearest-key.ts";
import { SEEN_KINDS, type SeenKind, seenKindOf } from "../../rules/key/seen-key.ts";
import type { Sql } from "./sql.ts";

const HOUR_MS = 3_600_000;

/** A key that no report has named for so long is forgotten: milliseconds. */
export const SEEN_FOR_MS = 7 * 24 * HOUR_MS;

/** The time of a key is written anew after so long: milliseconds. A row that is written costs much more than one that is read. */
const NOTED_EVERY_MS = HOUR_MS;

/** A ledger that has begun within so long has not heard of most pages, so that it cannot tell which are missing. */
export const LISTENED_MS = HOUR_MS;

/** The most keys of one kind. 20,000 of them take about 2 MB. */
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
  readonly #maxSeen: number;
  #prunedAt = Number.NEGATIVE_INFINITY;
  #searchedAt = Number.NEGATIVE_INFINITY;
  /** Of each kind, at least as many as there are. */
  #held: Record<SeenKind, number> = { tag: 0, path: 0 };

  constructor(sql: Sql, now: () => number, maxSeen = MAX_SEEN) {
    this.#sql = sql;
    this.#now = now;
    this.#maxSeen = maxSeen;
    sql.exec("CREATE TABLE IF NOT EXISTS seen_keys (key TEXT PRIMARY KEY, kind TEXT, at INTEGER) WITHOUT ROWID");
    sql.exec("CREATE TABLE IF NOT EXISTS seen_kinds (kind TEXT PRIMARY KEY, begun INTEGER, silent_until INTEGER)");
  }

  /** Takes in what a report has named. */
  take(seen: SeenKeys): void {
    const now = this.#now();
    if (now - this.#prunedAt >= NOTED_EVERY_MS || now < this.#prunedAt) this.#prune(now);
    for (const kind of SEEN_KINDS) this.#takeKind(kind, seen[kind], now);
  }

  /** Those of these keys that no report has named, as far as that can be told. */
  unseen(keys: readonly string[]): UnseenKey[] {
    const now = this.#now();
    const missing = this.#missing(keys);
    const unseen: UnseenKey[] = [];
    const searches = now - this.#searchedAt >= SEARCH_EVERY_MS || now < this.#searchedAt;
    for (const kind of SEEN_KINDS) {
      const asked = missing.filter((key) => seenKindOf(key) === kind);
      const [{ begun, silentUntil } = { begun: now, silentUntil: 0 }] = this.#sql.exec<{
        begun: number;
        silentUntil: number;
      }>("SELECT begun, silent_until AS silentUntil FROM seen_kinds WHERE kind = ?", kind);
      if (asked.length === 0 || now < silentUntil) continue;
      if (searches) this.#searchedAt = now;
      const known = searches ? this.#sql.exec<{ key: string }>("SELECT key FROM seen_keys WHERE kind = ?", kind) : [];
      const names = known.map(({ key }) => key);
      const isSure = now - begun >= LISTENED_MS;
      unseen.push(...asked.map((key) => ({ key, nearest: nearestKey(key, names), isSure })));
    }
    return unseen;
  }

  #missing(keys: readonly string[]): string[] {
    const rows = this.#sql.exec<{ key: string }>(
      `SELECT named.value AS key FROM json_each(?) AS named LEFT JOIN seen_keys ON seen_keys.key = named.value
        WHERE at IS NULL LIMIT ?`,
      ...[JSON.stringify(keys), MAX_UNSEEN],
    );
    return rows.map(({ key }) => key);
  }

  #takeKind(kind: SeenKind, { keys, isWhole }: SeenOfKind, now: number): void {
    if (keys.length === 0) return;
    const named = JSON.stringify(keys);
    const [{ fresh }] = this.#sql.exec(
      `SELECT count(*) AS fresh FROM json_each(?) AS named LEFT JOIN seen_keys ON seen_keys.key = named.value
        WHERE at IS NULL`,
      named,
    ) as [{ fresh: number }];
    const hasRoom = this.#held[kind] + fresh <= this.#maxSeen;
    if (!isWhole || !hasRoom) this.#silence(kind, now);
    if (!hasRoom) return;
    this.#held[kind] += fresh;
    this.#sql.exec("INSERT OR IGNORE INTO seen_kinds VALUES (?, ?, 0)", kind, now);
    // The keys are passed as one parameter, because a statement has at most 100.
    this.#sql.exec(
      `INSERT INTO seen_keys SELECT value, ?, ? FROM json_each(?) WHERE true
        ON CONFLICT (key) DO UPDATE SET at = excluded.at WHERE at <= excluded.at - ?`,
      ...[kind, now, named, NOTED_EVERY_MS],
    );
  }

  #silence(kind: SeenKind, now: number): void {
    this.#sql.exec(
      `INSERT INTO seen_kinds VALUES (?, ?, ?) ON CONFLICT (kind) DO UPDATE SET silent_until = excluded.silent_until
        WHERE silent_until <= excluded.silent_until - ?`,
      ...[kind, now, now + SEEN_FOR_MS, NOTED_EVERY_MS],
    );
  }

  #prune(now: number): void {
    this.#prunedAt = now;
    this.#sql.exec("DELETE FROM seen_keys WHERE at <= ?", now - SEEN_FOR_MS);
    for (const kind of SEEN_KINDS) {
      const [{ held }] = this.#sql.exec("SELECT count(*) AS held FROM seen_keys WHERE kind = ?", kind) as [
        { held: number },
      ];
      this.#held[kind] = held;
    }
  }
}
