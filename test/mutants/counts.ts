import { readFileSync, writeFileSync } from "node:fs";
import type { Mutant } from "./mutant.ts";

const FILE = new URL("./counts.json", import.meta.url);

/** What `counts.json` says. */
export interface Counts {
  /** The most mutants that each rule has had. `npm run docs` raises them, and lowers none. */
  readonly most: Readonly<Record<string, number>>;
  /** Where a rule has fewer now, by how many, and the reason. Written by hand. */
  readonly fewer: readonly { readonly rule: string; readonly by: number; readonly because: string }[];
}

export function readCounts(): Counts {
  return JSON.parse(readFileSync(FILE, "utf8")) as Counts;
}

export function writeCounts(counts: Counts): void {
  writeFileSync(FILE, `${JSON.stringify(counts, null, 2)}\n`);
}

/** The counts with what has been added since. */
export function raised({ most, fewer }: Counts, mutants: readonly Pick<Mutant, "rule">[]): Counts {
  const now = countByRule(mutants);
  const rules = [...new Set([...Object.keys(most), ...now.keys()])].sort(
    new Intl.Collator("en", { numeric: true }).compare,
  );
  const counts = rules.map((rule) => [
    rule,
    Math.max(most[rule] ?? 0, (now.get(rule) ?? 0) + lessBy({ most, fewer }, rule)),
  ]);
  return { most: Object.fromEntries(counts), fewer };
}

/** Why the counts are wrong, in words. */
export function wrongCounts(counts: Counts, mutants: readonly Pick<Mutant, "rule">[]): readonly string[] {
  const now = countByRule(mutants);
  const shrunk = Object.entries(counts.most).flatMap(([rule, most]) => {
    const missing = most - lessBy(counts, rule) - (now.get(rule) ?? 0);
    if (missing <= 0) return [];
    const entry = JSON.stringify({ rule, by: missing, because: "" });
    return [`${rule} has lost ${missing} of its mutants. If that is right, add to "fewer" in counts.json: ${entry}`];
  });
  const unwritten = raised(counts, mutants).most;
  const grown = Object.keys(unwritten).filter((rule) => unwritten[rule] !== counts.most[rule]);
  return [
    ...shrunk,
    ...grown.map((rule) => `${rule} has more mutants than counts.json says: npm run docs writes it`),
    ...counts.fewer.flatMap(({ rule, because }) => (because.trim() ? [] : [`${rule} has fewer mutants for no reason`])),
  ];
}

function countByRule(mutants: readonly Pick<Mutant, "rule">[]): ReadonlyMap<string, number> {
  return new Map([...Map.groupBy(mutants, ({ rule }) => rule)].map(([rule, ofRule]) => [rule, ofRule.length]));
}

function lessBy({ fewer }: Counts, rule: string): number {
  return fewer.filter((each) => each.rule === rule).reduce((sum, { by }) => sum + by, 0);
}
