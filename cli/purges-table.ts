import type { PurgeRecordPage } from "../sdk/read-purges.ts";

type PurgeRecord = PurgeRecordPage["purges"][number];

const HEADS = ["SEQ", "AT", "BY", "MODE", "SETTLED", "WHAT", "WHY"];

/** The most characters of a line that tell what was purged. */
const MOST_WHAT = 60;

/** Purges as a table for a person, a line for each. */
export function purgesReport(purges: readonly PurgeRecord[]): string {
  const rows = [HEADS, ...purges.map(cellsOf)];
  const widths = HEADS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function cellsOf({ seq, at, by, mode, settled, items, itemCount, reason, repeatOf }: PurgeRecord): string[] {
  const why = [reason ?? "", repeatOf === null ? "" : `(repeats ${repeatOf})`]
    .filter((words) => words !== "")
    .join(" ");
  return [String(seq), at, by, mode, settled ? "yes" : "not yet", whatOf(items, itemCount), why].map(printable);
}

/** The first items, as many as a line has room for, and how many more there are. */
function whatOf(items: readonly string[], itemCount: number): string {
  let words = "";
  let told = 0;
  for (const item of items) {
    if (told > 0 && words.length + item.length >= MOST_WHAT) break;
    words += (told > 0 ? " " : "") + item;
    told++;
  }
  const more = itemCount - told;
  return more > 0 ? `${words} and ${more} more`.trimStart() : words;
}

/** What callers write goes to a terminal: no control characters, and nothing that changes the direction of text. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
}
