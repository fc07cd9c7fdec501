import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { hunted, mutants } from "../mutants/index.ts";
import { scenarios } from "../scenarios/index.ts";
import { provenRules, stories } from "./written/rules-page.ts";

const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]));

describe("an id in the pages", () => {
  const areas = new Set([...byId.keys()].map((id) => id.split("/")[0]));
  const pages = ["README.md", "CONTRIBUTING.md", ...markdownIn("docs"), ...markdownIn("docs/decisions")];
  const named = pages.flatMap((page) => idsIn(readFileSync(page, "utf8"), areas).map((id) => ({ page, id })));

  test("belongs to a scenario", () => {
    const places = new Set(named.map(({ page }) => page));
    expect([...places]).toEqual(expect.arrayContaining(["docs/conformance.md", "docs/security.md"]));
    expect(named.filter(({ id }) => !byId.has(id))).toEqual([]);
  });

  test("is how pages refer to scenarios, instead of by their sentences", () => {
    expect(pages.filter((page) => /“/.test(readFileSync(page, "utf8")))).toEqual([]);
  });

  test("control: one that does not exist is found", () => {
    expect(idsIn("`purging/no-such`, `docs/http.md`, `purging/by-tag`", areas)).toEqual([
      "purging/no-such",
      "purging/by-tag",
    ]);
  });
});

describe("each rule of docs/protocol.md", () => {
  const rules = provenRules();
  const numbers = rules.map(({ number }) => number);
  const foundBy = (number: number) => rules[number - 1]!.mutants.flatMap((mutant) => mutant.foundBy);

  test("all of them are found, each named by the code that keeps it", () => {
    expect(numbers).toEqual(Array.from({ length: 26 }, (_, index) => index + 1));
    expect(rules.filter(({ files }) => !files.some((path) => path.startsWith("worker/")))).toEqual([]);
  });

  test.each(numbers)("R%s has a mutant that a scenario must notice", (number) => {
    expect(foundBy(number).filter((by) => byId.has(by))).not.toEqual([]);
  });

  test.each(numbers)("R%s has a mutant that the random worlds must find", (number) => {
    expect(foundBy(number)).toContain("simulation");
  });

  test("every mutant of a rule has the number of an existing rule", () => {
    const ofRules = mutants.filter(({ rule }) => /^R\d+$/.test(rule));
    expect(ofRules.length).toBeGreaterThan(100);
    expect(ofRules.filter(({ rule }) => !numbers.includes(Number(rule.slice(1))))).toEqual([]);
  });
});

describe("each story", () => {
  const told = stories();
  const reddened = new Set(mutants.flatMap(({ foundBy }) => foundBy));

  test("all of them are found", () => {
    const numbers = new Set(told.map(({ number }) => number));
    expect([...numbers]).toEqual(Array.from({ length: 32 }, (_, index) => index + 1));
  });

  test.each(told)("story $number, $id, names a rule and can fail", ({ id, rules }) => {
    expect(rules).not.toEqual([]);
    expect(reddened.has(id)).toBe(true);
  });

  test("a mutant that a story must notice breaks a rule that the story names", () => {
    const rulesOf = new Map(told.map(({ id, rules }) => [id, rules]));
    const wrong = hunted.filter(
      ({ mutant: { rule }, by }) => /^R\d+$/.test(rule) && rulesOf.get(by)?.includes(rule) === false,
    );
    expect(wrong.map(({ name, by }) => ({ name, rules: rulesOf.get(by) }))).toEqual([]);
  });
});

function markdownIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
}

/** Texts in backticks that begin with the name of an area. */
function idsIn(text: string, areas: ReadonlySet<string | undefined>): string[] {
  return [...text.matchAll(/`([a-z-]+)\/([\w-]+)`/g)].flatMap(([, area, name]) =>
    areas.has(area!) ? [`${area}/${name}`] : [],
  );
}
