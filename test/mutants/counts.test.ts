import { describe, expect, test } from "vitest";
import { type Counts, raised, readCounts, wrongCounts } from "./counts.ts";
import { hunted, markFirst, mutants } from "./index.ts";

test("no rule has fewer mutants than counts.json says", () => {
  expect(wrongCounts(readCounts(), mutants)).toEqual([]);
});

test("the gate hunts a mutant of each rule, for each of the first four tests that guard it", () => {
  const rules = (all: typeof hunted) => new Set(all.map(({ mutant }) => mutant.rule));
  expect(rules(hunted.filter(({ inGate }) => inGate))).toEqual(rules(hunted));
  const all = ["a", "a", "b", "simulation", "simulation", "c", "d"].map((by) => ({ mutant: { rule: "R1" }, by }));
  const marks = markFirst([...all, { mutant: { rule: "R2" }, by: "d" }]).map(({ inGate }) => inGate);
  expect(marks).toEqual([true, false, true, true, false, true, false, true]);
});

describe("control:", () => {
  const COUNTS: Counts = { most: { R1: 2, R2: 1 }, fewer: [] };
  const of = (...rules: readonly string[]) => rules.map((rule) => ({ rule }));
  const because = "R1 has lost its second half";

  test("a rule that has lost a mutant is named, until the file says why", () => {
    const lost = [
      'R1 has lost 1 of its mutants. If that is right, add to "fewer" in counts.json: {"rule":"R1","by":1,"because":""}',
    ];
    expect(wrongCounts(COUNTS, of("R1", "R2"))).toEqual(lost);
    expect(wrongCounts({ ...COUNTS, fewer: [{ rule: "R1", by: 1, because }] }, of("R1", "R2"))).toEqual([]);
    expect(wrongCounts({ ...COUNTS, fewer: [{ rule: "R1", by: 1, because: " " }] }, of("R1", "R2"))).toEqual([
      "R1 has fewer mutants for no reason",
    ]);
  });

  test("a rule that has none left is named", () => {
    expect(wrongCounts(COUNTS, of("R1", "R1"))).toHaveLength(1);
  });

  test("what was added is written, and counts from then on", () => {
    const more = of("R1", "R1", "R2", "R2", "R10");
    expect(wrongCounts(COUNTS, more)).toEqual([
      "R2 has more mutants than counts.json says: npm run docs writes it",
      "R10 has more mutants than counts.json says: npm run docs writes it",
    ]);
    expect(raised(COUNTS, more).most).toEqual({ R1: 2, R2: 2, R10: 1 });
    expect(wrongCounts(raised(COUNTS, more), more)).toEqual([]);
    expect(wrongCounts(raised(COUNTS, more), of("R1", "R1", "R2", "R10"))).toHaveLength(1);
  });

  test("nothing is lowered, and reasons stay", () => {
    const counts: Counts = { ...COUNTS, fewer: [{ rule: "R1", by: 1, because }] };
    expect(raised(counts, [])).toEqual(counts);
    expect(raised(counts, of("R1", "R1", "R2")).most).toEqual({ R1: 3, R2: 1 });
  });
});
