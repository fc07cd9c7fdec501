import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { hunted, mutants } from "../mutants/index.ts";
import { scenarios } from "../scenarios/index.ts";

const protocol = readFileSync("docs/protocol.md", "utf8");
const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]));

describe("an id in the pages", () => {
  const areas = new Set([...byId.keys()].map((id) => id.split("/")[0]));
  const pages = ["README.md", "CONTRIBUTING.md", ...markdownIn("docs"), ...markdownIn("docs/decisions")];
  const named = pages.flatMap((page) => idsIn(readFileSync(page, "utf8"), areas).map((id) => ({ page, id })));

  test("is a scenario's", () => {
    const places = new Set(named.map(({ page }) => page));
    expect([...places]).toEqual(expect.arrayContaining(["docs/conformance.md", "docs/protocol.md", "docs/design.md"]));
    expect(named.filter(({ id }) => !byId.has(id))).toEqual([]);
  });

  test("is how the pages refer to scenarios, never by their sentences", () => {
    expect(pages.filter((page) => /“/.test(readFileSync(page, "utf8")))).toEqual([]);
  });

  test("control: one that does not exist is found", () => {
    expect(idsIn("`purging/no-such`, `docs/design.md`, `purging/by-tag`", areas)).toEqual([
      "purging/no-such",
      "purging/by-tag",
    ]);
  });
});

describe("each rule of docs/protocol.md", () => {
  const numbers = [...protocol.matchAll(/^### R(\d+) /gm)].map(([, number]) => Number(number));

  test("all of them are found, each with the sources that hold it", () => {
    expect(numbers).toEqual(Array.from({ length: 26 }, (_, index) => index + 1));
    const sections = protocol.split(/^(?=##)/m).filter((text) => text.startsWith("### R"));
    expect(sections.filter((text) => !text.includes("Holds: `worker/"))).toEqual([]);
  });

  const foundBy = (number: number) =>
    mutants.filter(({ rule }) => rule === `R${number}`).flatMap((mutant) => mutant.foundBy);

  test.each(numbers)("R%s has a mutant that a scenario must notice", (number) => {
    expect(foundBy(number).filter((by) => byId.has(by))).not.toEqual([]);
  });

  test.each(numbers)("R%s has a mutant that the random worlds must find", (number) => {
    expect(foundBy(number)).toContain("simulation");
  });

  test("every mutant of a rule bears the number of one that exists", () => {
    const ofRules = mutants.filter(({ rule }) => /^R\d+$/.test(rule));
    expect(ofRules.length).toBeGreaterThan(100);
    expect(ofRules.filter(({ rule }) => !numbers.includes(Number(rule.slice(1))))).toEqual([]);
  });
});

describe("each story of docs/protocol.md", () => {
  const stories = [...protocol.matchAll(/^(\d+)\. (R\d+(?:, R\d+)*)\. ((?:.|\n {2,4})+)$/gm)];
  const rows = stories.map(([, number, rules, text]) => [number!, rules!, text!.replace(/\s+/g, " ")] as const);
  const reddened = new Set(mutants.flatMap(({ foundBy }) => foundBy));

  test("all of them are found", () => {
    expect(rows.map(([number]) => Number(number))).toEqual(Array.from({ length: 32 }, (_, index) => index + 1));
  });

  test.each(rows)("story %s is a scenario that bears its number, and that can fail", (number, _, text) => {
    const named = [...text.matchAll(/`([a-z-]+\/[\w-]+)`/g)].map(([, id]) => id!);
    expect(named.filter((id) => !byId.has(id))).toEqual([]);
    const own = named.filter((id) => byId.get(id)!.name.startsWith(`story ${number}: `));
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter((id) => !reddened.has(id))).toEqual([]);
  });

  test("a mutant that a story must notice breaks a rule that the story names", () => {
    const wrong = hunted.flatMap(({ name, mutant: { rule }, by }) => {
      const story = /^story (\d+): /.exec(byId.get(by)?.name ?? "")?.[1];
      if (story === undefined || !/^R\d+$/.test(rule)) return [];
      const rules = rows[Number(story) - 1]?.[1].split(", ") ?? [];
      return rules.includes(rule) ? [] : [{ name, rules }];
    });
    expect(wrong).toEqual([]);
  });

  test("no scenario bears the number of a story that is not there, or is left out of its row", () => {
    const shown = scenarios.flatMap(({ id, name }) => {
      const number = /^story (\d+): /.exec(name)?.[1];
      return number === undefined ? [] : [{ id, number }];
    });
    expect(shown.filter(({ id, number }) => !rows[Number(number) - 1]?.[2].includes(`\`${id}\``))).toEqual([]);
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
