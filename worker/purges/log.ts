import type { AcceptedItems, NewPurge } from "../ports.ts";
import type { Stamp } from "../rules/stored-response.ts";
import { GrantedLeases, type LongestLease } from "./granted-leases.ts";
import type { AppendRequest, AppendResult, ViewDelta } from "./log-contract.ts";

/** SQLite as the log needs it: the Durable Object's own, or any other with the same two calls. */
export interface Sql {
  exec(statement: string, ...bindings: (string | number | null)[]): Record<string, unknown>[];
  /** Runs all or nothing: an exception undoes every statement. */
  transaction<T>(work: () => T): T;
}

export interface LogSettings {
  /** The most keys that one reply tells; the oldest beyond it are covered by the floor. */
  readonly replyKeys: number;
  /** The most keys that the log holds; the oldest beyond it are covered by the floor. */
  readonly heldKeys: number;
  /** How long ids and audit rows are kept, in milliseconds; at least a day. */
  readonly auditMs: number;
}

/** Keys are folded away after so many purges, or after one with more keys: an append need not count each time. */
const FOLD_EVERY = 256;

/**
 * The purge log: gives each accepted purge the next number in one transaction, and tells readers what they missed.
 * Every answer is taken from storage in one synchronous block (R14).
 */
export class Log {
  readonly #sql: Sql;
  readonly #settings: LogSettings;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #leases: GrantedLeases;

  constructor(sql: Sql, settings: LogSettings, now: () => number, newId: () => string) {
    this.#sql = sql;
    this.#settings = settings;
    this.#now = now;
    this.#newId = newId;
    sql.transaction(() => {
      sql.exec("CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
      sql.exec(
        `CREATE TABLE IF NOT EXISTS purges (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, id TEXT UNIQUE,
          content TEXT, accepted TEXT NOT NULL, reason TEXT, token_name TEXT NOT NULL)`,
      );
      sql.exec("CREATE TABLE IF NOT EXISTS purged_keys (key TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID");
      sql.exec(
        `CREATE TABLE IF NOT EXISTS repeats (id INTEGER PRIMARY KEY, due_at INTEGER NOT NULL, accepted TEXT NOT NULL,
          reason TEXT, token_name TEXT NOT NULL)`,
      );
      sql.exec("CREATE TABLE IF NOT EXISTS repeat_keys (repeat_id INTEGER NOT NULL, key TEXT NOT NULL)");
      sql.exec("CREATE INDEX IF NOT EXISTS purged_keys_by_seq ON purged_keys (seq)");
      sql.exec(
        "INSERT OR IGNORE INTO meta VALUES ('id', ?), ('head', '0'), ('floor', '0'), ('longestLease', 'null')",
        newId(),
      );
    });
    this.#leases = new GrantedLeases({
      read: () => JSON.parse(this.#meta("longestLease")) as LongestLease | null,
      write: (longest) => this.#setMeta("longestLease", JSON.stringify(longest)),
    });
  }

  /** What was purged after the reader's position, and the lease that the reader asks for. */
  read(since: Stamp | null, leaseMs: number): ViewDelta {
    this.#leases.grant(leaseMs, this.#now());
    this.#noticeLostHistory(since);
    const to = Number(this.#meta("head"));
    const logId = this.#meta("id");
    const from = since?.logId === logId ? since.seq : 0;
    let floor = Number(this.#meta("floor"));
    const { replyKeys } = this.#settings;
    const rows = this.#sql.exec(
      "SELECT key, seq FROM purged_keys WHERE seq > ? ORDER BY seq DESC LIMIT ?",
      Math.max(from, floor),
      replyKeys + 1,
    ) as { key: string; seq: number }[];
    if (rows.length > replyKeys) {
      floor = rows[replyKeys]!.seq;
    }
    const purged = rows.filter(({ seq }) => seq > floor).map(({ key, seq }) => [key, seq] as const);
    return { logId, from, to, floor, purged, leaseMs };
  }

  /** Accepts a purge, or answers a repeated one with its first receipt. All of it happens, or nothing. */
  append(purge: AppendRequest): AppendResult {
    return this.#sql.transaction(() => {
      const now = this.#now();
      this.#noticeLostHistory(purge.since);
      const first = purge.id === null ? undefined : this.#find(purge.id);
      if (first && first.content !== purge.content) return { kind: "conflict" };
      const seq = first?.seq ?? this.#add(purge, now);
      if (!first && purge.repeatAfterMs !== null) this.#schedule(purge, seq, now + purge.repeatAfterMs);
      const delta = this.read(purge.since, purge.leaseMs);
      return {
        kind: "appended",
        seq,
        logId: this.#meta("id"),
        at: first?.at ?? now,
        settlesInMs: this.#leases.longestLivingMs(now) + purge.skewMs,
        replayed: first !== undefined,
        delta,
      };
    });
  }

  /** When the next repeated purge is due: epoch milliseconds; `null` if none is. */
  nextDueAt(): number | null {
    return this.#sql.exec("SELECT min(due_at) AS due_at FROM repeats")[0]!.due_at as number | null;
  }

  /** Purges again what is due by now: each under a number of its own, and without the id of the first (R20). */
  runDue(): void {
    this.#sql.transaction(() => {
      const now = this.#now();
      for (const due of this.#sql.exec("SELECT * FROM repeats WHERE due_at <= ? ORDER BY due_at, id", now)) {
        const { id, reason, token_name: by } = due as { id: number; reason: string; token_name: string };
        const keys = this.#sql.exec("SELECT key FROM repeat_keys WHERE repeat_id = ?", id);
        const purgeKeys = keys.map(({ key }) => key as string);
        const accepted = JSON.parse(due.accepted as string) as AcceptedItems;
        this.#add({ id: null, content: "", purgeKeys, accepted, reason, by }, now);
        this.#sql.exec("DELETE FROM repeat_keys WHERE repeat_id = ?", id);
        this.#sql.exec("DELETE FROM repeats WHERE id = ?", id);
      }
    });
  }

  #schedule(purge: AppendRequest, seq: number, dueAt: number): void {
    const [{ id }] = this.#sql.exec(
      "INSERT INTO repeats (due_at, accepted, reason, token_name) VALUES (?, ?, ?, ?) RETURNING id",
      ...[dueAt, JSON.stringify(purge.accepted), `repeats ${seq}: ${purge.reason ?? ""}`, purge.by],
    ) as [{ id: number }];
    for (const key of purge.purgeKeys) this.#sql.exec("INSERT INTO repeat_keys VALUES (?, ?)", id, key);
  }

  /** A reader ahead of the head shows that storage went back in time: numbers would be used twice (R13). */
  #noticeLostHistory(since: Stamp | null): void {
    if (since === null || since.seq <= Number(this.#meta("head")) || since.logId !== this.#meta("id")) return;
    this.#setMeta("id", this.#newId());
  }

  #add(purge: Omit<NewPurge, "repeatAfterMs">, now: number): number {
    const seq = Number(this.#meta("head")) + 1;
    this.#setMeta("head", String(seq));
    this.#sql.exec(
      "INSERT INTO purges (seq, at, id, content, accepted, reason, token_name) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...[seq, now, purge.id, purge.id === null ? null : purge.content, JSON.stringify(purge.accepted)],
      ...[purge.reason, purge.by],
    );
    for (const key of purge.purgeKeys) {
      this.#sql.exec(
        "INSERT INTO purged_keys (key, seq) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET seq = excluded.seq",
        key,
        seq,
      );
    }
    if (seq % FOLD_EVERY === 0 || purge.purgeKeys.length > FOLD_EVERY) this.#fold(now);
    return seq;
  }

  #find(id: string): { seq: number; at: number; content: string } | undefined {
    const rows = this.#sql.exec("SELECT seq, at, content FROM purges WHERE id = ?", id);
    return rows[0] as { seq: number; at: number; content: string } | undefined;
  }

  /** Forgets what is too old or too much. Only a rise of the floor may forget keys (R13). */
  #fold(now: number): void {
    this.#sql.exec("DELETE FROM purges WHERE at < ?", now - this.#settings.auditMs);
    const beyond = this.#sql.exec(
      "SELECT seq FROM purged_keys ORDER BY seq DESC LIMIT 1 OFFSET ?",
      this.#settings.heldKeys,
    )[0];
    if (!beyond) return;
    this.#sql.exec("DELETE FROM purged_keys WHERE seq <= ?", beyond.seq as number);
    this.#setMeta("floor", String(beyond.seq));
  }

  #meta(name: string): string {
    return this.#sql.exec("SELECT value FROM meta WHERE name = ?", name)[0]!.value as string;
  }

  #setMeta(name: string, value: string): void {
    this.#sql.exec("INSERT OR REPLACE INTO meta VALUES (?, ?)", name, value);
  }
}
