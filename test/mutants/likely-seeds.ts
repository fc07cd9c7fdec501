import { readFileSync, writeFileSync } from "node:fs";

const FILE = new URL("./likely-seeds.json", import.meta.url);

/** By mutants' names: the seed that found each the last time, if it was not 1. */
export const likelySeeds = JSON.parse(readFileSync(FILE, "utf8")) as Readonly<Record<string, number>>;

/** Stores the seeds for the next run. */
export function writeLikelySeeds(found: ReadonlyMap<string, number>): void {
  const later = [...found].filter(([, seed]) => seed > 1).sort(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(later), null, 2)}\n`);
}
