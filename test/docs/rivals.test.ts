import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { RIVALS_PAGE, readMeasured, rivalsPage } from "../../bench/rivals/page.ts";

test("docs/rivals.md is as `npm run docs` writes it", () => {
  expect(readFileSync(RIVALS_PAGE, "utf8")).toBe(rivalsPage(readMeasured()));
});
