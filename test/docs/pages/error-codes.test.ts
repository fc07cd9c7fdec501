import { expect, test } from "vitest";
import { PROBLEM_CODES } from "../../../wire/problem.ts";
import { pageNamed } from "./pages.ts";

const [, union] = /^type PurgeErrorCode =(.*?);\n/ms.exec(pageNamed("docs/reference/tidemark.md").text)!;
const explanations = new Map(
  [...union!.matchAll(/\/\*\* (.+) \*\/\n(?: \| )?"([\w-]+)"/g)].map(([, words, code]) => [code!, words!]),
);

test("each error code of the client is explained where its errors are", () => {
  const codes = [...union!.matchAll(/"([\w-]+)"/g)].map(([, code]) => code!);
  expect(codes).toEqual(expect.arrayContaining([...Object.keys(PROBLEM_CODES), "timeout", "closed"]));
  expect(codes.filter((code) => !explanations.has(code))).toEqual([]);
});

test.each(Object.entries(PROBLEM_CODES))("%s of the edge is explained with its status", (code, { status }) => {
  expect(explanations.get(code)).toMatch(new RegExp(`^${status}: `));
});
