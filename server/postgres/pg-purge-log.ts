import type { PurgeMode, PurgeRecord, PurgeRecordPage } from "../../worker/ports/purge-log.ts";
import { type AuditRow, MAX_LISTED, MIN_ID_MS, recordOf, writePurgeKeys } from "../../worker/purges/log/audit-trail.ts";
import {
  type AppendRequest,
  type AppendResult,
  type DatedPurge,
  ITEM_WORDS,
  MAX_DATED,
  REMEMBERED_MS,
  type ReaderPosition,
  type ViewDelta,
} from "../../worker/purges/log/log-contract.ts";
import { LOG_SETTINGS, type LogSettings } from "../../worker/purges/log/log-settings.ts";
import type { LogStorage } from "../../worker/purges/log/log-storage.ts";
import { writeHashes } from "../../worker/purges/log/purged-keys.ts";
import { hashKeys, hashWordFor } from "../../worker/purges/view/key-hash.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import { AskedTogether } from "../asked-together.ts";
import type { Database } from "./database.ts";
import { SharedLogError } from "./database-error.ts";
import { makeTables } from "./log-tables.ts";
import type { MachineNote, NotedPosition } from "./machine-note.ts";
import { MachineRow, type MachineRowParts } from "./machine-row.ts";
import { READ_SQL, SETTLE_SQL, UNDATED } from "./schema.ts";

/** A key in a reply: two words of its hash, and a number of 64 bits. */
const KEY_BYTES = 16;

/** How often a call starts again because the log has just been replaced, or the machine's row is gone. */
const MAX_TRIES = 6;

/**
 * The most purges in one statement; one with more keys than these counts as several. Statements of all machines wait for each
 * other, and those that the database ends because they have waited for too long were in vain.
 */
const MOST_TOGETHER = 100;
const KEYS_OF_ONE = 10;

/** How many heads have their marks remembered, so that any of them can be confirmed. */
const MAX_MARKS = 1000;

/** What a purge waits for besides machines, in a log that has taken the place of another one (R13). */
const READERS_BEFORE = "machines that used the earlier log";

export interface PgPurgeLogOptions extends Omit<MachineRowParts, "onRegistered"> {
  /** The machine reads another log than before. */
  readonly onReplaced: () => void;
  /** The log's clock, for tests: epoch milliseconds. Default: the database's. */
  readonly now?: () => number;
  readonly settings?: Partial<LogSettings>;
}

/** A row of `READ_SQL`. */
interface ReadRow {
  readonly log_id: string | null;
  readonly comes_from_another: boolean;
  readonly is_met: boolean;
  readonly head: number;
  readonly floor: number;
  readonly hard: number;
  readonly soft: number;
  readonly invalidate: number;
  readonly since: number;
  readonly mark: string | null;
  readonly known_mark: string | null;
  readonly is_registered: boolean;
  readonly keys: Buffer | null;
  readonly dated: readonly DatedPurge[] | null;
}

interface ReadAuditRow extends AuditRow {
  readonly mark: string;
  readonly now: number;
  readonly waits_for: readonly string[] | null;
}

/** A purge that waits until it is written. */
interface WaitingAppend {
  readonly purge: AppendRequest;
  readonly isInTime: () => boolean;
}

/** What the database says of a purge; `null` if the machine's row is gone. */
type Written = Appended | Conflict | null;

/** What another machine has confirmed. */
interface ReadConfirmation {
  readonly machine: string;
  readonly name: string;
  readonly log_id: string | null;
  readonly confirmed: number;
}

interface OtherMachines {
  /** The log that they share; `null` if it has none at present. */
  readonly logId: string | null;
  readonly machines: readonly ReadConfirmation[];
}

/**
 * The purge log in PostgreSQL, as one machine reads and writes it. It keeps the rules of `SqlPurgeLog`; in addition, every
 * reply requires the machine's row among the readers, so that a purge waits for it.
 */
export class PgPurgeLog implements LogStorage {
  readonly #database: Database;
  readonly #options: PgPurgeLogOptions;
  readonly #note: MachineNote;
  readonly #bounds: string;
  readonly #settings: LogSettings;
  readonly #row: MachineRow;
  readonly #marks = new Map<number, string>();
  // Many purges at once must not take a statement of each kind for each of them: they wait for each other's connections.
  readonly #appends: AskedTogether<WaitingAppend, ReadonlyMap<WaitingAppend, Written>>;
  readonly #found = new AskedTogether((seqs: readonly number[]) => this.#findAll(seqs));
  readonly #replies = new AskedTogether((positions: readonly string[]) => this.#replyToAll(positions));
  readonly #dated = new AskedTogether<void, number>(() => this.#date());
  readonly #others = new AskedTogether<void, OtherMachines>(() => this.#readOthers());
  readonly #settling = new AskedTogether((positions: readonly Stamp[]) => this.#settleAll(positions));
  #confirmed: Stamp | null = null;
  #settled: Stamp | null = null;
  /** Whether the last read was of another log than the noted one. */
  #readsAnother = false;

  private constructor(options: PgPurgeLogOptions) {
    this.#options = options;
    this.#database = options.database;
    this.#note = options.note;
    this.#settings = { ...LOG_SETTINGS, ...options.settings };
    this.#bounds = JSON.stringify({ ...this.#settings, minIdMs: MIN_ID_MS, rememberedMs: REMEMBERED_MS });
    const onRegistered = async () => {
      if (this.#confirmed !== null) await this.confirm(this.#confirmed);
    };
    this.#row = new MachineRow({ ...options, onRegistered });
    this.#appends = new AskedTogether((waiting) => this.#appendAll(waiting), {
      turns: this.#database.turns,
      most: MOST_TOGETHER,
      sizeOf: ({ purge }) => Math.max(1, purge.purgeKeys.length / KEYS_OF_ONE),
    });
  }

  /** Makes the tables unless they exist. Rejects with a `SharedLogError` if the log cannot be used. */
  static async open(options: PgPurgeLogOptions): Promise<PgPurgeLog> {
    const log = new PgPurgeLog(options);
    await makeTables(options.database);
    return log;
  }

  get machine(): string {
    return this.#note.machine;
  }

  async read(since: ReaderPosition | null, leaseMs: number, longestViewAgeMs = leaseMs): Promise<ViewDelta> {
    const useMs = Math.max(leaseMs, longestViewAgeMs);
    this.#row.expectWritten(useMs);
    await this.#row.grant(useMs);
    return this.#replyTo(since, leaseMs);
  }

  async changesSince(position: Stamp | null): Promise<ViewDelta> {
    return this.#replyTo(position, 0);
  }

  async append(purge: AppendRequest): Promise<AppendResult> {
    await this.#row.grant(Math.max(purge.leaseMs, purge.longestViewAgeMs ?? 0));
    const { since } = purge;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { machine } = this;
      const waiting = { purge, isInTime: this.#database.beginsToWait() };
      const result = (await this.#appends.ask(waiting)).get(waiting);
      if (result === undefined) throw this.#database.busy;
      if (result === null) {
        await this.#row.registerInsteadOf(machine);
        continue;
      }
      if (result.kind === "conflict") return result;
      const [reply, longestMs] = await Promise.all([this.#replyTogether(since), this.#dated.ask()]);
      const delta = { ...reply, leaseMs: purge.leaseMs };
      // If the log was replaced meanwhile, the purge may not be in the new one.
      if (delta.logId === result.logId) return { ...result, settlesInMs: longestMs + purge.skewMs, delta };
    }
    throw this.#endless();
  }

  async list(before: number | null, limit: number): Promise<PurgeRecordPage> {
    const max = Math.min(Math.max(1, Math.trunc(limit) || 1), MAX_LISTED);
    const rows = await this.#rows("WHERE seq < $2 ORDER BY seq DESC LIMIT $3", [
      before ?? Number.MAX_SAFE_INTEGER,
      max + 1,
    ]);
    const purges = rows.slice(0, max).map(recordOfRow);
    return { purges, next: rows.length > max ? purges.at(-1)!.seq : null };
  }

  async find(seq: number): Promise<PurgeRecord | null> {
    return (await this.#found.ask(seq)).get(seq) ?? null;
  }

  async nextDueInMs(): Promise<number | null> {
    const [row] = await this.#database.query<{ ms: number | null }>(
      "SELECT min(due_at) - tidemark_log_now($1) AS ms FROM tidemark_log_repeats",
      [this.#now],
    );
    return row!.ms;
  }

  /** Whichever machine is the first to try carries out a repetition. */
  async runDue(): Promise<void> {
    await this.#database.queryInTurn("SELECT tidemark_log_run_due($1, $2)", [this.#bounds, this.#now]);
    await this.#dated.ask();
  }

  /**
   * Tells that every process of this machine that may answer visitors has confirmed the purges up to this one (R24).
   * Returns false if the log does not count it, because it does not know the machine or has another history.
   */
  async confirm({ logId, seq }: Stamp): Promise<boolean> {
    // Only positions at which a reply ended are told, because their marks are known.
    const known = [...this.#marks.keys()].filter((each) => each <= seq);
    const highest = Math.max(0, ...known);
    if (highest === 0) return true; // nothing was purged yet
    const position = { logId, seq: highest, mark: this.#marks.get(highest) };
    this.#confirmed = { logId, seq };
    const [row] = await this.#database.query<{ counts: boolean }>("SELECT tidemark_log_confirm($1, $2) AS counts", [
      this.#row.reader,
      JSON.stringify(position),
    ]);
    return row!.counts;
  }

  /**
   * The other machines that have not confirmed the purges up to this one, with their names. Rejects if another log has taken
   * the place of that one: it does not know the machines that may lack the purge.
   */
  async unconfirmed({ logId, seq }: Stamp): Promise<Map<string, string>> {
    const others = await this.#others.ask();
    if (others.logId !== logId) throw new Error("another log has replaced the one that gave this number");
    const late = others.machines.filter(
      ({ log_id: confirmedIn, confirmed }) => confirmedIn !== logId || confirmed < seq,
    );
    return new Map(late.map(({ machine, name }) => [machine, name]));
  }

  /** Records that the purges up to this one have settled: all who may serve visitors have confirmed it. */
  settleUpTo(position: Stamp): Promise<void> {
    return this.#settling.ask(position);
  }

  /** Shows that this machine lives, and forgets machines that have shown no life for a day. */
  beat(): Promise<void> {
    return this.#row.beat();
  }

  /** Leaves the readers: no process of this machine can hold a lease any more. */
  leave(): Promise<void> {
    return this.#row.leave();
  }

  get #now(): number | null {
    return this.#options.now?.() ?? null;
  }

  /** The newest position that this machine knows, by which it notices a log whose storage went back in time (R13). */
  get #noted() {
    return this.#note.position;
  }

  /** Writes purges in one statement, in their order: all of them, or none. Those whose turn came too late are left out. */
  async #appendAll(waiting: readonly WaitingAppend[]): Promise<ReadonlyMap<WaitingAppend, Written>> {
    const inTime = waiting.filter(({ isInTime }) => isInTime());
    if (inTime.length === 0) return new Map();
    const noted = this.#noted;
    const given = inTime.map(({ purge }) => ({
      purge: forDatabase(purge),
      known: [purge.since, noted].filter((each) => each !== null),
    }));
    const rows = await this.#database.query<{ result: Written }>(
      `SELECT tidemark_log_append(one->'purge', one->'known', $2, $3, $4) AS result
        FROM jsonb_array_elements($1) WITH ORDINALITY AS given (one, place) ORDER BY place`,
      [JSON.stringify(given), this.#row.reader, this.#bounds, this.#now],
    );
    return new Map(inTime.map((each, at) => [each, rows[at]!.result]));
  }

  /** Dates what has been committed without a time at which it settles. Resolves to the longest lease, in milliseconds. */
  async #date(): Promise<number> {
    const [row] = await this.#database.query<{ longest: number }>("SELECT tidemark_log_date($1, $2) AS longest", [
      this.#bounds,
      this.#now,
    ]);
    return row!.longest;
  }

  async #readOthers(): Promise<OtherMachines> {
    const rows = await this.#database.query<ReadConfirmation & { own_id: string | null }>(
      `SELECT tidemark_log_id(log.id) AS own_id, machine, name, machines.log_id, coalesce(confirmed, 0) AS confirmed
        FROM tidemark_log AS log LEFT JOIN tidemark_log_machines AS machines ON machine <> $1`,
      [this.machine],
    );
    return { logId: rows[0]?.own_id ?? null, machines: rows.filter(({ machine }) => machine !== null) };
  }

  /** What is confirmed up to one number is confirmed up to those before it. */
  async #settleAll(positions: readonly Stamp[]): Promise<void> {
    const highest = new Map<string, number>();
    for (const { logId, seq } of positions) highest.set(logId, Math.max(seq, highest.get(logId) ?? 0));
    for (const [logId, seq] of highest) await this.#settleRows({ logId, seq });
  }

  async #settleRows({ logId, seq }: Stamp): Promise<void> {
    const before = this.#settled;
    const from = before?.logId === logId && before.seq <= seq ? before.seq : 0;
    await this.#database.query(
      `UPDATE tidemark_log_audit SET settles_at = tidemark_log_now($1)
        WHERE seq > $2 AND seq <= $3 AND settles_at > tidemark_log_now($1)
          AND $4 = (SELECT tidemark_log_id(id) FROM tidemark_log WHERE (longest_until >= tidemark_log_now($1)) IS NOT TRUE)`,
      [this.#now, from, seq, logId],
    );
    this.#settled = { logId, seq };
  }

  async #replyTo(since: ReaderPosition | null, leaseMs: number): Promise<ViewDelta> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      await this.#row.register();
      const { machine } = this;
      const noted = this.#noted; // another reply may note a later one meanwhile
      const row = await this.#readRow(since, noted);
      const logId = row.log_id!;
      // The address may lead to another server by now. The connections that are open would lead to both in turn.
      if (this.#beginsAnother(logId)) this.#database.forgetConnections();
      else if (this.#note.hasLeft(logId)) await this.#replace(logId);
      else if (isLostHistory(row, since, noted)) await this.#noticeLostHistory(since, noted);
      else if (!row.is_met) await this.#meet(row);
      else if (!row.is_registered) await this.#row.registerInsteadOf(machine);
      else return this.#delta(since, row, leaseMs);
    }
    throw this.#endless();
  }

  /** Whether this log is another one than the noted one, which was read before. */
  #beginsAnother(logId: string): boolean {
    const before = this.#readsAnother;
    this.#readsAnother = this.#noted !== null && this.#noted.logId !== logId;
    return this.#readsAnother && !before;
  }

  /** A reply to a purge. Those of one worker at once have the same position. */
  async #replyTogether(since: ReaderPosition | null): Promise<ViewDelta> {
    const position = JSON.stringify(since);
    return (await this.#replies.ask(position)).get(position)!;
  }

  async #replyToAll(positions: readonly string[]): Promise<ReadonlyMap<string, ViewDelta>> {
    const reply = (position: string) => this.#replyTo(JSON.parse(position) as ReaderPosition | null, 0);
    return new Map(await Promise.all(positions.map(async (each) => [each, await reply(each)] as const)));
  }

  async #readRow(since: ReaderPosition | null, noted: NotedPosition | null): Promise<ReadRow> {
    const unread = since?.unread ?? { from: 0, to: 0 };
    const position = [since?.logId ?? "", since?.seq ?? 0, unread.from, unread.to, noted?.seq ?? 0];
    const reader = [this.machine, this.#row.incarnation, this.#row.leaseMs];
    const room = this.#settings.maxReplyKeys + 1;
    const rest = [room, noted?.logId ?? "", REMEMBERED_MS, this.#now, MAX_DATED];
    const [row] = await this.#database.query<ReadRow>(READ_SQL, [...position, ...reader, ...rest]);
    if (row?.log_id) return row;
    this.#database.forgetConnections(); // the address may lead to another server by now
    throw new SharedLogError(this.#database.where, "it is a standby, or is being restored", "out-of-reach");
  }

  async #meet({ comes_from_another: comesFromAnother }: ReadRow): Promise<void> {
    await this.#database.query("SELECT tidemark_log_meet($1, $2, $3)", [comesFromAnother, this.#bounds, this.#now]);
  }

  async #noticeLostHistory(since: Stamp | null, noted: NotedPosition | null): Promise<void> {
    const known = [since && { logId: since.logId, seq: since.seq }, noted].filter((each) => each !== null);
    await this.#database.query("SELECT tidemark_log_notice($1)", [JSON.stringify(known)]);
  }

  /** Begins another log in place of one that this machine has left: what it purged meanwhile is not in there (R13). */
  async #replace(logId: string): Promise<void> {
    await this.#database.query("SELECT tidemark_log_replace($1)", [logId]);
  }

  #delta(since: ReaderPosition | null, row: ReadRow, leaseMs: number): ViewDelta {
    const { log_id: id, since: from, head: to, floor, hard, soft, invalidate } = row;
    const logId = id!;
    this.#noteHead(logId, row);
    const unread = (since?.logId === logId && since.unread) || null;
    const keys = row.keys ?? Buffer.alloc(0);
    const beyond = this.#settings.maxReplyKeys * KEY_BYTES;
    const truncatedAt = keys.length > beyond ? seqAt(keys, beyond) : 0;
    const items = itemsOf(keys, truncatedAt);
    const heads: Record<PurgeMode, number> = { hard, soft, invalidate };
    const dated = row.dated && { dated: row.dated };
    return { logId, from, to, unread, truncatedAt, floor, ...dated, heads, items, leaseMs };
  }

  #noteHead(logId: string, { head, mark }: ReadRow): void {
    if (this.#noted?.logId !== logId) this.#marks.clear();
    if (head > 0 && mark === null) return;
    if (this.#note.notePosition({ logId, seq: head, mark: mark ?? "" })) this.#options.onReplaced();
    if (mark === null) return;
    this.#marks.set(head, mark);
    if (this.#marks.size > MAX_MARKS) this.#marks.delete(this.#marks.keys().next().value!);
  }

  /**
   * Purges that every machine has confirmed by now are recorded as settled: whoever told of a purge waits for confirmations
   * for a short time only.
   */
  async #findAll(seqs: readonly number[]): Promise<ReadonlyMap<number, PurgeRecord>> {
    const rows = await this.#rows("WHERE seq = ANY ($2)", [seqs]);
    const confirmed = rows.filter((row) => row.settles_at > row.now && row.waits_for === null);
    if (confirmed.length === 0) return recordsOf(rows);
    const marks = confirmed.map(({ mark }) => mark);
    const settled = await this.#database.query<ReadAuditRow>(SETTLE_SQL, [
      this.#now,
      confirmed.map(({ seq }) => seq),
      marks,
    ]);
    return new Map([...recordsOf(rows), ...recordsOf(settled)]);
  }

  async #rows(where: string, parameters: readonly unknown[]): Promise<ReadAuditRow[]> {
    const text = `SELECT *, tidemark_log_now($1) AS now,
        CASE WHEN settles_at > tidemark_log_now($1) THEN (
          SELECT array_agg(name ORDER BY name) FROM (
            SELECT name FROM tidemark_log_machines AS machine
            WHERE NOT (coalesce(machine.log_id = (SELECT tidemark_log_id(id) FROM tidemark_log), false)
              AND coalesce(machine.confirmed, 0) >= seq)
            UNION ALL SELECT '${READERS_BEFORE}' FROM tidemark_log WHERE longest_until >= tidemark_log_now($1)
          ) AS waiting
        ) END AS waits_for
      FROM tidemark_log_audit ${where}`;
    const read = () => this.#database.query<ReadAuditRow>(text, [this.#now, ...parameters]);
    const rows = await read();
    if (!rows.some((row) => row.settles_at >= UNDATED)) return rows;
    await this.#dated.ask(); // the machine that purged was cut off before it could
    return read();
  }

  #endless(): SharedLogError {
    return new SharedLogError(this.#database.where, "it changes faster than this server can read it", "passing");
  }
}

type Appended = Omit<Extract<AppendResult, { kind: "appended" }>, "delta" | "settlesInMs">;
type Conflict = Extract<AppendResult, { kind: "conflict" }>;

function recordsOf(rows: readonly ReadAuditRow[]): ReadonlyMap<number, PurgeRecord> {
  return new Map(rows.map((row) => [row.seq, recordOfRow(row)]));
}

function recordOfRow(row: ReadAuditRow): PurgeRecord {
  return { ...recordOf(row, row.now), ...(row.waits_for && { waitsFor: row.waits_for }) };
}

/** Whether a position that was read before is not in the log, or is that of another purge (R13). */
function isLostHistory(row: ReadRow, since: Stamp | null, noted: NotedPosition | null): boolean {
  const { log_id: logId, head, known_mark: mark } = row;
  if (since?.logId === logId && since.seq > head) return true;
  if (noted?.logId !== logId) return false;
  return noted.seq > head || (mark !== null && mark !== noted.mark);
}

/** A purge as the functions of the database take it. */
function forDatabase(purge: AppendRequest): object {
  const { id, content, accepted, reason, by, skewMs, repeatAfterMs, mode = "hard" } = purge;
  const keys = [...new Set(purge.purgeKeys)];
  const hashes: unknown = JSON.parse(writeHashes(hashKeys(keys).map((word) => hashWordFor(mode, word))));
  return {
    id: id && textForDatabase(id),
    content,
    accepted: JSON.stringify(accepted),
    reason: reason && textForDatabase(reason),
    by: textForDatabase(by),
    mode,
    skewMs,
    repeatAfterMs,
    purgeKeys: writePurgeKeys(keys),
    purgeKeyCount: keys.length,
    hashes,
  };
}

/** PostgreSQL stores no NUL and no half of a pair. */
function textForDatabase(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

function seqAt(keys: Buffer, at: number): number {
  return Number(keys.readBigInt64BE(at + 8));
}

/** The items of a reply: the keys that fit into it. No purge is sent in part. */
function itemsOf(keys: Buffer, truncatedAt: number): Uint32Array {
  const items = new Uint32Array((keys.length / KEY_BYTES) * ITEM_WORDS);
  let count = 0;
  for (let at = 0; at < keys.length; at += KEY_BYTES) {
    const seq = seqAt(keys, at);
    if (seq <= truncatedAt) break;
    items.set([keys.readInt32BE(at), keys.readInt32BE(at + 4), seq], count);
    count += ITEM_WORDS;
  }
  return items.slice(0, count);
}
