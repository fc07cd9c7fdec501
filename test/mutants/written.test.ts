import { describe, expect, test } from "vitest";
import { scenarios } from "../scenarios/index.ts";
import { finderNamed } from "./finders.ts";
import { hunted, mutants } from "./index.ts";
import { likelySeeds } from "./likely-seeds.ts";
import { rulesIn } from "./rules.ts";
import { parse } from "./sources/declarations.ts";
import { allSources } from "./sources/mutated-sources.ts";

describe("every mutant", () => {
  test("can be made: its declaration has what it changes, and is code without it", { tags: ["deep"] }, async () => {
    const sources = await allSources();
    const errors = mutants.flatMap((mutant) => {
      try {
        const { path, text } = sources.mutate(mutant);
        parse(path, text);
        return [];
      } catch (error) {
        return [`${mutant.rule}: ${mutant.breaks}\n    ${(error as Error).message}`];
      }
    });
    if (errors.length > 0) expect.fail(`${errors.length} mutants cannot be made:\n\n${errors.join("\n\n")}`);
  });

  test("names tests that exist", () => {
    for (const { by } of hunted) finderNamed(by);
  });

  test("is there if likely-seeds.json knows it", () => {
    const names = new Set(hunted.map(({ name }) => name));
    expect(Object.keys(likelySeeds).filter((name) => !names.has(name))).toEqual([]);
  });

  test("has a sentence of its own among those of its rule", () => {
    const names = mutants.map(({ rule, breaks }) => `${rule}: ${breaks}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test("breaks a rule of docs/protocol.md, what the source of its scenario names, or a rule of its suite", () => {
    const sources = new Map(scenarios.map(({ id, source }) => [id, rulesIn(source)]));
    const isRule = (rule: string, by: string) =>
      /^R\d+$/.test(rule) || sources.get(by)?.includes(rule) || rule.split(":")[0] === by.split(":")[0];
    expect(hunted.filter(({ mutant, by }) => !isRule(mutant.rule, by)).map(({ name }) => name)).toEqual([]);
  });
});
