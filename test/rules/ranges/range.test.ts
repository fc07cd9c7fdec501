import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BytePart, parseRange, type RangeVerdict } from "../../../worker/rules/ranges/range.ts";
import { anyText } from "../fields/any-text.ts";

const WHOLE: RangeVerdict = { kind: "whole" };
const UNSATISFIABLE: RangeVerdict = { kind: "unsatisfiable" };
const parts = (...pairs: readonly (readonly [first: number, last: number])[]): RangeVerdict => ({
  kind: "parts",
  parts: pairs.map(([first, last]) => ({ first, last })),
});

/** Every other byte from the first one on. */
const everyOther = (count: number) => Array.from({ length: count }, (_, index) => [index * 2, index * 2] as const);
const spaced = (count: number) => `bytes=${everyOther(count).map((pair) => pair.join("-"))}`;

describe("parseRange", () => {
  test.each<{ name: string; rfc: string; field: string | null; length?: number; expect: RangeVerdict }>([
    { name: "without the field the body is sent whole", rfc: "§14.2", field: null, expect: WHOLE },
    { name: "the first bytes", rfc: "§14.1.2", field: "bytes=0-1", expect: parts([0, 1]) },
    { name: "one byte", rfc: "§14.1.2", field: "bytes=0-0", expect: parts([0, 0]) },
    { name: "a part in the middle", rfc: "§14.1.2", field: "bytes=3-6", expect: parts([3, 6]) },
    { name: "the whole in words", rfc: "§14.1.2", field: "bytes=0-9", expect: parts([0, 9]) },
    { name: "an open range", rfc: "§14.1.2", field: "bytes=4-", expect: parts([4, 9]) },
    { name: "an open range at the last byte", rfc: "§14.1.2", field: "bytes=9-", expect: parts([9, 9]) },
    { name: "an open range behind the last byte", rfc: "§14.1.2", field: "bytes=10-", expect: UNSATISFIABLE },
    { name: "a range behind the last byte", rfc: "§14.1.2", field: "bytes=10-10", expect: UNSATISFIABLE },
    { name: "an end at the last byte", rfc: "§14.1.2", field: "bytes=8-9", expect: parts([8, 9]) },
    { name: "an end behind the last byte means the last", rfc: "§14.1.2", field: "bytes=8-10", expect: parts([8, 9]) },
    { name: "the last bytes", rfc: "§14.1.2", field: "bytes=-3", expect: parts([7, 9]) },
    { name: "a suffix of one byte less than all", rfc: "§14.1.2", field: "bytes=-9", expect: parts([1, 9]) },
    { name: "a suffix of all", rfc: "§14.1.2", field: "bytes=-10", expect: parts([0, 9]) },
    { name: "a suffix of more than all is all", rfc: "§14.1.2", field: "bytes=-11", expect: parts([0, 9]) },
    { name: "a suffix of one byte", rfc: "§14.1.2", field: "bytes=-1", expect: parts([9, 9]) },
    { name: "a suffix of nothing", rfc: "§14.1.2", field: "bytes=-0", expect: UNSATISFIABLE },
    { name: "an end before the start is malformed", rfc: "§14.1.1", field: "bytes=5-4", expect: WHOLE },
    { name: "an end at the start is not", rfc: "§14.1.1", field: "bytes=5-5", expect: parts([5, 5]) },
    { name: "the unit is the same in any case", rfc: "§14.1", field: "Bytes=0-1", expect: parts([0, 1]) },
    { name: "another unit is ignored", rfc: "§14.2", field: "seconds=0-1", expect: WHOLE },
    { name: "a unit that only ends like ours is ignored", rfc: "§14.2", field: "kilobytes=0-1", expect: WHOLE },
    { name: "a field without a unit is ignored", rfc: "§14.2", field: "0-1", expect: WHOLE },
    { name: "a field without ranges is ignored", rfc: "§14.1.1", field: "bytes=", expect: WHOLE },
    { name: "a field with empty ranges is ignored", rfc: "§14.1.1", field: "bytes=, ,", expect: WHOLE },
    { name: "a dash alone is malformed", rfc: "§14.1.1", field: "bytes=-", expect: WHOLE },
    { name: "a number alone is malformed", rfc: "§14.1.1", field: "bytes=5", expect: WHOLE },
    { name: "letters are malformed", rfc: "§14.1.1", field: "bytes=a-b", expect: WHOLE },
    { name: "a sign is malformed", rfc: "§14.1.1", field: "bytes=+1-2", expect: WHOLE },
    { name: "two dashes are malformed", rfc: "§14.1.1", field: "bytes=1--2", expect: WHOLE },
    { name: "a fraction is malformed", rfc: "§14.1.1", field: "bytes=1.0-2", expect: WHOLE },
    { name: "a space within a range is malformed", rfc: "§14.1.1", field: "bytes=1 - 2", expect: WHOLE },
    { name: "a space before the equals sign is malformed", rfc: "§14.1.1", field: "bytes =1-2", expect: WHOLE },
    { name: "one malformed range spoils the field", rfc: "§14.2", field: "bytes=0-1,x", expect: WHOLE },
    {
      name: "spaces around the field and its commas are allowed",
      rfc: "§5.6.1",
      field: " bytes=0-1 ,\t8-9 ",
      expect: parts([0, 1], [8, 9]),
    },
    { name: "empty members are none", rfc: "§5.6.1.2", field: "bytes=,0-1,,", expect: parts([0, 1]) },
    { name: "leading zeros mean nothing", rfc: "§14.1.1", field: "bytes=000-001", expect: parts([0, 1]) },
    {
      name: "a huge end means the last byte",
      rfc: "§14.1.2",
      field: `bytes=5-${"9".repeat(400)}`,
      expect: parts([5, 9]),
    },
    {
      name: "a huge start is behind the last byte",
      rfc: "§14.1.2",
      field: `bytes=${"9".repeat(400)}-`,
      expect: UNSATISFIABLE,
    },
    { name: "a huge suffix is all", rfc: "§14.1.2", field: `bytes=-${"9".repeat(400)}`, expect: parts([0, 9]) },
    {
      name: "several parts keep their order",
      rfc: "§15.3.7.2",
      field: "bytes=8-9,0-1,4-5",
      expect: parts([8, 9], [0, 1], [4, 5]),
    },
    {
      name: "parts with a byte between them stay apart",
      rfc: "§15.3.7.2",
      field: "bytes=0-1,3-4",
      expect: parts([0, 1], [3, 4]),
    },
    { name: "parts that touch become one", rfc: "§15.3.7.2", field: "bytes=0-1,2-4", expect: parts([0, 4]) },
    { name: "parts that touch backwards become one", rfc: "§15.3.7.2", field: "bytes=2-4,0-1", expect: parts([0, 4]) },
    { name: "parts that overlap become one", rfc: "§15.3.7.2", field: "bytes=0-2,2-4", expect: parts([0, 4]) },
    {
      name: "a part between two others joins both, in the place of the first",
      rfc: "§15.3.7.2",
      field: "bytes=0-1,8-9,4-5,2-3",
      expect: parts([0, 5], [8, 9]),
    },
    {
      name: "overlaps that sum up to the body are served",
      rfc: "§14.2",
      field: "bytes=0-4,0-4",
      expect: parts([0, 4]),
    },
    { name: "overlaps that sum up to more are ignored", rfc: "§17.15", field: "bytes=0-4,0-5", expect: WHOLE },
    { name: "the whole twice is ignored", rfc: "§17.15", field: "bytes=0-,0-", expect: WHOLE },
    { name: "parts that are not there are left out", rfc: "§14.2", field: "bytes=0-1,20-30,-0", expect: parts([0, 1]) },
    { name: "parts of which none is there", rfc: "§15.5.17", field: "bytes=10-11,20-30,-0", expect: UNSATISFIABLE },
    ...[
      { count: 15, length: 29, served: true },
      { count: 16, length: 31, served: true },
      { count: 17, length: 144, served: false },
      { count: 17, length: 145, served: true },
      { count: 18, length: 273, served: false },
      { count: 18, length: 274, served: true },
      { count: 255, length: 100_000, served: true },
      { count: 256, length: 100_000, served: true },
      { count: 257, length: 100_000, served: false },
    ].map(({ count, length, served }) => ({
      name: `${count} parts of ${length} bytes are ${served ? "served" : "ignored"}`,
      rfc: "§17.15",
      field: spaced(count),
      length,
      expect: served ? parts(...everyOther(count)) : WHOLE,
    })),
    {
      name: "ranges that become one have one head",
      rfc: "§17.15",
      field: `bytes=${Array.from({ length: 50 }, (_, index) => `${index}-${index}`)}`,
      length: 100,
      expect: parts([0, 49]),
    },
    { name: "of an empty body a range is ignored", rfc: "§14.2", field: "bytes=0-", length: 0, expect: WHOLE },
    { name: "of an empty body a suffix is ignored", rfc: "§14.2", field: "bytes=-1", length: 0, expect: WHOLE },
    { name: "of one byte the first is there", rfc: "§14.1.2", field: "bytes=0-", length: 1, expect: parts([0, 0]) },
    { name: "of one byte the second is not", rfc: "§14.1.2", field: "bytes=1-", length: 1, expect: UNSATISFIABLE },
  ])("$name (RFC 9110 $rfc)", (row) => {
    expect(parseRange(row.field, row.length ?? 10)).toEqual(row.expect);
  });

  const anySpec = fc.oneof(
    fc.tuple(fc.nat(120), fc.nat(120)).map(([first, last]) => `${first}-${last}`),
    fc.nat(120).map((first) => `${first}-`),
    fc.nat(120).map((suffix) => `-${suffix}`),
  );
  const anyRange = fc.oneof(
    fc.array(anySpec, { minLength: 1, maxLength: 18 }).map((specs) => `bytes=${specs.join(",")}`),
    anyText.map((text) => `bytes=${text}`),
    anyText,
  );

  test("parts always lie within the body, and neither overlap nor touch", () => {
    fc.assert(
      fc.property(anyRange, fc.nat(100), (field, lengthBytes) => {
        const verdict = parseRange(field, lengthBytes);
        if (verdict.kind !== "parts") return;
        expect(verdict.parts.length).toBeGreaterThan(0);
        for (const { first, last } of verdict.parts) {
          expect(first).toBeGreaterThanOrEqual(0);
          expect(last).toBeGreaterThanOrEqual(first);
          expect(last).toBeLessThan(lengthBytes);
        }
        const sorted = verdict.parts.toSorted((a, b) => a.first - b.first);
        for (const [index, part] of sorted.slice(1).entries()) {
          expect(part.first).toBeGreaterThan(sorted[index]!.last + 1);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("the parts are the bytes that were asked for, no more and no fewer", () => {
    const bytesOf = (pieces: readonly BytePart[]) =>
      pieces.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, index) => first + index));
    const pair = fc.tuple(fc.nat(60), fc.nat(8)).map(([first, more]) => ({ first, last: first + more }));
    fc.assert(
      fc.property(fc.array(pair, { minLength: 1, maxLength: 6 }), (asked) => {
        const verdict = parseRange(`bytes=${asked.map(({ first, last }) => `${first}-${last}`).join(", ")}`, 100);
        const served = verdict.kind === "parts" ? bytesOf(verdict.parts) : [];
        expect(new Set(served)).toEqual(new Set(bytesOf(asked)));
        expect(served).toHaveLength(new Set(served).size);
      }),
    );
  });
});
