import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FirstSeen, sightingsIn } from "../../../worker/purges/view/first-seen.ts";
import { deltaOf } from "./delta.ts";

describe("when a view first saw which numbers", () => {
  test.each([
    { name: "the number itself", seq: 5, at: 10 },
    { name: "a number that was seen together with a higher one", seq: 4, at: 10 },
    { name: "the first number after that", seq: 6, at: 20 },
    { name: "a number that was not seen counts as seen long ago", seq: 10, at: Number.NEGATIVE_INFINITY },
  ])("$name", ({ seq, at }) => {
    const sightings = new FirstSeen();
    sightings.note(5, 10);
    sightings.note(9, 20);
    expect(sightings.firstSeenAt(seq)).toBe(at);
  });

  describe("when the purges of a reply were made", () => {
    const dated = [
      { seq: 8, agoMs: 100 },
      { seq: 6, agoMs: 300 },
    ];
    const sixteen = Array.from({ length: 16 }, (_, index) => ({ seq: 40 - index, agoMs: index }));
    test.each([
      { name: "now, if the log does not tell", delta: deltaOf(5, 9), sightings: [{ seq: 9, at: 1000 }] },
      {
        name: "so long ago as the log tells",
        delta: deltaOf(5, 9, [], { dated }),
        sightings: [
          { seq: 6, at: 700 },
          { seq: 8, at: 900 },
        ],
      },
      {
        name: "long ago, if they are older than those of a whole log that has forgotten the times of some",
        delta: deltaOf(0, 9, [], { dated }),
        sightings: [
          { seq: 5, at: 0 },
          { seq: 6, at: 700 },
          { seq: 8, at: 900 },
        ],
      },
      {
        name: "long ago, if no time is known any more",
        delta: deltaOf(5, 9, [], { dated: [] }),
        sightings: [{ seq: 9, at: 0 }],
      },
    ])("$name", ({ delta, sightings }) => {
      expect(sightingsIn(delta, 1000)).toEqual(sightings);
    });

    test("long ago, if the log had more than it tells", () => {
      expect(sightingsIn(deltaOf(5, 40, [], { dated: sixteen }), 1000)[0]).toEqual({ seq: 24, at: 0 });
    });
  });

  test("among many numbers, each counts as seen at its time or earlier, never later", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.nat(1999), (count, asked) => {
        const sightings = new FirstSeen();
        for (let seq = 1; seq <= count; seq++) sightings.note(seq, seq * 10);
        const seq = 1 + (asked % count);
        expect(sightings.firstSeenAt(seq)).toBeLessThanOrEqual(seq * 10);
      }),
      { numRuns: 300 },
    );
  });

  test("the newest times are exact, however many there were", () => {
    const sightings = new FirstSeen();
    for (let seq = 1; seq <= 100_001; seq++) sightings.note(seq, seq);
    expect(sightings.firstSeenAt(100_001)).toBe(100_001);
  });

  test("a number that has been seen is not seen again, and merged times are the earlier ones", () => {
    const sightings = new FirstSeen();
    sightings.note(5, 10);
    sightings.note(5, 90);
    sightings.note(4, 90);
    expect(sightings.above(0)).toEqual([{ seq: 5, at: 10 }]);
    for (let seq = 6; seq <= 69; seq++) sightings.note(seq, seq % 2 === 0 ? 1_000 : 500);
    expect([5, 6, 7, 8].map((seq) => sightings.firstSeenAt(seq))).toEqual([10, 10, 500, 500]);
  });

  test("after forget, every number counts as seen long ago", () => {
    const sightings = new FirstSeen();
    sightings.note(5, 10);
    sightings.forget();
    expect(sightings.firstSeenAt(5)).toBe(Number.NEGATIVE_INFINITY);
  });
});
