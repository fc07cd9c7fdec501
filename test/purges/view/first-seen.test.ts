import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FirstSeen } from "../../../worker/purges/view/first-seen.ts";

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

  test("among many numbers, each counts as seen at its time or earlier, never later", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.nat(1999), (count, asked) => {
        const sightings = new FirstSeen();
        for (let seq = 1; seq <= count; seq++) sightings.note(seq, seq * 10);
        const seq = 1 + (asked % count);
        expect(sightings.firstSeenAt(seq)).toBeLessThanOrEqual(seq * 10);
      }),
      { seed: 5, numRuns: 300 },
    );
  });

  test("the newest times are exact, however many there were", () => {
    const sightings = new FirstSeen();
    for (let seq = 1; seq <= 100_001; seq++) sightings.note(seq, seq);
    expect(sightings.firstSeenAt(100_001)).toBe(100_001);
  });

  test("after forget, every number counts as seen long ago", () => {
    const sightings = new FirstSeen();
    sightings.note(5, 10);
    sightings.forget();
    expect(sightings.firstSeenAt(5)).toBe(Number.NEGATIVE_INFINITY);
  });
});
