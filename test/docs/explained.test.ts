import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PROBLEM_CODES } from "../../wire/problem.ts";
import { pageNamed, pages } from "./pages.ts";

/** The first cells of the tables in a page that are one name in code. */
function rowsOf(text: string): string[] {
  return [...text.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!);
}

describe("an alert", () => {
  const alerts = [...readFileSync("docs/prometheus/alerts.yml", "utf8").matchAll(/- alert: (\w+)/g)].map(
    ([, name]) => name!,
  );
  const explained = pages.flatMap(({ text }) => rowsOf(text)).filter((name) => /^Tidemark[A-Z]/.test(name));

  test("is explained once, and none that is gone is", () => {
    expect(alerts.length).toBeGreaterThan(10);
    expect(explained.sort()).toEqual([...alerts].sort());
  });
});

describe("an error code", () => {
  const [, union] = /^type PurgeErrorCode =(.*?);\n/ms.exec(pageNamed("docs/reference/tidemark.md").text)!;
  const codes = [...union!.matchAll(/"([\w-]+)"/g)].map(([, code]) => code!);
  const explanations = new Map(
    [...union!.matchAll(/\/\*\* (.+) \*\/\n(?: \| )?"([\w-]+)"/g)].map(([, words, code]) => [code!, words!]),
  );

  test("is explained where the client's errors are", () => {
    expect(codes).toEqual(expect.arrayContaining([...Object.keys(PROBLEM_CODES), "timeout", "closed"]));
    expect(codes.filter((code) => !explanations.has(code))).toEqual([]);
  });

  test.each(Object.entries(PROBLEM_CODES))("%s of the edge is explained with its status", (code, { status }) => {
    expect(explanations.get(code)).toMatch(new RegExp(`^${status}: `));
  });
});
