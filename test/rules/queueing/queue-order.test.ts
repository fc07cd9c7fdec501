import { describe, expect, test } from "vitest";
import { hasWaitedTooLong, mayWait, nextInLine } from "../../../worker/rules/queueing/queue-order.ts";

const limits = { maxMs: 5000, maxWaiting: 2 };

describe("the queue for the origin", () => {
  test.each([
    [0, true],
    [1, true],
    [2, false],
    [3, false],
  ])("with %i in a queue for two, one more may wait: %s", (waiting, may) => {
    expect(mayWait(waiting, limits)).toBe(may);
  });

  test.each([
    [4999, false],
    [5000, true],
    [5001, true],
  ])("after %i ms of 5000 a request has waited too long: %s", (ms, tooLong) => {
    expect(hasWaitedTooLong({ since: 100 }, 100 + ms, limits)).toBe(tooLong);
  });

  test.each([
    ["nobody", [], undefined],
    ["the only one", [7], 0],
    ["the one that came first", [9, 7, 8], 1],
    ["of those that came at once, the first in the list", [7, 7], 0],
  ])("the next one is %s", (_, since, next) => {
    const waiting = since.map((each) => ({ since: each }));
    expect(nextInLine(waiting)).toBe(next === undefined ? undefined : waiting[next]);
  });
});
