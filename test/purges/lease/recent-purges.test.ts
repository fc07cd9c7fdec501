import { describe, expect, test } from "vitest";
import { MAX_RECENT_ITEMS, mergeRecent } from "../../../worker/purges/lease/recent-purges.ts";
import { writeCopy } from "../../../worker/purges/lease/shared-copy.ts";
import { deltaOf, deltaOfTags, toldOf } from "../view/delta.ts";

const KEYS = ["#a", "#b", "#c", "#d"];

describe("the recent purges that are passed on", () => {
  test("join earlier and current reads without a gap", () => {
    const held = mergeRecent(null, deltaOf(2, 4, [["#a", 3], ["#b", 4]])); // biome-ignore format: a purge each
    const rolled = mergeRecent(held, deltaOf(4, 6, [["#a", 5], ["#c", 6]])); // biome-ignore format: a purge each
    expect([rolled.from, rolled.to]).toEqual([2, 6]);
    expect(toldOf(rolled, KEYS)).toEqual([
      ["#c", 6],
      ["#a", 5],
      ["#b", 4],
      ["#a", 3],
    ]);
  });

  test("gain only the new items of an overlapping reply", () => {
    const held = mergeRecent(null, deltaOf(2, 4, [["#b", 4]]));
    const rolled = mergeRecent(
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
  ])("after a reply that ends at 4, a reply from %d lets the list begin at %d", (from, begins) => {
    const held = mergeRecent(null, deltaOf(1, 4, [["#a", 2]]));
    expect(mergeRecent(held, deltaOf(from, 9, [["#d", 9]])).from).toBe(begins);
  });

  test("begin where a truncated reply ends, without the items of its unread range (R12)", () => {
    const told = deltaOf(
      2,
      9,
      [
        ["#a", 9],
        ["#b", 1],
      ],
      { truncatedAt: 8, unread: { from: 0, to: 2 } },
    );
    const rolled = mergeRecent(mergeRecent(null, deltaOf(0, 4)), told);
    expect(rolled).toMatchObject({ from: 8, to: 9, truncatedAt: 0, unread: null });
    expect(toldOf(rolled, KEYS)).toEqual([["#a", 9]]);
  });

  test("do not change by an older reply, and start again with another log", () => {
    const held = mergeRecent(null, deltaOf(0, 4, [["#a", 2]]));
    expect(mergeRecent(held, deltaOf(0, 3, [["#a", 2]]))).toBe(held);
    expect(mergeRecent(held, deltaOf(0, 3, [["#b", 3]], { logId: "b" }))).toMatchObject({ logId: "b", from: 0, to: 3 });
  });

  test("drop the oldest whole purges beyond the bound", () => {
    const held = mergeRecent(null, deltaOf(0, 2, [["#a", 1], ["#b", 2], ["#c", 2]]), 3); // biome-ignore format: a purge each
    expect(held.from).toBe(0);
    const rolled = mergeRecent(held, deltaOf(2, 3, [["#d", 3]]), 3);
    expect([rolled.from, toldOf(rolled, KEYS)]).toEqual([1, [["#d", 3], ["#b", 2], ["#c", 2]]]); // biome-ignore format: as above
    const next = mergeRecent(rolled, deltaOf(3, 4, [["#a", 4]]), 3);
    expect([next.from, toldOf(next, KEYS)]).toEqual([2, [["#a", 4], ["#d", 3]]]); // biome-ignore format: as above
  });

  test("are empty, and begin at its number, after a purge with more keys than the bound", () => {
    const rolled = mergeRecent(null, deltaOf(0, 1, [["#a", 1], ["#b", 1]]), 1); // biome-ignore format: a purge each
    expect([rolled.from, rolled.to, rolled.items.length]).toEqual([1, 1, 0]);
  });

  test("never take more than 64 KiB", () => {
    const rolled = mergeRecent(null, deltaOfTags(0, 20_000));
    expect(rolled.from).toBe(20_000 - MAX_RECENT_ITEMS);
    expect(writeCopy({ startedAt: 0, longestViewAgeMs: 0, delta: rolled, sightings: [] }).byteLength).toBeLessThan(
      64 * 1024,
    );
  });
});
