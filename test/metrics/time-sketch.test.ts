import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addCounts, type CountTree, emptyTree } from "../../worker/metrics/count-tree.ts";
import {
  countUpTo,
  LONGEST_MS,
  quantile,
  RELATIVE_ERROR,
  SHORTEST_MS,
  type SketchedTimes,
  TimeSketch,
} from "../../worker/metrics/time-sketch.ts";

const time = fc.double({ min: SHORTEST_MS, max: LONGEST_MS, noNaN: true });

function sketchOf(times: readonly number[]): SketchedTimes {
  const sketch = new TimeSketch();
  for (const each of times) sketch.add(each);
  return sketch.times;
}

/** The value of this rank, by sorting. */
function trueQuantile(times: readonly number[], q: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(q * (times.length - 1))]!;
}

test("every quantile is within the relative error of the value that has its rank", () => {
  fc.assert(
    fc.property(
      fc.array(time, { minLength: 1, maxLength: 200 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (times, q) => {
        const truth = trueQuantile(times, q);
        expect(Math.abs(quantile(sketchOf(times), q) - truth)).toBeLessThanOrEqual(truth * RELATIVE_ERROR * (1 + 1e-9));
      },
    ),
    { numRuns: 500 },
  );
});

test("sketches of parts, added up as the ledger does, are the sketch of the whole", () => {
  fc.assert(
    fc.property(fc.array(fc.array(time, { maxLength: 50 }), { maxLength: 5 }), (parts) => {
      const sum = parts.reduce<CountTree>(
        (added, part) => addCounts(added, JSON.parse(JSON.stringify(sketchOf(part))) as CountTree),
        emptyTree(),
      );
      expect({ ...(sum.buckets as object) }).toEqual(parts.length === 0 ? {} : sketchOf(parts.flat()).buckets);
    }),
  );
});

test("times outside the range of the bound are counted at its ends", () => {
  const times = sketchOf([-5, Number.NaN, 0, SHORTEST_MS / 2, LONGEST_MS * 10]);
  expect(countUpTo(times)).toBe(5);
  expect(quantile(times, 0.5)).toBe(0);
  expect(quantile(times, 1)).toBeGreaterThan(LONGEST_MS * (1 - RELATIVE_ERROR));
  expect(Object.keys(times.buckets)).toHaveLength(2);
});

test("nothing measured has no quantile", () => {
  expect(quantile(sketchOf([]), 0.5)).toBeNaN();
});
