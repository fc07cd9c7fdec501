import { counted, printable } from "#tidemark/internal";
import { short, table } from "../words/table.ts";
import { percentOf, sizeOf } from "../words/words.ts";
import type { DeploySavings } from "./deploy-savings.ts";

/** The most rows that are shown. The JSON has all. */
const MAX_ROWS = 20;

/** The savings of a deploy, for a terminal. */
export function deployText({ changed, added, same, leftOut }: DeploySavings): string {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
  const brotli = sum(changed.map(({ brotliBytes }) => brotliBytes));
  const delta = sum(changed.map(({ deltaBytes }) => deltaBytes));
  const files = (count: number) => counted(count, "file");
  const rest = [
    `${files(same)} ${same === 1 ? "is" : "are"} the same as before`,
    `${files(added.files)} ${added.files === 1 ? "is" : "are"} new (${sizeOf(added.brotliBytes)})`,
    `${files(leftOut)} ${leftOut === 1 ? "is" : "are"} not text, or smaller than 1 KiB or larger than 10 MiB`,
  ];
  const others = `${rest.join("; ")}.`;
  if (changed.length === 0) return `No text file of the old build has changed. ${others}\n`;
  const headline =
    `${counted(changed.length, "text file")} changed. A visitor who has the old version downloads ` +
    `${sizeOf(delta)} with deltas, instead of ${sizeOf(brotli)} as Brotli: ${percentOf(1 - delta / brotli)} less.`;
  const rows = changed
    .slice(0, MAX_ROWS)
    .map((file) => [
      short(printable(file.path)),
      sizeOf(file.bytes),
      sizeOf(file.brotliBytes),
      sizeOf(file.deltaBytes),
    ]);
  const more = changed.length > MAX_ROWS ? [`and ${files(changed.length - MAX_ROWS)} more`] : [];
  return `${[headline, others, "", ...table(["FILE", "SIZE", "BROTLI", "DELTA"], rows), ...more].join("\n")}\n`;
}
