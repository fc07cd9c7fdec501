import { describe, expect, test } from "vitest";
import type { ClientClass } from "../../../worker/rules/queueing/client-class.ts";
import {
  hasWaitedTooLong,
  lastInLine,
  mayWait,
  nextInLine,
  outlasts,
} from "../../../worker/rules/queueing/queue-order.ts";

const limits = { maxMs: 5000, maxWaiting: 2 };

describe("the queue for the origin", () => {
  test.each([
    [1, null, true],
    [2, null, false],
    [3, null, false],
    [1, 3, true],
    [2, 3, false],
    [0, 1, true],
    [1, 1, false],
  ])(
    "with %i in a queue for two, of which %s have their turn in time, one more may wait: %s",
    (waiting, turns, may) => {
      expect(mayWait(waiting, turns, limits)).toBe(may);
    },
  );

  test.each([
    [4999, false],
    [5000, true],
    [5001, true],
  ])("after %i ms of 5000 a request has waited too long: %s", (ms, tooLong) => {
    expect(hasWaitedTooLong({ client: "other", since: 100, recentMisses: 1 }, 100 + ms, limits)).toBe(tooLong);
  });

  test.each([
    [5000, 2501, false],
    [5000, 2500, false],
    [5000, 2499, true],
    [1, 0, true],
    [0, 0, false],
  ])(
    "when one is turned away after %i ms, another that has waited for its page for %i ms waits on: %s",
    (ms, own, on) => {
      expect(outlasts(9000 - own, { client: "other", since: 9000 - ms, recentMisses: 1 }, 9000)).toBe(on);
    },
  );

  test.each<
    [string, [since: number, recentMisses: number, client?: ClientClass][], number | undefined, number | undefined]
  >([
    ["nobody, and nobody", [], undefined, undefined],
    ["the only one, and the same", [[7, 0]], 0, 0],
    [
      "of equal clients, the one that came first, and the one that came last",
      [
        [9, 4],
        [7, 4],
        [8, 4],
      ],
      1,
      0,
    ],
    [
      "the client with the fewest recent requests, and the one with the most, whenever they came",
      [
        [1, 3],
        [3, 1],
        [2, 2],
      ],
      1,
      0,
    ],
    [
      "of equal requests, the first in the list, and the last",
      [
        [7, 1],
        [7, 1],
      ],
      0,
      1,
    ],
    [
      "an editor, and an unknown client, whatever they had and whenever they came",
      [
        [1, 1, "other"],
        [2, 3, "known"],
        [3, 4, "editor"],
      ],
      2,
      0,
    ],
  ])("the next and the last are: %s", (_, places, next, last) => {
    const waiting = places.map(([since, recentMisses, client = "other"]) => ({ client, since, recentMisses }));
    const at = (index: number | undefined) => (index === undefined ? undefined : waiting[index]);
    expect(nextInLine(waiting, 0)).toBe(at(next));
    expect(lastInLine(waiting)).toBe(at(last));
  });

  test.each([
    [0, 1],
    [18, 1],
    [19, 0],
    [20, 1],
    [39, 0],
  ])("after %i turns, request %i is next: every twentieth turn goes to the request that came first", (turns, next) => {
    const waiting = [
      { client: "other", since: 1, recentMisses: 9 },
      { client: "known", since: 2, recentMisses: 1 },
    ] as const;
    expect(nextInLine(waiting, turns)).toBe(waiting[next]);
  });
});
