import { expect, test } from "vitest";
import { draw } from "./draw.ts";

const CASES = Array.from({ length: 100 }, (_, index) => index);

test("one of so many is drawn, in order and once", () => {
  const few = draw(CASES, 8, 1);
  expect(few).toHaveLength(13);
  expect(few).toEqual([...new Set(few)].sort((one, other) => one - other));
  expect(draw(CASES, 1, 1)).toEqual(CASES);
  expect(draw([7], 40, 1)).toEqual([7]);
});

test("the same seed draws the same, and another one something else", () => {
  expect(draw(CASES, 4, 5)).toEqual(draw(CASES, 4, 5));
  expect(draw(CASES, 4, 5)).not.toEqual(draw(CASES, 4, 6));
});

test("each case is drawn about as often as any other", () => {
  const times = CASES.map(() => 0);
  for (let seed = 0; seed < 1000; seed++) for (const each of draw(CASES, 4, seed)) times[each]!++;
  expect(Math.min(...times)).toBeGreaterThan(180);
  expect(Math.max(...times)).toBeLessThan(320);
});
