import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { rows } from "../scenarios/conformance.ts";
import type { ConformanceRow } from "../scenarios/conformance-row.ts";
import { scenarios } from "../scenarios/index.ts";
import { conformancePage, mutantsOf } from "./conformance-page.ts";

const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]));

test("docs/conformance.md is as `npm run docs` writes it", () => {
  expect(readFileSync("docs/conformance.md", "utf8")).toBe(conformancePage());
});

describe("each row of docs/conformance.md", () => {
  test.each(rows.map((row) => ({ row, words: `${row.section ?? row.table}: ${row.requirement}` })))(
    "$words",
    ({ row }) => {
      expect(wrongInRow(row)).toEqual([]);
    },
  );

  test("is there", () => {
    expect(rows.length).toBeGreaterThan(150);
  });

  const FOUND = ["storing/private-is-not-stored"];
  const NOT_FOUND = ["bodies/large-without-length"];
  const RUNTIME_ONLY = ["forwarding/get-body-is-dropped"];
  test.each<[string, Partial<ConformanceRow>, readonly string[]]>([
    ["a scenario exists", { scenarios: ["storing/no-such", ...FOUND] }, ["storing/no-such is no scenario"]],
    ["a row with a scenario has a mutant", { scenarios: NOT_FOUND }, ["no mutant reddens a scenario of this row"]],
    [
      "a reason is not enough for a row with a scenario in memory",
      { scenarios: NOT_FOUND, noMutant: "none" },
      ["no mutant reddens a scenario of this row"],
    ],
    ["a row without a mutant gives a reason", { scenarios: RUNTIME_ONLY }, ["has no mutant, and no reason"]],
    ["a row without a scenario gives a reason", { scenarios: [] }, ["has no mutant, and no reason"]],
    ["a row with a mutant gives no reason", { scenarios: FOUND, noMutant: "none" }, ["has a mutant, and a reason"]],
    ["a cell holds no column", { scenarios: FOUND, does: "a | b" }, ["a column ends within a cell"]],
  ])("control: %s", (_, row, wrong) => {
    expect(wrongInRow({ table: "caching", requirement: "", does: "", scenarios: [], ...row })).toEqual(wrong);
  });
});

function wrongInRow(row: ConformanceRow): string[] {
  const unknown = row.scenarios.filter((id) => !byId.has(id)).map((id) => `${id} is no scenario`);
  const inMemory = row.scenarios.some((id) => byId.get(id)?.only?.engine !== "runtime");
  const found = mutantsOf(row).length > 0;
  return [
    ...unknown,
    ...(inMemory && !found ? ["no mutant reddens a scenario of this row"] : []),
    ...(!inMemory && !found && !row.noMutant ? ["has no mutant, and no reason"] : []),
    ...(found && row.noMutant ? ["has a mutant, and a reason"] : []),
    ...(`${row.section}${row.requirement}${row.does}${row.noMutant}`.includes("|")
      ? ["a column ends within a cell"]
      : []),
  ];
}
