import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BENCHMARKS_PAGE, readMeasured, withRivals } from "../../bench/rivals/page.ts";

test("the tables of rivals in docs/benchmarks.md are as `npm run docs` writes them", () => {
  const page = readFileSync(BENCHMARKS_PAGE, "utf8");
  expect(page.match(/^<!-- generated: (rivals|forms) -->$/gm)).toHaveLength(2);
  expect(withRivals(page, readMeasured())).toBe(page);
});
