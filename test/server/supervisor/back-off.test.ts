import { expect, test } from "vitest";
import { BackOff } from "../../../server/supervisor/back-off.ts";

test("the first death is followed by a start at once, further ones by longer and longer pauses, up to 10 s", () => {
  const backOff = new BackOff(10_000);
  const pauses = Array.from({ length: 10 }, () => backOff.pauseAfter(9_999));
  expect(pauses).toEqual([0, 100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
});

test("a worker that lived long enough was sound", () => {
  const backOff = new BackOff(10_000);
  expect([0, 0, 0, 10_000, 0].map((livedMs) => backOff.pauseAfter(livedMs))).toEqual([0, 100, 200, 0, 100]);
});
