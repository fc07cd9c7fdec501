import type { PurgeMode, PurgeRecord, PurgeRecordPage } from "../../ports.ts";
import type { Stamp } from "../../rules/storing/stored-response.ts";
import { hashKeys, inMode } from "../view/key-hash.ts";
import { type AuditedPurge, AuditTrail, writePurgeKeys } from "./audit-trail.ts";
import { GrantedLeases, type LongestLease } from "./granted-leases.ts";
import {
  type AppendRequest,
  type AppendResult,
  ITEM_WORDS,
  type ReaderPosition,
  type ViewDelta,
} from "./log-contract.ts";
import { LogLoad, stretchedLeaseMs } from "./log-load.ts";
import { LOG_SETTINGS, type LogSettings } from "./log-settings.ts";
import { type PurgedKey, PurgedKeys, writeHashes } from "./purged-keys.ts";
import type { Sql } from "./sql.ts";

/** The form of what is stored, the hash of keys included. What was stored in another form is of no use. */
const FORM = 2;

/** Audit rows and ids are folded away after so many purges: an append need not look each time. */
const FOLD_EVERY = 256;

/** The one row of what the log knows of itself. */
interface State {
  readonly form: number;
  readonly id: string;
  readonly head: number;
  readonly floor: number;
  readonly keys: number;
  readonly hard: number;
  readonly soft: number;
  readonly invalidate: number;
}

/** A purge that is due again. */
interface Repeat {
  readonly id: number;
  readonly repeat_of: number;
  readonly hashes: string;
  readonly purge: string;
  readonly skew_ms: number;
}

/**
 * The purge log: gives each accepted purge the next number in one transaction, and tells readers what they missed.
 * Every answer is taken from storage in one synchronous block (R14).
 */
export class Log {
  readonly #sql: Sql;
  readonly #settings: LogSettings;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #keys: PurgedKeys;
  readonly #audit: AuditTrail;
  readonly #leases: GrantedLeases;
  readonly #load: LogLoad;

  /** Settings that are not given are those of `LOG_SETTINGS`. */
  constructor(sql: Sql, settings: Partial<LogSettings>, now: () => number, newId: () => string) {
    this.#sql = sql;
    this.#settings = { ...LOG_SETTINGS, ...settings };
    this.#now = now;
    this.#newId = newId;
    [this.#keys, this.#audit] = sql.transaction(() => this.#open());
    this.#load = new LogLoad(this.#settings.readsPerSecond);
    this.#leases = new GrantedLeases({
      read: () => JSON.parse(sql.exec("SELECT longest_lease FROM state")[0]!.longest_lease as string) as LongestLease,
      write: (longest) => sql.exec("UPDATE state SET longest_lease = ?", JSON.stringify(longest)),
    });
  }

  /** What was purged after the reader's position, and a lease: the one that the reader asks for, or a longer one under load. */
  read(since: ReaderPosition | null, askedMs: number, withinMs = askedMs): ViewDelta {
    const now = this.#now();
    const leaseMs = stretchedLeaseMs(askedMs, this.#load.count(now));
    this.#leases.grant(Math.max(askedMs, withinMs), now);
    if (leaseMs > askedMs) this.#leases.stretch(leaseMs, now);
    return this.#tell(since, leaseMs);
  }

  #tell(since: ReaderPosition | null, leaseMs: number): ViewDelta {
    this.#noticeLostHistory(since);
    const { id: logId, head: to, floor, hard, soft, invalidate } = this.#state();
    const isOfThisLog = since?.logId === logId;
    const from = isOfThisLog ? since.seq : 0;
    const untold = (isOfThisLog && since.untold) || null;
    // One more than a reply holds: the first that has no room says where the reply ends.
    let room = this.#settings.replyKeys + 1;
    const rows = this.#keys.newest(Math.max(from, floor), to, room);
    room -= rows.length;
    if (untold && room > 0) rows.push(...this.#keys.newest(Math.max(untold.from, floor), untold.to, room));
    const toldAbove = rows[this.#settings.replyKeys]?.seq ?? 0;
    const items = writeItems(rows, toldAbove);
    return { logId, from, to, untold, toldAbove, floor, heads: { hard, soft, invalidate }, items, leaseMs };
  }

  /** Accepts a purge, or answers a repeated one with its first receipt. All of it happens, or nothing. */
  append(purge: AppendRequest): AppendResult {
    return this.#sql.transaction(() => {
      const now = this.#now();
      const mode = purge.mode ?? "hard";
      this.#noticeLostHistory(purge.since);
      this.#leases.grant(Math.max(purge.leaseMs, purge.withinMs ?? 0), now);
      const settlesInMs = this.#leases.longestLivingMs(now) + purge.skewMs;
      const first = purge.id === null ? undefined : this.#audit.find(purge.id);
      if (first && (first.content !== purge.content || first.mode !== mode)) return { kind: "conflict" };
      const seq = first?.seq ?? this.#addNew(purge, mode, now, settlesInMs);
      const since = purge.since && { logId: purge.since.logId, seq: purge.since.seq };
      const delta = this.#tell(since, purge.leaseMs);
      const at = first?.at ?? now;
      return { kind: "appended", seq, logId: delta.logId, at, settlesInMs, replayed: first !== undefined, delta };
    });
  }

  /** The audit trail below `before`, the newest first. */
  list(before: number | null, limit: number): PurgeRecordPage {
    return this.#audit.list(before, limit, this.#now());
  }

  one(seq: number): PurgeRecord | null {
    return this.#audit.one(seq, this.#now());
  }

  /** When the next repeated purge is due: epoch milliseconds; `null` if none is. */
  nextDueAt(): number | null {
    return this.#sql.exec("SELECT min(due_at) AS due_at FROM repeats")[0]!.due_at as number | null;
  }

  /** Purges again what is due by now: each under a number of its own, and without the id of the first (R20). */
  runDue(): void {
    this.#sql.transaction(() => {
      const now = this.#now();
      const due = this.#sql.exec("SELECT * FROM repeats WHERE due_at <= ? ORDER BY due_at, id", now);
      for (const { id, repeat_of: repeatOf, hashes, purge, skew_ms: skewMs } of due as unknown as Repeat[]) {
        const audited = { ...(JSON.parse(purge) as AuditedPurge), id: null, repeatOf };
        this.#add(audited, hashes, now, this.#leases.longestLivingMs(now) + skewMs);
        this.#sql.exec("DELETE FROM repeats WHERE id = ?", id);
      }
    });
  }

  #open(): [PurgedKeys, AuditTrail] {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS state (form INTEGER, id TEXT, head INTEGER, floor INTEGER, keys INTEGER,
        hard INTEGER, soft INTEGER, invalidate INTEGER, longest_lease TEXT)`,
    );
    const state = this.#sql.exec("SELECT form FROM state")[0];
    if (state?.form !== FORM) {
      for (const table of ["purged_keys", "audit", "ids", "repeats"]) this.#sql.exec(`DROP TABLE IF EXISTS ${table}`);
    }
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS repeats (id INTEGER PRIMARY KEY, due_at INTEGER NOT NULL, repeat_of INTEGER NOT NULL,
        hashes TEXT NOT NULL, purge TEXT NOT NULL, skew_ms INTEGER NOT NULL)`,
    );
    const parts: [PurgedKeys, AuditTrail] = [new PurgedKeys(this.#sql), new AuditTrail(this.#sql, this.#settings)];
    if (!state) this.#sql.exec("INSERT INTO state (longest_lease) VALUES ('null')");
    if (state?.form !== FORM) this.#beginAnew();
    return parts;
  }

  /** Another log begins: all that any isolate has stored is of the one before, and so invalid (R13). */
  #beginAnew(): void {
    for (const table of ["purged_keys", "audit", "ids"]) this.#sql.exec(`DELETE FROM ${table}`);
    this.#sql.exec(
      "UPDATE state SET form = ?, id = ?, head = 0, floor = 0, keys = 0, hard = 0, soft = 0, invalidate = 0",
      FORM,
      this.#newId(),
    );
  }

  /** A reader ahead of the head shows that storage went back in time: numbers would be used twice (R13). */
  #noticeLostHistory(since: Stamp | null): void {
    const { id, head } = this.#state();
    if (since?.logId === id && since.seq > head) this.#sql.exec("UPDATE state SET id = ?", this.#newId());
  }

  #addNew(purge: AppendRequest, mode: PurgeMode, now: number, settlesInMs: number): number {
    const { id, content, accepted, reason, by } = purge;
    const keys = [...new Set(purge.purgeKeys)];
    const hashes = writeHashes(hashKeys(keys).map((word) => inMode(word, mode)));
    const named = { purgeKeys: writePurgeKeys(keys), purgeKeyCount: keys.length };
    const audited: AuditedPurge = { id, content, accepted, reason, by, mode, ...named, repeatOf: null };
    const seq = this.#add(audited, hashes, now, settlesInMs);
    if (purge.repeatAfterMs !== null) {
      this.#sql.exec(
        "INSERT INTO repeats (due_at, repeat_of, hashes, purge, skew_ms) VALUES (?, ?, ?, ?, ?)",
        ...[now + purge.repeatAfterMs, seq, hashes, JSON.stringify(audited), purge.skewMs],
      );
    }
    return seq;
  }

  #add(purge: AuditedPurge, hashes: string, now: number, settlesInMs: number): number {
    if (this.#state().head >= this.#settings.mostSeq) this.#beginAnew();
    const before = this.#state();
    const seq = before.head + 1;
    const added = this.#keys.raise(hashes, purge.purgeKeyCount, seq);
    const heads: Record<PurgeMode, number> = { ...before };
    heads[purge.mode] = seq;
    this.#sql.exec(
      "UPDATE state SET head = ?, hard = ?, soft = ?, invalidate = ?, keys = keys + ?",
      ...[seq, heads.hard, heads.soft, heads.invalidate, added],
    );
    this.#audit.write(seq, purge, now, now + settlesInMs);
    // A purge that no reply has room for could never be told.
    if (purge.purgeKeyCount > this.#settings.replyKeys) this.#forgetUpTo(seq);
    const excess = this.#state().keys - this.#settings.heldKeys;
    if (excess > 0) this.#forgetUpTo(this.#keys.oldest(excess));
    if (seq % FOLD_EVERY === 0) this.#audit.fold(seq, now);
    return seq;
  }

  /** Only a rise of the floor may forget keys (R13). */
  #forgetUpTo(seq: number): void {
    const forgotten = this.#keys.forgetUpTo(seq);
    this.#sql.exec("UPDATE state SET floor = max(floor, ?), keys = keys - ?", seq, forgotten);
  }

  #state(): State {
    return this.#sql.exec("SELECT * FROM state")[0] as unknown as State;
  }
}

/** A delta's items: the rows that it has room for, purges left whole. */
function writeItems(rows: readonly PurgedKey[], toldAbove: number): Uint32Array {
  const told = rows.filter(({ seq }) => seq > toldAbove);
  const items = new Uint32Array(told.length * ITEM_WORDS);
  for (const [index, { a, b, seq }] of told.entries()) items.set([a, b, seq], index * ITEM_WORDS);
  return items;
}
