import { readFileSync, writeFileSync } from "node:fs";

const FILE = new URL("./likely-seeds.json", import.meta.url);

/** By mutants' names: the seed that found each the last time, if it was not 1. */
export const likelySeeds = JSON.parse(readFileSync(FILE, "utf8")) as Readonly<Record<string, number>>;

/** Puts seeds that found other mutants than before into the file, except in CI. Returns what became of them, in words. */
export function keepLikelySeeds(found: Iterable<readonly [id: string, seed: number]>): string {
  if (process.env.CI) return "which costs time until likely-seeds.json says so";
  const later = Object.entries({ ...likelySeeds, ...Object.fromEntries(found) }).filter(([, seed]) => seed > 1);
  later.sort(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(later), null, 2)}\n`);
  return "which is now in likely-seeds.json";
}
