import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as sdk from "../../sdk/index.ts";
import * as sdkTesting from "../../sdk/testing.ts";
import { referencePages } from "./reference-pages.ts";

const pages = referencePages();

test("the reference is what `npm run docs` makes of the sources", () => {
  for (const { path, text } of pages) expect(readFileSync(path, "utf8")).toBe(text);
});

test("the reference has every value that the entries export", () => {
  const named = pages.map(({ exports }) => exports.filter(({ kind }) => ["Function", "Class"].includes(kind)));
  expect(named.map((exports) => exports.map(({ name }) => name!).sort())).toEqual([
    Object.keys(sdk).sort(),
    Object.keys(sdkTesting).sort(),
  ]);
});

test("every exported name has a comment", () => {
  const bare = pages.flatMap(({ exports }) => exports.filter(({ docComment }) => docComment.trim() === ""));
  expect(bare.map(({ name }) => name)).toEqual([]);
});
