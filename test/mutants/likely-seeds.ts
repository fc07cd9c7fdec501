import { readFileSync, writeFileSync } from "node:fs";

const FILE = new URL("./likely-seeds.json", import.meta.url);

/** By mutants' names: the first seed that found each, where it was not 1. */
export const likelySeeds = JSON.parse(readFileSync(FILE, "utf8")) as Readonly<Record<string, number>>;

/** Keeps them for the next time. */
export function writeLikelySeeds(found: ReadonlyMap<string, number>): void {
  const later = [...found].filter(([, seed]) => seed > 1).sort(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(later), null, 2)}\n`);
}
