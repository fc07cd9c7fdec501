import { isHalfAccepted, orderedItems, WAITING_COLUMNS, type WaitingRow } from "./queued-purge.ts";

/** The number of rows that are read together; a claim reads at most `MAX_SCANNED_ROWS`. */
export const PAGE_ROWS = 500;
export const MAX_SCANNED_ROWS = 5_000;

/** The most rows that are sent side by side. */
export const SENT_AT_ONCE = 8;

/** The pause before rows that another process has locked or leased are looked at again: it may give them back early. */
const LEASED_PAUSE_MS = 1_000;

const IS_ORDERED = "dead_at IS NULL AND failure_scope IS DISTINCT FROM 'some-edges'";
const IS_HALF_ACCEPTED = "dead_at IS NULL AND failure_scope = 'some-edges'";
const READY_AT = "(CASE WHEN due_at > lease_until THEN due_at ELSE lease_until END)";

/** The indexes of the two queries below: without them, each claim would read all rows that wait for an edge that is down. */
export const WAITING_INDEXES: string = `CREATE INDEX IF NOT EXISTS tidemark_outbox_ordered ON tidemark_outbox (seq)
  WHERE ${IS_ORDERED};
CREATE INDEX IF NOT EXISTS tidemark_outbox_half_accepted ON tidemark_outbox (${READY_AT}, seq)
  WHERE ${IS_HALF_ACCEPTED};`;

/** The next page of the rows that keep an order, after a number. */
export const orderedPage = (after: string): string =>
  `SELECT ${WAITING_COLUMNS} FROM tidemark_outbox WHERE ${IS_ORDERED} AND seq > ${after} ORDER BY seq LIMIT ${PAGE_ROWS}`;

/**
 * Of the rows that some edges have accepted, only those whose time comes first: while an edge is down for long, they may be
 * more than a claim reads.
 */
export const HALF_ACCEPTED_ROWS: string = `SELECT ${WAITING_COLUMNS} FROM tidemark_outbox WHERE ${IS_HALF_ACCEPTED}
  ORDER BY ${READY_AT}, seq LIMIT ${SENT_AT_ONCE}`;

/** The rows, of those that were read, that may be sent now. */
export interface Claims {
  readonly rows: readonly WaitingRow[];
  /** Whether no later row can be chosen. */
  readonly isFull: boolean;
  /** The items of rows that must wait: no later row with one of these items may be sent before them. */
  readonly held: ReadonlySet<string>;
  /** When to look again for one of the waiting rows, at the earliest; `null` if none waits. */
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
 * common has to wait. Several chosen rows may have items in common; `nextToSend` keeps their order. Rows that some edges
 * have accepted come last, and are few: many of them would hold up new rows while another edge is down.
 *
 * `rows` are all waiting rows, or the next page of them after `before`, those that keep an order by their numbers.
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
    if (isHeld) continue;
    const lookAt = readyAt === row.leaseUntil ? Math.min(readyAt, now + LEASED_PAUSE_MS) : readyAt;
    nextAt = Math.min(nextAt ?? lookAt, lookAt);
  }
  return { rows: [...chosen, ...again].slice(0, limit), isFull: chosen.length >= limit, held, nextAt };
}

/** The chosen rows that were leased, without the rows behind one that another process has locked or leased first. */
export function obtainedClaims({ rows, nextAt }: Claims, obtained: ReadonlySet<number>, terms: ClaimTerms): Claims {
  const asFound = rows.map((row) => (obtained.has(row.seq) ? row : { ...row, leaseUntil: terms.latestAt }));
  return chooseClaims(asFound, terms, { ...NO_CLAIMS, nextAt });
}

/**
 * The first of these rows, in their order, that may be sent beside each other: no two have an item in common, and none has
 * one of those that are `taken`.
 */
export function nextToSend(rows: readonly WaitingRow[], taken: Iterable<string>, limit: number): WaitingRow[] {
  const chosen: WaitingRow[] = [];
  const all = new Set(taken);
  for (const row of rows) {
    if (chosen.length >= limit) break;
    const items = orderedItems(row);
    if (!items.some((item) => all.has(item))) chosen.push(row);
    for (const item of items) all.add(item);
  }
  return chosen;
}
