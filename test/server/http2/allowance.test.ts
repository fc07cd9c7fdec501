import { expect, test } from "vitest";
import { Allowance } from "../../../server/http2/allowance.ts";

test("an allowance lets a burst through, then as many as its rate, and never saves up more than the burst", () => {
  const allowance = new Allowance(3, 2);
  const taken = (count: number, now: number) => Array.from({ length: count }, () => allowance.take(now));
  expect(taken(4, 1_000)).toEqual([true, true, true, false]);
  expect(taken(1, 1_499)).toEqual([false]);
  expect(taken(2, 1_500)).toEqual([true, false]);
  expect(taken(4, 3_600_000)).toEqual([true, true, true, false]);
});
