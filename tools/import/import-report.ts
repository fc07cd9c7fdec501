import { counted } from "../../internal.ts";
import type { Difference, ImportedSite } from "./imported-site.ts";

/** The kinds of differences in the order in which they are told, with their headings. */
const HEADINGS: readonly (readonly [heading: string, isUnder: (difference: Difference) => boolean])[] = [
  ["Kept visitors out, and is not carried over:", ({ kind }) => kind === "access"],
  ["Not carried over:", ({ kind }) => kind === "dropped"],
  ["Carried over, with a difference:", ({ kind }) => kind === "changed"],
  ["Safer now:", ({ kind, source }) => kind === "safer" && source !== null],
  ["By design, on every site:", ({ kind, source }) => kind === "safer" && source === null],
];

/** The differences for a person, most urgent first, wrapped to a width. */
export function differenceLines(differences: readonly Difference[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const [heading, isUnder] of HEADINGS) {
    const own = told(differences.filter(isUnder));
    if (own.length === 0) continue;
    if (lines.length > 0) lines.push("");
    lines.push(heading);
    for (const { head, why } of own) {
      const text = head === "" ? why : `${head}: ${why}`;
      lines.push(...wrapped(text, width - 4).map((line, index) => `${index === 0 ? "  - " : "    "}${line}`));
    }
  }
  return lines;
}

/** Each line of the file once for the same reason. */
function told(differences: readonly Difference[]): { head: string; why: string }[] {
  const all = differences.map(({ source, why }) => ({ head: source ? `${source.place}: ${source.text}` : "", why }));
  return [...new Map(all.map((each) => [`${each.head} ${each.why}`, each])).values()];
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** `4 routes from 1 file, 2 not carried over, 1 with a difference, 1 safer now`. */
export function importSummary({ files, routes, differences }: ImportedSite): string {
  const count = (kind: Difference["kind"]) =>
    told(differences.filter((each) => each.kind === kind && each.source)).length;
  const parts = [
    `${counted(routes.length, "route")} from ${counted(files.length, "file")}`,
    `${count("dropped") + count("access")} not carried over`,
    `${count("changed")} with a difference`,
    `${count("safer")} safer now`,
  ];
  return parts.join(", ");
}
