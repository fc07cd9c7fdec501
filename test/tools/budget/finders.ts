import { expect } from "vitest";
import { ENTRIES } from "../../mutants/entries.ts";
import { exportsOf, findersOf } from "../../mutants/finder.ts";
import { budgetCases, outcomeOf, type Trial } from "./budget-cases.ts";

/** What a budget for the origin would have done to a log, by the cases' names. */
export const budgetFinders = findersOf(
  ENTRIES.budget,
  budgetCases.map((each) => [
    each.name,
    async (modules) => {
      expect(outcomeOf(exportsOf(modules, ENTRIES.budget) as Trial, each)).toMatchObject(each.expect);
    },
  ]),
);
