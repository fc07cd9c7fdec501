import { describe, expect, test } from "vitest";
import { TimeOrder } from "../../../tools/logs/time-order.ts";
import { orderCases, outcomeOf } from "./order-cases.ts";

describe("the order of a log", () => {
  test.each(orderCases)("$name", (each) => {
    const { handsOn, outOfOrder, late } = each;
    expect(outcomeOf({ TimeOrder }, each)).toEqual({ handsOn, outOfOrder, late });
  });
});
