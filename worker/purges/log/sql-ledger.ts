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

/** An isolate that has reported within this time is alive. */
const ALIVE_MS = 2 * REPORT_EVERY_MS;

/** What was counted in a span. */
interface Span {
  readonly counts: CountTree;
  readonly routes?: CountTree;
  readonly top?: TopLists;
}

interface LedgerRow {
  readonly at: number;
  readonly pop: string;
  /** A `Span` as JSON. */
  readonly tally: string;
}

/** The site's ledger over SQLite: the sums of all reports, by minutes, hours and days, by PoPs, and by the whole site. */
export class SqlLedger {
  readonly #sql: Sql;
  readonly #now: () => number;
  readonly #seen: SqlSeenKeys;
  #prunedAt = Number.NEGATIVE_INFINITY;

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
        ended INTEGER, bytes INTEGER, max_bytes INTEGER)`,
    );
  }

  /** Adds a report, unless it was added before. Either all of it is added or nothing. */
  take(text: string): void {
    if (text.length > MAX_REPORT_CHARACTERS) return;
    const report = JSON.parse(text) as Report;
    if (report.form !== REPORT_FORM) return;
    this.#sql.transaction(() => this.#add(report));
  }

  /** The time up to now, or since the ledger began. Spans are not divided, so that it may begin earlier than asked. */
  read(lastMs: number | null, pop: string | null): LedgerReading {
    const now = this.#now();
    const { spanMs } = SPANS.find(({ spanMs: each }) => lastMs === null || lastMs <= 120 * each) ?? SPANS[2];
    const from = lastMs === null ? EVER : Math.floor((now - lastMs) / spanMs) * spanMs;
    const sum = { counts: emptyTree(), routes: emptyTree() };
    const pops: Record<string, CountTree> = emptyTree() as Record<string, CountTree>;
    const spans = new Map<number, CountTree>();
    let top: TopLists | null = null;
    for (const { at, pop: rowPop, tally } of this.#rows(lastMs === null ? EVER : spanMs, from, pop)) {
      const span = JSON.parse(tally) as Span;
      if (rowPop === SITE) {
        if (pop !== null) continue;
        addCounts(sum.routes, span.routes ?? {});
        if (span.top) top = mergeTop(top, span.top);
        continue;
      }
      pops[rowPop] = addCounts(pops[rowPop] ?? emptyTree(), span.counts);
      if (lastMs !== null) spans.set(at, addCounts(spans.get(at) ?? emptyTree(), countsOverTime(span.counts)));
    }
    for (const counts of Object.values(pops)) addCounts(sum.counts, counts);
    return {
      from,
      to: now,
      spanMs: lastMs === null ? EVER : spanMs,
      spans: [...spans].map(([at, counts]) => ({ at, counts })),
      isolates: this.#isolates(from, now, pop, sum.counts),
      ...sum,
      top,
      pops,
    };
  }

  /** The purge keys among these that no report has named, as far as that is known. */
  unseen(keys: readonly string[]): UnseenKey[] {
    return this.#seen.unseen(keys);
  }

  #add(report: Report): void {
    const { isolate, number, coversMs, agoMs, isLast, memory, routes, top } = report;
    const now = this.#now();
    const known = this.#sql.exec("SELECT number FROM reporters WHERE id = ?", isolate)[0];
    if (known && (known.number as number) >= number) return;
    // A difference of two readings of one clock: right even if the clock itself is not.
    const at = now - Math.min(Math.max(0, agoMs), 2 * HOUR_MS - MINUTE_MS);
    const counts = { ...report.counts, heard: { heardMs: coversMs } };
    for (const [spanMs, spanAt] of spansAt(at)) {
      this.#addTo(spanMs, spanAt, report.pop || OTHERS, { counts });
      this.#addTo(spanMs, spanAt, SITE, { counts: {}, routes, ...(spanMs !== EVER && { top }) });
    }
    this.#sql.exec(
      "INSERT OR REPLACE INTO reporters VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...[isolate, number, report.pop, at, isLast ? 1 : 0, memory.bytes, memory.maxBytes],
    );
    if (report.seen) this.#seen.take(report.seen);
    if (now - this.#prunedAt >= MINUTE_MS || now < this.#prunedAt) this.#prune(now);
  }

  #addTo(spanMs: number, at: number, pop: string, more: Span): void {
    let name = pop;
    let held = this.#row(spanMs, at, name);
    if (!held && pop !== SITE) {
      const { pops } = this.#sql.exec("SELECT count(*) AS pops FROM ledger WHERE span = ? AND at = ?", spanMs, at)[0]!;
      if ((pops as number) > MAX_POPS) {
        name = OTHERS;
        held = this.#row(spanMs, at, name);
      }
    }
    const sum: Span = {
      counts: addCounts(held?.counts ?? emptyTree(), more.counts),
      ...(more.routes && { routes: addCounts(held?.routes ?? emptyTree(), more.routes) }),
      ...(more.top && { top: mergeTop(held?.top ?? null, more.top) }),
    };
    this.#sql.exec("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?, ?)", spanMs, at, name, JSON.stringify(sum));
  }

  #row(spanMs: number, at: number, pop: string): Span | undefined {
    const [row] = this.#sql.exec("SELECT tally FROM ledger WHERE span = ? AND at = ? AND pop = ?", spanMs, at, pop);
    return row && (JSON.parse(row.tally as string) as Span);
  }

  /** One by one: all rows of a time may be more than the object's memory holds. */
  #rows(spanMs: number, from: number, pop: string | null): Iterable<LedgerRow> {
    return this.#sql.iterate<LedgerRow>(
      "SELECT at, pop, tally FROM ledger WHERE span = ? AND at >= ? AND pop = ifnull(?, pop) ORDER BY at",
      ...[spanMs, from, pop],
    );
  }

  /** Isolates that are forgotten have left their share in the counts. */
  #isolates(from: number, now: number, pop: string | null, counts: CountTree): LedgerIsolates {
    const { heardMs = 0, ...forgotten } = treeAt(counts, "heard") as Record<string, number>;
    const [row] = this.#sql.exec<Omit<LedgerIsolates, "heardMs" | "heardShare">>(
      `SELECT count(*) + ? AS reported, total(NOT ended AND NOT live) + ? AS silent, total(live) AS alive,
        total(live * bytes) AS memoryBytes, total(live * max_bytes) AS memoryMaxBytes,
        total(iif(ended, 0, max(0, min(?, ? - heard_at)))) + ? AS unheardMs
        FROM (SELECT *, NOT ended AND heard_at >= ? AS live FROM reporters)
        WHERE heard_at >= ? AND pop = ifnull(?, pop)`,
      ...[forgotten.all ?? 0, forgotten.lost ?? 0, REPORT_EVERY_MS, now, (forgotten.lost ?? 0) * REPORT_EVERY_MS],
      ...[now - ALIVE_MS, from, pop],
    );
    const share = heardMs / (heardMs + row!.unheardMs);
    return { ...row!, heardMs, heardShare: Number.isNaN(share) ? 1 : share };
  }

  #prune(now: number): void {
    // A machine may start with a clock that is behind until it is set, so the first time decides nothing.
    if (this.#prunedAt > Number.NEGATIVE_INFINITY) this.#bringBack(now);
    this.#prunedAt = now;
    this.#seen.prune(now);
    for (const { spanMs, keptMs } of SPANS) {
      this.#sql.exec("DELETE FROM ledger WHERE span = ? AND at < ?", spanMs, now - keptMs - spanMs);
    }
    const old = this.#sql.exec(
      `SELECT id, pop, heard_at, ended FROM reporters WHERE heard_at < ?
        UNION SELECT * FROM (SELECT id, pop, heard_at, ended FROM reporters ORDER BY heard_at DESC LIMIT -1 OFFSET ?)`,
      ...[now - ISOLATE_KEPT_MS, MAX_ISOLATES],
    );
    for (const { id, pop, heard_at: heardAt, ended } of old) {
      const heard = { all: 1, lost: ended ? 0 : 1 };
      for (const [spanMs, at] of spansAt(heardAt as number)) {
        if (this.#row(spanMs, at, pop as string)) this.#addTo(spanMs, at, pop as string, { counts: { heard } });
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

function mergeTop(some: TopLists | null, more: TopLists): TopLists {
  const merged: Partial<Record<keyof TopLists, TopLists["missed"]>> = {};
  for (const kind in more) {
    const each = kind as keyof TopLists;
    merged[each] = mergeTopUrls(some?.[each] ?? [], more[each]);
  }
  return merged as TopLists;
}
