import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const RESULTS = fileURLToPath(new URL("../results", import.meta.url));

/** Writes the results to `file`, or else to `bench/results/<bench>-<date>.json`, and prints where they are. */
export function writeResults(bench: string, results: object, file: string | undefined): void {
  const at = new Date().toISOString();
  const path = file ?? join(RESULTS, `${bench}-${at.slice(0, 19).replaceAll(":", "")}Z.json`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ bench, at, ...results }, null, 2)}\n`);
  console.log(`\nwritten to ${relative(process.cwd(), path)}`);
}
