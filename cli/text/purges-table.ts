import type { PurgeRecord } from "../../sdk/index.ts";
import { printable } from "../../wire/text/printable.ts";

const HEADINGS = ["SEQ", "AT", "BY", "MODE", "SETTLED", "WHAT", "WHY"];

/** The most characters for the items of a purge. */
const MAX_ITEMS_WIDTH = 60;

/** The widest column. A longer cell, of one long URL, shifts the rest of its line alone. */
const MAX_WIDTH = 100;

/**
 * Purges as a table for a person, a line each, which are printed as they come. Its columns grow with their cells; its
 * headings are only at the top.
 */
export class GrowingTable {
  #widths: readonly number[] | undefined;

  /** The lines of further purges. */
  add(purges: readonly PurgeRecord[]): string {
    const headings = this.#widths === undefined ? [HEADINGS] : [];
    const rows = [...headings, ...purges.map(cellsOf)];
    const earlier = this.#widths ?? HEADINGS.map(() => 0);
    const lengths = (column: number) => rows.map((row) => row[column]!.length).filter((length) => length <= MAX_WIDTH);
    const widths = earlier.map((width, column) => Math.max(width, ...lengths(column)));
    this.#widths = widths;
    const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ");
    return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
  }
}

function cellsOf(purge: PurgeRecord): string[] {
  const { seq, at, by, mode, settled, waitsFor = [], items, itemCount, reason, repeatOf } = purge;
  const why = [reason ?? "", repeatOf === null ? "" : `(repeats ${repeatOf})`].filter((part) => part !== "").join(" ");
  const waits = waitsFor.length === 0 ? "not yet" : `waits for ${waitsFor.join(", ")}`;
  return [String(seq), at, by, mode, settled ? "yes" : waits, itemsCell(items, itemCount), why].map(printable);
}

/** The items that fit, and the number of the others. */
function itemsCell(items: readonly string[], itemCount: number): string {
  let text = "";
  let named = 0;
  for (const item of items) {
    if (named > 0 && text.length + item.length >= MAX_ITEMS_WIDTH) break;
    text += (named > 0 ? " " : "") + item;
    named++;
  }
  const more = itemCount - named;
  return more > 0 ? `${text} and ${more} more`.trimStart() : text;
}
