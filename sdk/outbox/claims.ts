import { orderedItems, type WaitingRow } from "./queued-purge.ts";

/** The rows of one page of the table are read together; a claim looks at no more than `MAX_SCANNED_ROWS` of them. */
export const PAGE_ROWS = 500;
export const MAX_SCANNED_ROWS = 5_000;

/** The rows that may be sent now, of those that were looked at. */
export interface Claims {
  readonly rows: readonly WaitingRow[];
  /** The items of rows that have to wait: no later row with one of them may be sent before those. */
  readonly held: ReadonlySet<string>;
  /** The earliest instant at which one of the rows that have to wait may be sent; `null` if none has to. */
  readonly nextAt: number | null;
}

export const NO_CLAIMS: Claims = { rows: [], held: new Set(), nextAt: null };

/**
 * Chooses the rows to send, at most `limit`: those that are due and not leased, unless an earlier row with an item in
 * common has to wait. Several chosen rows may have items in common; `nextWave` keeps their order.
 *
 * `rows` are all waiting rows in the order of their numbers, or the next page of them after `before`.
 */
export function chooseClaims(rows: readonly WaitingRow[], now: number, limit: number, before = NO_CLAIMS): Claims {
  const chosen = [...before.rows];
  const held = new Set(before.held);
  let { nextAt } = before;
  for (const row of rows) {
    if (chosen.length >= limit) break;
    const items = orderedItems(row.request);
    const readyAt = Math.max(row.dueAt, row.leaseUntil);
    const isHeld = items.some((item) => held.has(item));
    if (!isHeld && readyAt <= now) {
      chosen.push(row);
      continue;
    }
    for (const item of items) held.add(item);
    // A row behind another one waits for that one, whatever its own instant is.
    if (!isHeld) nextAt = Math.min(nextAt ?? readyAt, readyAt);
  }
  return { rows: chosen, held, nextAt };
}

/** The chosen rows that were leased, without the rows behind one that another process leased first. */
export function obtainedClaims(chosen: readonly WaitingRow[], obtained: ReadonlySet<number>): readonly WaitingRow[] {
  const asFound = chosen.map((row) => (obtained.has(row.seq) ? row : { ...row, leaseUntil: Number.POSITIVE_INFINITY }));
  return chooseClaims(asFound, Number.MAX_VALUE, chosen.length).rows;
}

/**
 * The first of these rows, in the order of their numbers, that may be sent side by side: no two have an item in common.
 */
export function nextWave(rows: readonly WaitingRow[], held: ReadonlySet<string>, limit: number): WaitingRow[] {
  const wave: WaitingRow[] = [];
  const taken = new Set(held);
  for (const row of rows) {
    if (wave.length >= limit) break;
    const items = orderedItems(row.request);
    if (!items.some((item) => taken.has(item))) wave.push(row);
    for (const item of items) taken.add(item);
  }
  return wave;
}
