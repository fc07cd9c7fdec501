import { expect, test } from "vitest";
import { TurnsLately } from "../../../worker/rules/queueing/turns-lately.ts";

function queueOf({ turns, since = 1000 }: { readonly turns: number; readonly since?: number }): TurnsLately {
  const lately = new TurnsLately(5000);
  lately.begin(since);
  for (let turn = 0; turn < turns; turn++) lately.count();
  return lately;
}

test.each([
  [0, 20, null],
  [4999, 20, null],
  [5000, 20, 20],
  [8000, 20, 13],
  [9999, 1, 1],
  [5000, 0, null],
])("%i ms after the queue began, with %i turns, so many have theirs in 5000 ms: %s", (ms, turns, expected) => {
  expect(queueOf({ turns }).at(1000 + ms)).toBe(expected);
});

test.each([
  [0, 0, 20],
  [0, 7, 27],
  [2000, 0, 12],
  [2000, 40, 52],
  [4999, 0, 1],
  [4999, 7, 8],
  [5000, 7, 7],
])("%i ms later, with %i turns since, so many count, as if those before had come evenly: %i", (ms, turns, expected) => {
  const lately = queueOf({ turns: 20 });
  lately.at(6000);
  for (let turn = 0; turn < turns; turn++) lately.count();
  expect(lately.at(6000 + ms)).toBe(expected);
});

test("a new queue knows nothing of the one before it", () => {
  const lately = queueOf({ turns: 20 });
  lately.at(6000);
  lately.begin(6001);
  expect([lately.at(6001), lately.at(11_001)]).toEqual([null, null]);
});
