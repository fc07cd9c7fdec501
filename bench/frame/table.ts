/** Prints rows under their column names. The first column is aligned left, all others right. */
export function printTable(columns: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [columns, columns.map(() => ""), ...rows];
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const [index, line] of lines.entries()) {
    const cells = widths.map((width, column) => {
      const cell = index === 1 ? "-".repeat(width) : (line[column] ?? "");
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    console.log(cells.join("  ").trimEnd());
  }
}
