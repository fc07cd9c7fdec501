import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runsOn } from "../engine/scenario.ts";
import { mutants } from "../mutants/index.ts";
import { rows } from "../scenarios/conformance.ts";
import type { ConformanceRow } from "../scenarios/conformance-row.ts";
import { scenarios } from "../scenarios/index.ts";
import { conformancePage, mutantsOf } from "./conformance-page.ts";

const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]));

/** Scenarios of rows that no mutant reddens. */
const WITHOUT_MUTANT = [
  "bodies/found-after-restart",
  "bodies/large-without-length",
  "bodies/part-of-evicted-body",
  "bodies/part-of-missing-page",
  "bodies/post-invalidates-large-page",
  "bodies/purge-during-anothers-fill",
  "cache-groups/malformed-non-ascii",
  "cache-groups/malformed-token",
  "cache-groups/reaches-every-isolate",
  "invalidation-log/one-entry-per-request",
  "invalidation-log/post-during-anothers-fill",
  "invalidation-log/post-during-fill",
  "invalidation/every-variant",
  "second-look/none-for-large",
  "second-look/refused-and-followers",
  "second-look/refused-head-without-referer",
  "stale-if-error/after-404",
  "stale-if-error/after-page-without-lifetime",
  "stale-if-error/after-redirect",
  "stale-if-error/after-restart",
  "stale-if-error/after-stale-while-revalidate",
  "stale-if-error/followers-of-error-response",
  "stale-if-error/followers-of-failed-refresh",
  "stale-if-error/kept-after-429",
  "stale-if-error/kept-after-unkeyed-field",
  "stale-if-error/known-purge-log-silent",
  "stale-if-error/only-while-origin-fails",
  "stale-if-error/origin-hangs-up-midway",
  "stale-if-error/purged-page",
  "stale-if-error/storable-error",
  "stale-if-error/with-authorization",
  "stale-while-revalidate/across-isolates",
  "stale-while-revalidate/after-restart",
  "stale-while-revalidate/client-304-at-once",
  "stale-while-revalidate/late-request-waits",
  "stale-while-revalidate/purge-during-refresh",
  "stale-while-revalidate/purged-page",
  "stale-while-revalidate/refresh-not-storable",
  "stale-while-revalidate/refresh-with-cookies",
  "validation/purged-is-not-validated",
  "variants/other-coding-is-not-validated",
  "variants/stale-variant-is-validated-alone",
];

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

  test("has a mutant for each of its scenarios, except those that stand beside others of their row", () => {
    const reddened = new Set(mutants.flatMap(({ foundBy }) => foundBy));
    const named = [...new Set(rows.flatMap((row) => row.scenarios))];
    const inMemory = named.filter(isInMemory);
    expect(inMemory.filter((id) => !reddened.has(id)).sort()).toEqual(WITHOUT_MUTANT);
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

function isInMemory(id: string): boolean {
  const scenario = byId.get(id);
  return scenario === undefined || runsOn(scenario, "memory");
}

function wrongInRow(row: ConformanceRow): string[] {
  const unknown = row.scenarios.filter((id) => !byId.has(id)).map((id) => `${id} is no scenario`);
  const inMemory = row.scenarios.some(isInMemory);
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
