import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { REPORT_PAGE, withRuns } from "./report-runs.ts";

test("the runs in docs/report.md are as `npm run docs` writes them", async () => {
  const page = readFileSync(REPORT_PAGE, "utf8");
  expect(page.match(/^\$ tidemark (report|replay) /gm)).toHaveLength(2);
  expect(await withRuns(page)).toBe(page);
});
