import { expect } from "vitest";
import { ENTRIES } from "../../mutants/entries.ts";
import { exportsOf, findersOf } from "../../mutants/finder.ts";
import { findingsIn, type Judges } from "./recorded.ts";
import { recordedCases } from "./recorded-cases.ts";

/** What the judges of `tidemark audit` must find in recorded answers, by the cases' names. */
export const auditFinders = findersOf(
  ENTRIES.audit,
  recordedCases.map((each) => [
    each.name,
    async (modules) => {
      const judges = exportsOf(modules, ENTRIES.audit) as Judges;
      expect(findingsIn(judges, each)).toEqual(each.finds.map((wanted) => expect.stringMatching(wanted)));
    },
  ]),
);
