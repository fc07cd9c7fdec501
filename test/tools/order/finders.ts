import { expect } from "vitest";
import { ENTRIES } from "../../mutants/entries.ts";
import { exportsOf, findersOf } from "../../mutants/finder.ts";
import { type Order, orderCases, outcomeOf } from "./order-cases.ts";

/** The order in which `report` and `replay` read the lines of a log, by the cases' names. */
export const orderFinders = findersOf(
  ENTRIES.order,
  orderCases.map((each) => [
    each.name,
    async (modules) => {
      const { handsOn, outOfOrder, late } = each;
      expect(outcomeOf(exportsOf(modules, ENTRIES.order) as Order, each)).toEqual({ handsOn, outOfOrder, late });
    },
  ]),
);
