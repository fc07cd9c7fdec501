import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PAGES_OF_RIVALS, readMeasured, withRivals } from "../../bench/rivals/page.ts";

test("the tables of rivals are as `npm run docs` writes them", () => {
  const pages = PAGES_OF_RIVALS.map((page) => readFileSync(page, "utf8"));
  const generated = pages.flatMap((page) => page.match(/^<!-- generated: \w+ -->$/gm));
  expect(generated).toEqual(["rivals", "forms", "rows"].map((name) => `<!-- generated: ${name} -->`));
  for (const page of pages) expect(withRivals(page, readMeasured())).toBe(page);
});
