import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { buildPage, moduleOf, PAGE_MODULE } from "../../dashboard/build-page.ts";

/**
 * The most that the page may weigh, gzipped, because it adds as much to the deployed worker. It rose last from 17 KiB, for
 * the machine of a server of one's own.
 */
const MAX_BYTES = 18.75 * 1024;

const built = await buildPage();

test("the worker's page is the one that `npm run dashboard` builds from the sources", async () => {
  expect(await readFile(PAGE_MODULE, "utf8")).toBe(moduleOf(built));
});

test("it weighs little", () => {
  const bytes = gzipSync(built.page).byteLength;
  process.stdout.write(`the dashboard's page: ${(bytes / 1024).toFixed(1)} KiB gzipped, of ${MAX_BYTES / 1024}\n`);
  expect(bytes).toBeLessThan(MAX_BYTES);
});

test("it loads nothing from elsewhere, and has no code in attributes", () => {
  expect([...new Set(built.page.match(/https?:\/\/[\w.]+/g))]).toEqual(["http://www.w3.org"]); // the name of SVG
  expect(built.page).not.toMatch(/<[^>]+\s(?:on\w+|src|action)=/);
  for (const parser of ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser"]) {
    expect(built.page).not.toContain(parser);
  }
});
