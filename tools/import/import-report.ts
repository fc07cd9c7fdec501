import { counted } from "#tidemark/internal";
import type { Difference, ImportedSite } from "./imported-site.ts";

/** The kinds of differences with their headings, in the order of the report. */
const HEADINGS: readonly (readonly [heading: string, isUnder: (difference: Difference) => boolean])[] = [
  ["Not carried over, although it kept visitors out:", ({ kind }) => kind === "access"],
  ["Not carried over:", ({ kind }) => kind === "dropped"],
  ["Carried over, with a difference:", ({ kind }) => kind === "changed"],
  ["Safer now:", ({ kind, source }) => kind === "safer" && source !== null],
  ["By design, on every site:", ({ kind, source }) => kind === "safer" && source === null],
];

/** The differences for a person, the most urgent first, wrapped to a width. */
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

/** What several lines of the file say alike is listed once, with the place of each. */
function told(differences: readonly Difference[]): { head: string; why: string }[] {
  const alike = Map.groupBy(differences, ({ source, why }) => `${source?.text ?? ""}\n${why}`);
  return [...alike.values()].map((each) => {
    const { source, why } = each[0]!;
    const places = new Set(each.map((other) => other.source?.place));
    return { head: source ? `${[...places].join(", ")}: ${source.text}` : "", why };
  });
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

/** The most reasons that the summary names. */
const MAX_WORDS = 4;

/** `5 locations: 3 store, 2 pass, because of: no cache in 1, auth_basic "Staff"` */
export function importSummary({ locations }: ImportedSite): string {
  const stored = locations.filter(({ stores }) => stores);
  const words = new Set(locations.flatMap(({ because }) => because));
  const named = [...words].slice(0, MAX_WORDS).map((each) => (each.length > 60 ? `${each.slice(0, 59)}…` : each));
  const others = words.size - named.length;
  const uncached = locations.filter(({ isCached }) => !isCached).length;
  const because = [
    ...(uncached > 0 ? [`no cache in ${uncached}`] : []),
    ...named,
    ...(others > 0 ? [`${others} more, which the list shows`] : []),
  ];
  const passing = locations.length - stored.length;
  return [
    `${counted(locations.length, "location")}: ${stored.length} store`,
    `${passing} pass${passing > 0 ? `, because of: ${because.join(", ")}` : ""}`,
  ].join(", ");
}
