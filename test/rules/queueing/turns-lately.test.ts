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

test("a count holds until the queue is older by as much, and then the turns since then count", () => {
  const lately = queueOf({ turns: 20 });
  lately.at(6000);
  for (let turn = 0; turn < 7; turn++) lately.count();
  expect([lately.at(10_999), lately.at(11_000)]).toEqual([20, 7]);
});

test("a new queue knows nothing of the one before it", () => {
  const lately = queueOf({ turns: 20 });
  lately.at(6000);
  lately.begin(6001);
  expect([lately.at(6001), lately.at(11_001)]).toEqual([null, null]);
});
