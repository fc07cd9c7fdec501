import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readPicture } from "../pictures/picture.ts";
import { drawnPictures } from "../pictures/written-pictures.ts";
import { CACHE_STATUS_PAGE, cacheStatusPage } from "./cache-status-page.ts";
import { HTTP_API_PAGE, httpApiPage } from "./http-api-page.ts";
import { RULES_PAGE, rulesPage } from "./rules-page.ts";

test.each([
  [CACHE_STATUS_PAGE, cacheStatusPage],
  [HTTP_API_PAGE, httpApiPage],
  [RULES_PAGE, rulesPage],
])("%s is as `npm run docs` writes it", (path, write) => {
  expect(readFileSync(path, "utf8")).toBe(write());
});

describe("a picture that is drawn from a text", () => {
  test.each(drawnPictures())("$path is as `npm run docs` draws it", ({ path, svg }) => {
    expect(readFileSync(path, "utf8")).toBe(svg);
  });

  test.each([
    ["box a at 0 0: A\narrow a to b: no such box", "has no box and no lane b"],
    ["box a at 0: no row", "line 1 of the picture is no statement: box a at 0: no row"],
  ])("control: a mistake in its text is found (%#)", (text, message) => {
    expect(() => readPicture(text)).toThrow(message);
  });
});

describe("the reference of Cache-Status", () => {
  const page = cacheStatusPage();
  const OWN =
    /(?:answerOurselves|ownAnswer|withoutAnswer|refused|edgeAnswer)\((?:[^()"]|\([^()]*\))*?\d{3}, (?:"[^"]*", )?"([a-z]+(?:-[a-z]+)*)"/g;
  const details = globSync(["worker/**/*.ts", "server/**/*.ts"]).flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(OWN)].map(([, detail]) => ({ file, detail: detail! })),
  );

  test("explains the detail of each answer that the edge makes itself", () => {
    expect(details.length).toBeGreaterThan(15);
    expect(details.filter(({ detail }) => !page.includes(`| \`${detail}\` |`))).toEqual([]);
  });

  test("explains each detail once in its table", () => {
    const rows = page
      .split(/^## /m)
      .map((section) => [...section.matchAll(/^\| (?:[\d, ]+ \| )?`[^`]+` /gm)].map(([name]) => name));
    expect(rows.flatMap((names) => names.filter((name, index) => names.indexOf(name) !== index))).toEqual([]);
  });
});
