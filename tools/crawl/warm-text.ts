import { counted, printable, whole } from "#tidemark/internal";
import { walkNotes } from "./walk-notes.ts";
import type { WarmReport } from "./warm.ts";

/** A warming for a terminal: one line, and notes for the reader. */
export function warmText(report: WarmReport): string {
  const { asked, stored, hadBeen, notStored, unknown, places } = report;
  const where = places.length === 0 ? "" : ` in ${places.join(", ")}`;
  const reasons = Object.entries(notStored.because)
    .sort(([, a], [, b]) => b - a)
    .map(([because, count]) => `${printable(because)}: ${whole(count)}`);
  const parts = [
    `${whole(stored)} ${were(stored)} stored now`,
    ...(hadBeen === 0 ? [] : [`${whole(hadBeen)} stored before`]),
    `${whole(notStored.count)} could not be stored${reasons.length === 0 ? "" : ` (${reasons.join("; ")})`}`,
    ...(unknown === 0 ? [] : [`${whole(unknown)} unknown`]),
  ];
  const line = `${counted(asked, "page")} requested${where}: ${parts.join(", ")}.`;
  return `${[line, ...walkNotes(report)].join("\n")}\n`;
}

function were(count: number): string {
  return count === 1 ? "was" : "were";
}
