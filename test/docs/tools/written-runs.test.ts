import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CRAWL_CHART, CRAWL_PAGE, withCrawlRuns, withoutTimes } from "./crawl-runs.ts";
import { REPORT_PAGE, RUNS, withRuns } from "./report-runs.ts";

const TITLE = "the run of %s in docs/tools.md is as `npm run docs` writes it";
test.each(RUNS.slice(0, 1))(TITLE, isAsWritten);
test.each(RUNS.slice(1))(TITLE, { tags: ["deep"] }, isAsWritten);

async function isAsWritten(name: (typeof RUNS)[number]): Promise<void> {
  const page = readFileSync(REPORT_PAGE, "utf8");
  expect(page.match(/^\$ tidemark (report|replay) /gm)).toHaveLength(RUNS.length);
  expect(await withRuns(page, [name])).toBe(page);
}

test("the runs of crawl and warm in docs/tools.md are as `npm run docs` writes them, but for the times", {
  tags: ["deep"],
  timeout: 60_000,
}, async () => {
  const page = readFileSync(CRAWL_PAGE, "utf8");
  expect(page.match(/^\$ npx tidemark (warm|crawl) /gm)).toHaveLength(2);
  const runs = await withCrawlRuns(page);
  expect(withoutTimes(runs.page)).toBe(withoutTimes(page));

  // The chart is of the run on the page: it has its sentence.
  const sentence = /^From .+ a page takes [\d.,]+ ms instead of [\d.,]+\.$/m;
  expect(readFileSync(CRAWL_CHART, "utf8")).toContain(`>${sentence.exec(page)![0]}</text>`);
  expect(runs.chart).toContain(`>${sentence.exec(runs.page)![0]}</text>`);

  // The witness: each region fetches a page once, and the crawl asks the origin once more. What is private is never stored.
  const askedFor = (path: string) => runs.seen.filter(({ target }) => target === path).length;
  expect(["/", "/blog/", "/blog/spring-tide", "/tides?port=brest"].map(askedFor)).toEqual([4, 4, 4, 4]);
  expect(askedFor("/account")).toBe(1 + 6 + 1);
  expect(askedFor("/admin/")).toBe(0);
});
