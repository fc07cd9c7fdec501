import { expect } from "vitest";
import { ENTRIES } from "../../mutants/entries.ts";
import { exportsOf, findersOf } from "../../mutants/finder.ts";
import { type CheckRules, differenceOf, findingCases } from "./findings.ts";

/** What the rules of `tidemark check` must find, by the cases' names. */
export const checkFinders = findersOf(
  ENTRIES.check,
  findingCases.map((each) => [
    each.name,
    async (modules) => {
      const rules = exportsOf(modules, ENTRIES.check) as CheckRules;
      expect(differenceOf(rules, each)).toBeNull();
    },
  ]),
);
