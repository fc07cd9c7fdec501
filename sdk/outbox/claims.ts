import { isHalfAccepted, orderedItems, type WaitingRow } from "./queued-purge.ts";

/** The number of rows that are read together; a claim reads at most `MAX_SCANNED_ROWS`. */
export const PAGE_ROWS = 500;
export const MAX_SCANNED_ROWS = 5_000;

/** The most rows that are sent side by side. */
export const SENT_AT_ONCE = 8;

/**
 * The rows to choose from. Of those that some edges have accepted, only the ones whose time comes first: while an edge is
 * down for long, they may be more than a claim reads.
 */
export const WAITING_ROWS: string = `FROM tidemark_outbox WHERE dead_at IS NULL AND (
  failure_scope IS NULL OR failure_scope <> 'some-edges' OR seq IN (
    SELECT seq FROM tidemark_outbox WHERE dead_at IS NULL AND failure_scope = 'some-edges'
    ORDER BY CASE WHEN due_at > lease_until THEN due_at ELSE lease_until END, seq LIMIT ${SENT_AT_ONCE}
  ))`;

/** The rows, of those that were read, that may be sent now. */
export interface Claims {
  readonly rows: readonly WaitingRow[];
  /** Whether no later row can be chosen. */
  readonly isFull: boolean;
  /** The items of rows that must wait: no later row with one of these items may be sent before them. */
  readonly held: ReadonlySet<string>;
  /** The earliest time at which one of the waiting rows may be sent; `null` if none waits. */
  readonly nextAt: number | null;
}

export const NO_CLAIMS: Claims = { rows: [], isFull: false, held: new Set(), nextAt: null };

/** The rows that a claim asks for. */
export interface ClaimTerms {
  /** Epoch milliseconds. */
  readonly now: number;
  /**
   * No due time or lease of a right clock is later, in epoch milliseconds. A later one has passed: the clock was ahead when
   * it was written.
   */
  readonly latestAt: number;
  readonly limit: number;
}

/**
 * Chooses the rows to send, at most `limit`: those that are due and not leased, unless an earlier row with an item in
 * common has to wait. Several chosen rows may have items in common; `nextWave` keeps their order. Rows that some edges
 * have accepted come last, and are few: many of them would hold up new rows while another edge is down.
 *
 * `rows` are all waiting rows in the order of their numbers, or the next page of them after `before`.
 */
export function chooseClaims(
  rows: readonly WaitingRow[],
  { now, latestAt, limit }: ClaimTerms,
  before: Claims = NO_CLAIMS,
): Claims {
  const chosen = before.rows.filter((row) => !isHalfAccepted(row));
  const again = before.rows.filter(isHalfAccepted);
  const held = new Set(before.held);
  let { nextAt } = before;
  for (const row of rows) {
    if (chosen.length >= limit) break;
    const items = orderedItems(row);
    const readyAt = Math.max(0, ...[row.dueAt, row.leaseUntil].filter((at) => at <= latestAt));
    const isHeld = items.some((item) => held.has(item));
    if (!isHeld && readyAt <= now) {
      if (!isHalfAccepted(row)) chosen.push(row);
      else if (again.length < SENT_AT_ONCE) again.push(row);
      continue;
    }
    for (const item of items) held.add(item);
    // A row behind another waits for it, whatever its own due time.
    if (!isHeld) nextAt = Math.min(nextAt ?? readyAt, readyAt);
  }
  return { rows: [...chosen, ...again].slice(0, limit), isFull: chosen.length >= limit, held, nextAt };
}

/** The chosen rows that were leased, without the rows behind one that another process leased first. */
export function obtainedClaims(chosen: readonly WaitingRow[], obtained: ReadonlySet<number>): readonly WaitingRow[] {
  const asFound = chosen.map((row) => (obtained.has(row.seq) ? row : { ...row, leaseUntil: Number.POSITIVE_INFINITY }));
  return chooseClaims(asFound, { now: Number.MAX_VALUE, latestAt: Number.POSITIVE_INFINITY, limit: chosen.length })
    .rows;
}

/**
 * The first of these rows, in their order, that may be sent side by side: no two have an item in common.
 */
export function nextWave(rows: readonly WaitingRow[], held: ReadonlySet<string>, limit: number): WaitingRow[] {
  const wave: WaitingRow[] = [];
  const taken = new Set(held);
  for (const row of rows) {
    if (wave.length >= limit) break;
    const items = orderedItems(row);
    if (!items.some((item) => taken.has(item))) wave.push(row);
    for (const item of items) taken.add(item);
  }
  return wave;
}
