import type { AcceptedItems, NewPurge, PurgeMode, PurgeRecord, PurgeRecordPage } from "../../ports/purge-log.ts";
import { type DatedPurge, MAX_DATED } from "./log-contract.ts";
import type { LogSettings } from "./log-settings.ts";
import type { Sql } from "./sql.ts";

/** The most characters of purge keys that a row keeps. */
const MAX_KEY_CHARACTERS = 2000;

/** The most rows in one answer. */
export const MAX_LISTED = 500;

/** A clock may be ahead for fewer purges than this without anything being deleted by it. */
const MAY_BE_AHEAD = 100;

/** Every id is remembered for at least this long, however many others there are. */
export const MIN_ID_MS = 24 * 3600 * 1000;

/** A purge as its audit row stores it. */
export interface AuditedPurge extends Pick<NewPurge, "id" | "content" | "accepted" | "reason" | "by"> {
  readonly mode: PurgeMode;
  /** In the format of `writePurgeKeys`. */
  readonly purgeKeys: string;
  readonly purgeKeyCount: number;
  readonly repeatOf: number | null;
}

/** The first purge that was accepted under an id. */
export interface FirstPurge {
  readonly seq: number;
  readonly at: number;
  readonly content: string;
  readonly mode: PurgeMode;
}

/**
 * Records who purged what, when and why. Also records the ids of purges, so that a purge that is sent twice is carried
 * out once.
 */
export class AuditTrail {
  readonly #sql: Sql;
  readonly #settings: LogSettings;
  #settledUpTo = 0;

  constructor(sql: Sql, settings: LogSettings) {
    this.#sql = sql;
    this.#settings = settings;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS audit (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, token_name TEXT NOT NULL,
        reason TEXT, mode TEXT NOT NULL, accepted TEXT NOT NULL, purge_keys TEXT NOT NULL,
        purge_key_count INTEGER NOT NULL, id TEXT, repeat_of INTEGER, settles_at INTEGER NOT NULL)`,
    );
    sql.exec("CREATE INDEX IF NOT EXISTS audit_dated ON audit (seq) WHERE mode <> 'hard'");
    sql.exec(
      `CREATE TABLE IF NOT EXISTS ids (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL,
        content TEXT NOT NULL, mode TEXT NOT NULL)`,
    );
  }

  write(seq: number, purge: AuditedPurge, now: number, settlesAt: number): void {
    const { id, content, mode, accepted, reason, by, purgeKeys, purgeKeyCount, repeatOf } = purge;
    this.#sql.exec(
      "INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ...[seq, now, by, reason, mode, JSON.stringify(accepted), purgeKeys, purgeKeyCount, id, repeatOf, settlesAt],
    );
    // An id that is too old to count may still have its row.
    if (id !== null) this.#sql.exec("INSERT OR REPLACE INTO ids VALUES (?, ?, ?, ?, ?)", seq, id, now, content, mode);
  }

  /**
   * The latest purges above a number and up to another one that make pages stale, the newest first. Rows may have been pruned.
   * The time of one that lies ahead, because the clock was set back or the row is damaged, counts as long ago.
   */
  dated(above: number, upTo: number, now: number): DatedPurge[] {
    const rows = this.#sql.exec<{ seq: number; at: number }>(
      `SELECT seq, CAST(at AS REAL) AS at FROM audit WHERE seq > ? AND seq <= ? AND mode <> 'hard'
        ORDER BY seq DESC LIMIT ?`,
      ...[above, upTo, MAX_DATED],
    );
    return rows.map(({ seq, at }) => ({ seq, agoMs: at <= now ? now - at : now }));
  }

  firstWithId(id: string, now: number): FirstPurge | undefined {
    const since = now - this.#settings.idRetentionMs;
    return this.#sql.exec<FirstPurge>("SELECT * FROM ids WHERE id = ? AND at >= ?", id, since)[0];
  }

  /** Rows in which a disk has damaged a list are passed over, because one would hide all others. */
  list(before: number | null, limit: number, now: number): PurgeRecordPage {
    const max = Math.min(Math.max(1, Math.trunc(limit) || 1), MAX_LISTED);
    const rows = this.#sql.exec<AuditRow>(
      "SELECT * FROM audit WHERE seq < ? AND json_valid(accepted) AND json_valid(purge_keys) ORDER BY seq DESC LIMIT ?",
      before ?? Number.MAX_SAFE_INTEGER,
      max + 1,
    );
    const purges = rows.slice(0, max).map((row) => recordOf(row, now));
    return { purges, next: rows[max] ? purges.at(-1)!.seq : null };
  }

  find(seq: number, now: number): PurgeRecord | null {
    return this.list(seq + 1, 1, now).purges.find((each) => each.seq === seq) ?? null;
  }

  /**
   * Records that the purges above a number and up to this one settle at this time, if it is earlier than the recorded
   * one.
   */
  settle(seq: number, at: number, above: number = seq - 1): void {
    this.#sql.exec("UPDATE audit SET settles_at = ? WHERE seq > ? AND seq <= ? AND settles_at > ?", at, above, seq, at);
  }

  /** Records that the purges up to this number have settled. */
  settleUpTo(seq: number, now: number): void {
    // Rows below the last call's number have settled, so that the whole trail is searched once.
    this.settle(seq, now, seq < this.#settledUpTo ? 0 : this.#settledUpTo);
    this.#settledUpTo = seq;
  }

  /** Deletes rows and ids that are too old or too many. A soft purge whose row is gone counts as made long ago. */
  prune(head: number): void {
    // How late it is for sure: a clock that is ahead until it is set must not outdate the whole trail.
    const { at } = this.#sql.exec<{ at: number }>(
      "SELECT CAST(min(at) AS REAL) AS at FROM audit WHERE seq > ?",
      head - MAY_BE_AHEAD,
    )[0]!;
    const { maxAuditRows, auditRetentionMs, keptInvalidations, maxIds, idRetentionMs } = this.#settings;
    this.#sql.exec(
      "DELETE FROM audit WHERE mode <> 'hard' AND mode = 'invalidate' AND seq <= ?", // by the index of dated purges
      head - keptInvalidations,
    );
    this.#sql.exec(
      `DELETE FROM audit WHERE seq < (SELECT seq FROM audit WHERE at >= ? AND seq >= coalesce(
        (SELECT seq FROM audit ORDER BY seq DESC LIMIT 1 OFFSET ?), 0) ORDER BY seq LIMIT 1)`,
      ...[at - auditRetentionMs, maxAuditRows - 1],
    );
    this.#sql.exec(
      `DELETE FROM ids WHERE seq < coalesce(
        (SELECT seq FROM ids WHERE at >= ? AND (seq > ? OR at >= ?) ORDER BY seq LIMIT 1), ?)`,
      ...[at - idRetentionMs, head - maxIds, at - MIN_ID_MS, head + 1],
    );
  }
}

/** The first keys of a purge, as many as a row has room for, as JSON. */
export function writePurgeKeys(keys: readonly string[]): string {
  let room = MAX_KEY_CHARACTERS;
  const kept = keys.filter((key) => {
    room -= key.length;
    return room >= 0;
  });
  return JSON.stringify(kept);
}

/** A row of the trail as it is stored. */
export interface AuditRow {
  readonly seq: number;
  readonly at: number;
  readonly token_name: string;
  readonly reason: string | null;
  readonly mode: PurgeMode;
  readonly accepted: string;
  readonly purge_keys: string;
  readonly purge_key_count: number;
  readonly id: string | null;
  readonly repeat_of: number | null;
  readonly settles_at: number;
}

export function recordOf(row: AuditRow, now: number): PurgeRecord {
  const settlesInMs = row.settles_at - now;
  return {
    seq: row.seq,
    at: row.at,
    by: row.token_name,
    reason: row.reason,
    mode: row.mode,
    accepted: JSON.parse(row.accepted) as AcceptedItems,
    purgeKeys: JSON.parse(row.purge_keys) as string[],
    purgeKeyCount: row.purge_key_count,
    id: row.id,
    repeatOf: row.repeat_of,
    settled: settlesInMs <= 0,
    settlesInMs,
  };
}
