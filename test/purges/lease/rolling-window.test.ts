import { describe, expect, test } from "vitest";
import { rollWindow, WINDOW_ITEMS } from "../../../worker/purges/lease/rolling-window.ts";
import { writeCopy } from "../../../worker/purges/lease/shared-copy.ts";
import { deltaOf, deltaOfTags, toldOf } from "../view/delta.ts";

const KEYS = ["#a", "#b", "#c", "#d"];

describe("the window that is passed on", () => {
  test("holds what was told before, and what is told now, without a gap", () => {
    const held = rollWindow(null, deltaOf(2, 4, [["#a", 3], ["#b", 4]])); // biome-ignore format: a purge each
    const rolled = rollWindow(held, deltaOf(4, 6, [["#a", 5], ["#c", 6]])); // biome-ignore format: a purge each
    expect([rolled.from, rolled.to]).toEqual([2, 6]);
    expect(toldOf(rolled, KEYS)).toEqual([
      ["#c", 6],
      ["#a", 5],
      ["#b", 4],
      ["#a", 3],
    ]);
  });

  test("of a reply that overlaps, only what is new is added", () => {
    const held = rollWindow(null, deltaOf(2, 4, [["#b", 4]]));
    const rolled = rollWindow(
      held,
      deltaOf(0, 5, [
        ["#c", 5],
        ["#b", 4],
        ["#a", 1],
      ]),
    );
    expect([rolled.from, rolled.to]).toEqual([2, 5]);
    expect(toldOf(rolled, KEYS)).toEqual([
      ["#c", 5],
      ["#b", 4],
    ]);
  });

  test.each([
    [3, 1],
    [4, 1],
    [5, 5],
  ])("after one that ends at 4, a reply from %d on leaves it to begin at %d", (from, begins) => {
    const held = rollWindow(null, deltaOf(1, 4, [["#a", 2]]));
    expect(rollWindow(held, deltaOf(from, 9, [["#d", 9]])).from).toBe(begins);
  });

  test("a reply that could not tell all begins where it ends, and what it tells of before is left out (R12)", () => {
    const told = deltaOf(
      2,
      9,
      [
        ["#a", 9],
        ["#b", 1],
      ],
      { toldAbove: 8, untold: { from: 0, to: 2 } },
    );
    const rolled = rollWindow(rollWindow(null, deltaOf(0, 4)), told);
    expect(rolled).toMatchObject({ from: 8, to: 9, toldAbove: 0, untold: null });
    expect(toldOf(rolled, KEYS)).toEqual([["#a", 9]]);
  });

  test("an older reply changes nothing, and another log begins it anew", () => {
    const held = rollWindow(null, deltaOf(0, 4, [["#a", 2]]));
    expect(rollWindow(held, deltaOf(0, 3, [["#a", 2]]))).toBe(held);
    expect(rollWindow(held, deltaOf(0, 3, [["#b", 3]], { logId: "b" }))).toMatchObject({ logId: "b", from: 0, to: 3 });
  });

  test("beyond its bound the oldest purges go, whole", () => {
    const held = rollWindow(null, deltaOf(0, 2, [["#a", 1], ["#b", 2], ["#c", 2]]), 3); // biome-ignore format: a purge each
    expect(held.from).toBe(0);
    const rolled = rollWindow(held, deltaOf(2, 3, [["#d", 3]]), 3);
    expect([rolled.from, toldOf(rolled, KEYS)]).toEqual([1, [["#d", 3], ["#b", 2], ["#c", 2]]]); // biome-ignore format: as above
    const next = rollWindow(rolled, deltaOf(3, 4, [["#a", 4]]), 3);
    expect([next.from, toldOf(next, KEYS)]).toEqual([2, [["#a", 4], ["#d", 3]]]); // biome-ignore format: as above
  });

  test("a purge with more keys than it holds leaves it empty, at its number", () => {
    const rolled = rollWindow(null, deltaOf(0, 1, [["#a", 1], ["#b", 1]]), 1); // biome-ignore format: a purge each
    expect([rolled.from, rolled.to, rolled.items.length]).toEqual([1, 1, 0]);
  });

  test("is never more than 64 KiB", () => {
    const rolled = rollWindow(null, deltaOfTags(0, 20_000));
    expect(rolled.from).toBe(20_000 - WINDOW_ITEMS);
    expect(writeCopy({ startedAt: 0, withinMs: 0, delta: rolled }).byteLength).toBeLessThan(64 * 1024);
  });
});
