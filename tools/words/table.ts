/** The longest text of a cell. */
const MAX_CELL = 60;

/** Lines of columns: from the column `firstRight` on aligned to the right, except those without a heading. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], firstRight = 1): string[] {
  const all = [headings, ...rows].map((row) => row.map(short));
  const widths = headings.map((_heading, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all.map((row) =>
    row
      .map((cell, column) =>
        column < firstRight || headings[column] === "" ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join("  ")
      .trimEnd(),
  );
}

/** The text, cut to the width of a cell. */
export function short(text: string): string {
  return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL - 1)}…` : text;
}
