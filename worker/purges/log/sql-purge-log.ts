import type { PurgeMode, PurgeRecord, PurgeRecordPage } from "../../ports/purge-log.ts";
import type { Stamp } from "../../rules/storing/stored-response.ts";
import { GrantedLeases, type LeaseStorage } from "../settlement/granted-leases.ts";
import { type Confirmed, Settlement } from "../settlement/settlement.ts";
import { hashKeys, hashWordFor } from "../view/key-hash.ts";
import { type AuditedPurge, AuditTrail, writePurgeKeys } from "./audit-trail.ts";
import {
  type AppendRequest,
  type AppendResult,
  ITEM_WORDS,
  type ReaderPosition,
  UNKNOWN_MS,
  type ViewDelta,
} from "./log-contract.ts";
import { LogLoad, leaseUnderLoadMs } from "./log-load.ts";
import { LOG_SETTINGS, type LogSettings } from "./log-settings.ts";
import type { LogStorage } from "./log-storage.ts";
import { type PurgedKey, PurgedKeys, writeHashes } from "./purged-keys.ts";
import type { Sql } from "./sql.ts";

/** The format of the stored data, including the hash of the keys. A log that finds another format begins anew (R13). */
const STORAGE_FORMAT = 3;

/** Audit rows and ids are pruned once in this many purges, so that not every append has to search for old ones. */
const PRUNE_EVERY = 256;

/** As a limit of SQLite. */
const ALL = -1;

/** The one row of the log's own state. */
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

/** A purge that is to be repeated. */
interface Repeat {
  readonly id: number;
  readonly repeat_of: number;
  readonly hashes: string;
  readonly purge: string;
  readonly skew_ms: number;
}

/**
 * The purge log over SQLite. It gives each accepted purge the next sequence number in one transaction. Every reply is read
 * from storage in one synchronous block (R14). It also keeps the book of the readers that have a name (R25).
 */
export class SqlPurgeLog implements LogStorage {
  readonly #sql: Sql;
  readonly #settings: LogSettings;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #keys: PurgedKeys;
  readonly #audit: AuditTrail;
  readonly #leases: GrantedLeases;
  readonly #settlement = new Settlement();
  readonly #startedAt: number;
  readonly #load: LogLoad;

  /** Missing settings are those of `LOG_SETTINGS`. */
  constructor(sql: Sql, settings: Partial<LogSettings>, now: () => number, newId: () => string) {
    this.#sql = sql;
    this.#settings = { ...LOG_SETTINGS, ...settings };
    this.#now = now;
    this.#newId = newId;
    this.#leases = new GrantedLeases(leasesIn(sql));
    [this.#keys, this.#audit] = sql.transaction(() => this.#open());
    this.#load = new LogLoad(this.#settings.readsPerSecond);
    this.#startedAt = now();
  }

  /**
   * Under load, the lease is longer than the one that is asked for. `reader`: the name under which the reader will confirm
   * what its view has reached (R25). Default: it never will. `by`: the connection over which it reads.
   */
  read(
    since: ReaderPosition | null,
    askedMs: number,
    longestViewAgeMs = askedMs,
    reader?: string,
    by?: object,
  ): ViewDelta {
    const now = this.#now();
    const leaseMs = leaseUnderLoadMs(askedMs, this.#load.noteRead(now));
    this.#noteEarlierLog(since, now);
    this.#grant(reader, Math.max(askedMs, longestViewAgeMs), now);
    if (leaseMs > askedMs) this.#leases.stretch(leaseMs, now);
    const reply = this.#replyTo(since, leaseMs);
    if (reader !== undefined && leaseMs > 0) {
      const useMs = Math.max(leaseMs, longestViewAgeMs, this.#settings.rememberedByNameMs);
      this.#settlement.join(reader, now + useMs, now, by);
    }
    return reply;
  }

  /** Records what a reader's view has reached (R25). Returns whether that has settled a purge, at once or soon. */
  confirm(reader: string, position: Stamp): boolean {
    return this.#noteSettled(this.#settlement.confirm(reader, position));
  }

  /** Records that a reader has given up the leases that it got over a connection. Returns the same as `confirm`. */
  leave(reader: string, by: object): boolean {
    return this.#noteSettled(this.#settlement.leave(reader, by));
  }

  #noteSettled(settled: readonly Confirmed[]): boolean {
    const { logId } = this.head;
    const ofThisLog = settled.filter((each) => each.logId === logId);
    for (const { seq, earliest } of ofThisLog) this.#audit.settle(seq, Math.max(this.#now(), earliest));
    return ofThisLog.length > 0;
  }

  changesSince(position: Stamp | null): ViewDelta {
    return this.#replyTo(position, 0);
  }

  /** The log's id and its highest number. */
  get head(): Stamp {
    const { id, head } = this.#state();
    return { logId: id, seq: head };
  }

  /** Begins another log, because this one has lost what it should know, which may include the leases (R13). */
  replace(): void {
    const now = this.#now();
    this.#leases.begin(false, now);
    this.#leases.noteEarlierLog(this.#settings.longestUseMs, now);
    this.#sql.exec("UPDATE state SET id = ?", this.#newId());
  }

  settleUpTo({ logId, seq }: Stamp): void {
    if (this.#state().id === logId) this.#audit.settleUpTo(seq, this.#now());
  }

  #replyTo(since: ReaderPosition | null, leaseMs: number): ViewDelta {
    const { id: logId, head: to, floor, hard, soft, invalidate } = this.#noticeLostHistory(since);
    const isOfThisLog = since?.logId === logId;
    const from = isOfThisLog ? since.seq : 0;
    const unread = (isOfThisLog && since.unread) || null;
    // Reads one more than a reply holds: the first key without room marks the end of the reply.
    let room = this.#settings.maxReplyKeys + 1;
    const rows = this.#keys.newest(Math.max(from, floor), to, room);
    room -= rows.length;
    if (unread && room > 0) rows.push(...this.#keys.newest(Math.max(unread.from, floor), unread.to, room));
    const truncatedAt = rows[this.#settings.maxReplyKeys]?.seq ?? 0;
    const items = writeItems(rows, truncatedAt);
    const reply = { logId, from, to, unread, truncatedAt, floor, heads: { hard, soft, invalidate }, items, leaseMs };
    if (Math.max(soft, invalidate) <= from) return reply;
    return { ...reply, dated: this.#audit.dated(from, to, this.#now()) };
  }

  append(purge: AppendRequest): AppendResult {
    return this.#sql.transaction(() => {
      const now = this.#now();
      const mode = purge.mode ?? "hard";
      this.#noticeLostHistory(purge.since);
      const { reader } = purge;
      this.#noteEarlierLog(purge.since, now);
      this.#grant(reader, Math.max(purge.leaseMs, purge.longestViewAgeMs ?? 0), now);
      const boundMs = this.#leases.longestLivingMs(now) + purge.skewMs;
      const first = purge.id === null ? undefined : this.#audit.firstWithId(purge.id, now);
      if (first && (first.content !== purge.content || first.mode !== mode)) return { kind: "conflict" };
      const seq = first?.seq ?? this.#addNew(purge, mode, now, boundMs);
      const { settlesInMs, maySettleSooner } = first
        ? { settlesInMs: boundMs, maySettleSooner: false }
        : this.#watch(seq, boundMs, purge.skewMs, now);
      // A reader with a name may have no connection by which to confirm the next purge, so it gets no lease here.
      const delta = this.#replyTo(purge.since, reader === undefined ? purge.leaseMs : 0);
      const at = first?.at ?? now;
      const replayed = first !== undefined;
      return { kind: "appended", seq, logId: delta.logId, at, settlesInMs, maySettleSooner, replayed, delta };
    });
  }

  #grant(reader: string | undefined, useMs: number, now: number): void {
    this.#leases.grant(useMs, now);
    if (reader === undefined) this.#leases.noteNameless(now);
  }

  /** Watches a new purge (R25). */
  #watch(seq: number, boundMs: number, skewMs: number, now: number) {
    // This instance does not know by name what an earlier one granted.
    const earlierMs = Math.max(this.#leases.longestLivingMs(now), this.#settings.rememberedByNameMs);
    this.#settlement.stranger(Math.max(this.#startedAt + earlierMs, this.#leases.namelessUntil(now)));
    const earliest = now + UNKNOWN_MS + skewMs;
    const position = { logId: this.#state().id, seq };
    const { settlesAt, maySettleSooner } = this.#settlement.watch(position, earliest, now + boundMs, skewMs, now);
    if (settlesAt < now + boundMs) this.#audit.settle(seq, settlesAt);
    return { settlesInMs: settlesAt - now, maySettleSooner };
  }

  list(before: number | null, limit: number): PurgeRecordPage {
    return this.#audit.list(before, limit, this.#now());
  }

  find(seq: number): PurgeRecord | null {
    return this.#audit.find(seq, this.#now());
  }

  nextDueInMs(): number | null {
    return this.#sql.exec("SELECT min(due_at) - ? AS ms FROM repeats", this.#now())[0]!.ms as number | null;
  }

  /** `atMost`: how many, those that fell due first. Default: all. */
  runDue(atMost = ALL): void {
    this.#sql.transaction(() => {
      const now = this.#now();
      const select = "SELECT * FROM repeats WHERE due_at <= ? ORDER BY due_at, id LIMIT ?";
      const due = this.#sql.exec<Repeat>(select, now, atMost);
      for (const { id, repeat_of: repeatOf, hashes, purge, skew_ms: skewMs } of due) {
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
    if (state && state.form !== STORAGE_FORMAT) {
      for (const table of ["purged_keys", "audit", "ids", "repeats"]) this.#sql.exec(`DROP TABLE IF EXISTS ${table}`);
    }
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS repeats (id INTEGER PRIMARY KEY, due_at INTEGER NOT NULL, repeat_of INTEGER NOT NULL,
        hashes TEXT NOT NULL, purge TEXT NOT NULL, skew_ms INTEGER NOT NULL)`,
    );
    const parts: [PurgedKeys, AuditTrail] = [new PurgedKeys(this.#sql), new AuditTrail(this.#sql, this.#settings)];
    if (!state) this.#sql.exec("INSERT INTO state (longest_lease) VALUES ('null')");
    if (state?.form !== STORAGE_FORMAT) this.#beginAnew(state !== undefined);
    // The clock was set back meanwhile: the whole time passes again, because nobody knows how much of it had passed.
    this.#sql.exec(
      "UPDATE repeats SET due_at = due_at - at + ? FROM audit WHERE seq = repeats.repeat_of AND due_at > at AND at > ?",
      ...[this.#now(), this.#now()],
    );
    return parts;
  }

  /**
   * Begins another log. Everything that any isolate has stored belongs to the old log and is invalid (R13).
   * `knowsEarlier`: whether this storage has what the old log granted.
   */
  #beginAnew(knowsEarlier: boolean): void {
    for (const table of ["purged_keys", "audit", "ids"]) this.#sql.exec(`DELETE FROM ${table}`);
    this.#sql.exec(
      "UPDATE state SET form = ?, id = ?, head = 0, floor = 0, keys = 0, hard = 0, soft = 0, invalidate = 0",
      ...[STORAGE_FORMAT, this.#newId()],
    );
    this.#leases.begin(knowsEarlier, this.#now());
  }

  /**
   * A reader that is ahead of the head shows that storage went back in time. Continuing would use numbers twice, so
   * another log begins (R13). Returns the state after that.
   */
  #noticeLostHistory(since: Stamp | null): State {
    const state = this.#state();
    if (since?.logId !== state.id || since.seq <= state.head) return state;
    this.replace();
    return this.#state();
  }

  /** Records that a reader has read another log before this one (R13). */
  #noteEarlierLog(since: Stamp | null, now: number): void {
    if (since === null || since.logId === this.#state().id) return;
    this.#leases.noteEarlierLog(this.#settings.longestUseMs, now);
  }

  #addNew(purge: AppendRequest, mode: PurgeMode, now: number, settlesInMs: number): number {
    const { id, content, accepted, reason, by } = purge;
    const keys = [...new Set(purge.purgeKeys)];
    const hashes = writeHashes(hashKeys(keys).map((word) => hashWordFor(mode, word)));
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
    if (this.#state().head >= this.#settings.maxSeq) this.#beginAnew(true);
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
    // A purge with more keys than a reply has room for could never be sent.
    if (purge.purgeKeyCount > this.#settings.maxReplyKeys) this.#forgetUpTo(seq);
    const excess = this.#state().keys - this.#settings.maxHeldKeys;
    if (excess > 0) this.#forgetUpTo(this.#keys.seqOfOldest(excess));
    if (seq % PRUNE_EVERY === 0) this.#audit.prune(seq);
    return seq;
  }

  /** Forgets the purges up to a number by raising the floor, the only way in which keys may be forgotten (R13). */
  #forgetUpTo(seq: number): void {
    const forgotten = this.#keys.forgetUpTo(seq);
    this.#sql.exec("UPDATE state SET floor = max(floor, ?), keys = keys - ?", seq, forgotten);
  }

  #state(): State {
    return this.#sql.exec<State>("SELECT * FROM state")[0]!;
  }
}

/** The items of a reply: the rows that fit into it. No purge is sent in part. */
function writeItems(rows: readonly PurgedKey[], truncatedAt: number): Uint32Array {
  const sent = rows.filter(({ seq }) => seq > truncatedAt);
  const items = new Uint32Array(sent.length * ITEM_WORDS);
  for (const [index, { a, b, seq }] of sent.entries()) items.set([a, b, seq], index * ITEM_WORDS);
  return items;
}

/** Where a log stores the leases that it has granted. */
export function leasesIn(sql: Sql): LeaseStorage {
  return {
    read: () =>
      JSON.parse(sql.exec("SELECT longest_lease FROM state")[0]!.longest_lease as string) as ReturnType<
        LeaseStorage["read"]
      >,
    write: (longest) => sql.exec("UPDATE state SET longest_lease = ?", JSON.stringify(longest)),
  };
}
