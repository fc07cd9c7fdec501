import { addCounts, type CountTree, emptyTree, OTHERS, treeAt } from "../../metrics/count-tree.ts";
import type { TopLists } from "../../metrics/counters.ts";
import type { LedgerIsolates, LedgerReading } from "../../metrics/ledger-reading.ts";
import { REPORT_EVERY_MS, REPORT_FORM, type Report } from "../../metrics/reports.ts";
import { mergeTopUrls } from "../../metrics/top-urls.ts";
import type { UnseenKey } from "../../metrics/unseen-key.ts";
import type { Sql } from "./sql.ts";
import { SqlSeenKeys } from "./sql-seen-keys.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * The spans of time that are kept, the finest first, and for how long. A row of a PoP takes about 1 KB and at most 40 KB,
 * one of the whole site with its routes and URLs about 25 KB and at most 1.3 MB. With five PoPs 90 days take about 80 MB;
 * an object may store 10 GB.
 */
const SPANS = [
  { spanMs: MINUTE_MS, keptMs: 2 * HOUR_MS },
  { spanMs: HOUR_MS, keptMs: 90 * DAY_MS },
  { spanMs: DAY_MS, keptMs: 90 * DAY_MS },
] as const;

/** The row of everything since the ledger began has this span and time. */
const EVER = 0;

/** The PoP of rows of the whole site. */
const SITE = "";

/** The most PoPs in a span. Further ones are one. */
const MAX_POPS = 100;

/** The longest report. One with all tables full takes about 600 KB. */
const MAX_REPORT_CHARACTERS = 1024 * 1024;

/** The most isolates that are remembered, and how long at most after their last report. */
const MAX_ISOLATES = 10_000;
const ISOLATE_KEPT_MS = 2 * DAY_MS;

/** A clock may be ahead for so long before anything is deleted by it. A report counts in the last two hours, whatever it says. */
const MAY_BE_AHEAD_MS = 3 * HOUR_MS;

/** An isolate that has reported within this time is alive. */
const ALIVE_MS = 2 * REPORT_EVERY_MS;

/** What was counted in a span. */
interface Span {
  readonly counts: CountTree;
  readonly routes?: CountTree;
  readonly top?: TopLists;
}

/** What is to be added to a row. */
type HeldRow = readonly [spanMs: number, at: number, pop: string, more: Span];

/** What an isolate has said last, with its row. */
interface Reporter {
  readonly number: number;
  readonly row: readonly (string | number)[];
}

type TopKind = keyof TopLists;

interface LedgerRow {
  readonly at: number;
  readonly pop: string;
  /** A `Span` as JSON. A row in which a disk has damaged that is passed over, because it would stop all counts. */
  readonly tally: string;
}

/** The site's ledger over SQLite: the sums of all reports, by minutes, hours and days, by PoPs, and by the whole site. */
export class SqlLedger {
  readonly #sql: Sql;
  readonly #now: () => number;
  readonly #seen: SqlSeenKeys;
  /** 0 before the first time. */
  #prunedAt = 0;
  /** What reports have added that is not written yet. */
  readonly #held = new Map<string, HeldRow>();
  readonly #reporters = new Map<string, Reporter>();

  constructor(sql: Sql, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    this.#seen = new SqlSeenKeys(sql, now);
    sql.exec(
      `CREATE TABLE IF NOT EXISTS ledger (span INTEGER, at INTEGER, pop TEXT, tally TEXT, PRIMARY KEY (span, at, pop))
        WITHOUT ROWID`,
    );
    sql.exec(
      `CREATE TABLE IF NOT EXISTS reporters (id TEXT PRIMARY KEY, number INTEGER, pop TEXT, heard_at INTEGER,
        ended INTEGER, bytes INTEGER, max_bytes INTEGER) WITHOUT ROWID`,
    );
  }

  /** Adds a report, unless it was added before, and writes it. Either all its counts are added or none. */
  take(text: string): void {
    this.hold(text);
    this.write();
  }

  /** Adds a report, unless it was added before. It is in no reading before `write`. */
  hold(text: string): void {
    if (text.length > MAX_REPORT_CHARACTERS) return;
    const report = JSON.parse(text) as Report;
    if (report.form !== REPORT_FORM) return;
    const { isolate, number, coversMs, agoMs, isLast, memory, routes, top } = report;
    const known =
      this.#reporters.get(isolate) ?? this.#sql.exec("SELECT number FROM reporters WHERE id = ?", isolate)[0];
    if ((known?.number as number) >= number) return;
    // A difference of two readings of one clock: right even if the clock itself is not.
    const at = this.#now() - Math.min(Math.max(0, agoMs), 2 * HOUR_MS - MINUTE_MS);
    const counts = { ...report.counts, heard: { heardMs: coversMs } };
    for (const [spanMs, spanAt] of spansAt(at)) {
      this.#holdRow(spanMs, spanAt, report.pop || OTHERS, { counts });
      this.#holdRow(spanMs, spanAt, SITE, { counts: {}, routes, ...(spanMs !== EVER && { top }) });
    }
    this.#reporters.set(isolate, {
      number,
      row: [isolate, number, report.pop, at, +isLast, memory.bytes, memory.maxBytes],
    });
    this.#seen.hold(report.seen ?? []);
  }

  /**
   * Writes what is held: each row once. If it throws, no counts are written, or all of them and no keys. No counts are held
   * any more then, but the keys are.
   */
  write(): void {
    if (this.#reporters.size === 0) return;
    try {
      this.#sql.transaction(() => this.#writeHeld());
      this.#seen.write();
    } finally {
      for (const held of [this.#held, this.#reporters]) held.clear();
    }
  }

  /**
   * The time up to now, at most 120 days, or since the ledger began, then with the isolates of the last three hours. Spans
   * are not divided, so that it may begin earlier than asked.
   */
  read(lastMs: number | null, pop: string | null): LedgerReading {
    const now = this.#now();
    const spanMs = lastMs === null ? EVER : SPANS.find((each) => lastMs <= 120 * each.spanMs)!.spanMs;
    const from = lastMs === null ? EVER : Math.floor((now - lastMs) / spanMs) * spanMs;
    const sum = { counts: emptyTree(), routes: emptyTree() };
    const pops: Record<string, CountTree> = emptyTree() as Record<string, CountTree>;
    const spans = new Map<number, CountTree>();
    let top: TopLists | null = null;
    for (const { at, pop: rowPop, tally } of this.#rows(spanMs, from, pop)) {
      const span = JSON.parse(tally) as Span;
      if (rowPop === SITE) {
        if (pop !== null) continue;
        addCounts(sum.routes, span.routes ?? {});
        if (span.top) top = mergeTop(top, span.top);
        continue;
      }
      addCounts(sum.counts, span.counts);
      pops[rowPop] = addCounts(pops[rowPop] ?? {}, span.counts);
      if (lastMs !== null) spans.set(at, addCounts(spans.get(at) ?? {}, countsOverTime(span.counts)));
    }
    return {
      from,
      to: now,
      spanMs,
      spans: [...spans].map(([at, counts]) => ({ at, counts })),
      isolates: lastMs === null ? this.read(3 * HOUR_MS, pop).isolates : this.#isolates(from, now, pop, sum.counts),
      ...sum,
      top,
      pops,
    };
  }

  /** The purge keys among these that no report has named, as far as that is known. */
  unseen(keys: readonly string[]): UnseenKey[] {
    return this.#seen.unseen(keys);
  }

  #writeHeld(): void {
    const now = this.#now();
    let isToBePruned = now < this.#prunedAt;
    for (const row of this.#held.values()) {
      if (this.#addTo(...row) && row[0] === HOUR_MS && row[2] === SITE) isToBePruned = true;
    }
    for (const { row } of this.#reporters.values()) {
      this.#sql.exec("INSERT OR REPLACE INTO reporters VALUES (?, ?, ?, ?, ?, ?, ?)", ...row);
    }
    // The look at all rows costs reads, of which a platform may sell few. An object may live for less than an hour.
    if (isToBePruned) this.#prune(now);
  }

  #holdRow(spanMs: number, at: number, pop: string, more: Span): void {
    const row = `${spanMs} ${at} ${pop}`;
    this.#held.set(row, [spanMs, at, pop, sumOf(this.#held.get(row)?.[3], more)]);
  }

  /** Adds to a row. Whether the row is new. */
  #addTo(spanMs: number, at: number, pop: string, more: Span): boolean {
    let name = pop;
    let held = this.#row(spanMs, at, name);
    if (!held && pop !== SITE) {
      const { pops } = this.#sql.exec("SELECT count(*) AS pops FROM ledger WHERE span = ? AND at = ?", spanMs, at)[0]!;
      if ((pops as number) > MAX_POPS) {
        name = OTHERS;
        held = this.#row(spanMs, at, name);
      }
    }
    const sum = sumOf(held, more);
    this.#sql.exec("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?, ?)", spanMs, at, name, JSON.stringify(sum));
    return !held;
  }

  #row(spanMs: number, at: number, pop: string): Span | undefined {
    const [row] = this.#sql.exec(
      "SELECT tally FROM ledger WHERE span = ? AND at = ? AND pop = ? AND json_valid(tally)",
      ...[spanMs, at, pop],
    );
    return row && (JSON.parse(row.tally as string) as Span);
  }

  /** One by one: all rows of a time may be more than the object's memory holds. */
  #rows(spanMs: number, from: number, pop: string | null): Iterable<LedgerRow> {
    return this.#sql.iterate<LedgerRow>(
      "SELECT at, pop, tally FROM ledger WHERE span = ? AND at >= ? AND pop = ifnull(?, pop) AND json_valid(tally) ORDER BY at",
      ...[spanMs, from, pop],
    );
  }

  /** Isolates that are forgotten have left their share in the counts. */
  #isolates(from: number, now: number, pop: string | null, counts: CountTree): LedgerIsolates {
    const { heardMs = 0, all = 0, lost = 0 } = treeAt(counts, "heard") as Record<string, number>;
    const [row] = this.#sql.exec<Omit<LedgerIsolates, "heardMs" | "heardShare">>(
      `SELECT count(*) + ? AS reported, total(NOT ended AND NOT live) + ? AS silent, total(live) AS alive,
        total(live * bytes) AS memoryBytes, total(live * max_bytes) AS memoryMaxBytes,
        total(iif(ended, 0, max(0, min(?, ? - heard_at)))) + ? AS unheardMs
        FROM (SELECT *, NOT ended AND heard_at >= ? AS live FROM reporters)
        WHERE heard_at >= ? AND pop = ifnull(?, pop)`,
      ...[all, lost, REPORT_EVERY_MS, now, lost * REPORT_EVERY_MS],
      ...[now - ALIVE_MS, from, pop],
    );
    const share = heardMs / (heardMs + row!.unheardMs);
    return { ...row!, heardMs, heardShare: share >= 0 ? share : 1 };
  }

  #prune(now: number): void {
    // A machine may start with a clock that is behind until it is set, so the first time decides nothing.
    if (this.#prunedAt > 0) this.#bringBack(now);
    this.#prunedAt = now;
    // How late it is for sure, also by a clock that is ahead until it is set: by the rows, which outlive an object.
    const { at } = this.#sql.exec<{ at: number }>(
      "SELECT ifnull(max(at), 0) + ? AS at FROM ledger WHERE span = ? AND at <= ?",
      ...[MAY_BE_AHEAD_MS, HOUR_MS, now - MAY_BE_AHEAD_MS],
    )[0]!;
    this.#seen.prune(at);
    for (const { spanMs, keptMs } of SPANS) {
      this.#sql.exec("DELETE FROM ledger WHERE span = ? AND at < ?", spanMs, at - keptMs - spanMs);
    }
    const old = this.#sql.exec(
      `SELECT * FROM reporters WHERE heard_at < ?
        UNION SELECT * FROM (SELECT * FROM reporters ORDER BY heard_at DESC LIMIT -1 OFFSET ?)`,
      ...[at - ISOLATE_KEPT_MS, MAX_ISOLATES],
    );
    for (const { id, pop, heard_at: heardAt, ended } of old) {
      const heard = { all: 1, lost: +!ended };
      for (const [spanMs, spanAt] of spansAt(heardAt as number)) {
        if (this.#row(spanMs, spanAt, pop as string)) this.#addTo(spanMs, spanAt, pop as string, { counts: { heard } });
      }
      this.#sql.exec("DELETE FROM reporters WHERE id = ?", id as string);
    }
  }

  /** What was counted while the clock was ahead would stay in every period until that time has come: it counts as of now. */
  #bringBack(now: number): void {
    for (const { spanMs } of SPANS) {
      for (const { pop, tally } of [...this.#rows(spanMs, now + 1, null)]) {
        this.#addTo(spanMs, Math.floor(now / spanMs) * spanMs, pop, JSON.parse(tally) as Span);
      }
      this.#sql.exec("DELETE FROM ledger WHERE span = ? AND at > ?", spanMs, now);
    }
    this.#sql.exec("UPDATE reporters SET heard_at = ? WHERE heard_at > ?", now, now);
  }
}

/** The beginning of each span that holds this instant. */
function spansAt(at: number): (readonly [spanMs: number, at: number])[] {
  return [...SPANS.map(({ spanMs }) => [spanMs, Math.floor(at / spanMs) * spanMs] as const), [EVER, EVER] as const];
}

/** The counts that are read by their spans, too. */
function countsOverTime(counts: CountTree): CountTree {
  const { requests = 0, fromCache = 0, statuses = {}, origin = {}, bytes = {}, times = {} } = counts;
  return { requests, fromCache, statuses, origin, bytes, times };
}

/** The sum, in place of the first where that can be. */
function sumOf(some: Span | undefined, more: Span): Span {
  return {
    counts: addCounts(some?.counts ?? {}, more.counts),
    ...(more.routes && { routes: addCounts(some?.routes ?? {}, more.routes) }),
    ...(more.top && { top: mergeTop(some?.top, more.top) }),
  };
}

function mergeTop(some: TopLists | null | undefined, more: TopLists): TopLists {
  const merged: Partial<Record<TopKind, TopLists["missed"]>> = {};
  for (const kind in more) {
    merged[kind as TopKind] = mergeTopUrls(some?.[kind as TopKind] ?? [], more[kind as TopKind]);
  }
  return merged as TopLists;
}

/**
 * Lets the totals since the ledger began start at 0, as counters do when their process starts: those of a file that was
 * restored, or lost some with the power, would otherwise be a little smaller than monitors saw them, for whom everything
 * then counts again.
 */
export function beginTotals(sql: Sql): void {
  try {
    sql.exec("DELETE FROM ledger WHERE span = ?", EVER);
  } catch {
    // The disk may be full, and the log opens all the same. Damage is noticed when the rows are read.
  }
}
