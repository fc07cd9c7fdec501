import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { mutants } from "../mutants/index.ts";
import { scenarios } from "../scenarios/index.ts";

const conformance = readFileSync("docs/conformance.md", "utf8");
const protocol = readFileSync("docs/protocol.md", "utf8");

/** Scenarios that no mutant can redden, because they run in the runtime only. */
const inTheRuntimeOnly = new Set(scenarios.filter(({ only }) => only?.engine === "runtime").map(({ name }) => name));

describe("each row of docs/conformance.md", () => {
  test.each(rowsOf(conformance))("$words", ({ text, mutantCell }) => {
    expect(wrongInRow(text, mutantCell)).toEqual([]);
  });

  test.each([
    ["a row with a scenario names a mutant", "| 4.2 | “tags differ in case” | |", ["names no mutant, and no reason"]],
    ["a reason is not enough for a row with a scenario", "| “tags differ in case” | none |", ["names no mutant"]],
    [
      "a mutant exists",
      "| “tags differ in case” | `purging/tags-ignore-case`, `purging/no-such` |",
      ["purging/no-such is no mutant"],
    ],
    [
      "a mutant reddens a scenario of its row",
      "| “tags differ in case” | `purging/everything-is-nothing` |",
      ["purging/everything-is-nothing reddens no scenario of this row"],
    ],
    [
      "a row without a scenario says why it has no mutant",
      "| `Pragma` | ignored | |",
      ["names no mutant, and no reason"],
    ],
  ])("control: %s", (_, row, wrong) => {
    expect(wrongInRow(row, cellsOf(row).at(-1)!)).toEqual(wrong);
  });

  test("the tables are found", () => {
    expect(rowsOf(conformance).length).toBeGreaterThan(50);
  });
});

describe("each rule of docs/protocol.md", () => {
  const rules = protocol.split(/^### /m).flatMap((text) => {
    const number = /^R(\d+) /.exec(text)?.[1];
    return number === undefined ? [] : [{ number, text: text.split(/^##/m)[0]!.replace(/\s+/g, " ") }];
  });
  const named = rules.flatMap(({ number, text }) =>
    [...text.matchAll(new RegExp(`\`(r${number}-[\\w-]+)\``, "g"))].map(([, name]) => ({ number, name: name! })),
  );

  test("what is built has a mutant, or it says why it has none", () => {
    expect(rules.map(({ number }) => Number(number))).toEqual(Array.from({ length: 23 }, (_, index) => index + 1));
    const built = rules.filter(({ text }) => text.includes("`worker/"));
    expect(built.length).toBeGreaterThan(15);
    expect(built.filter(({ text }) => !/ (Mutants?: `(r\d+-|stories\/)|No mutant: \w)/.test(text))).toEqual([]);
  });

  test("has a mutant that the random worlds must find", () => {
    const ofWorlds = [...mutants.keys()].flatMap((id) => /^worlds\/r(\d+)-/.exec(id)?.[1] ?? []);
    expect(rules.map(({ number }) => number).filter((number) => !ofWorlds.includes(number))).toEqual([]);
  });

  test("the mutants that it names are those that there are", () => {
    const written = named.map(({ name }) => `protocol/${name}`);
    expect(written.sort()).toEqual([...mutants.keys()].filter((id) => id.startsWith("protocol/")).sort());
    const ofStories = rules.flatMap(({ text }) => [...text.matchAll(/`(stories\/[\w-]+)`/g)].map(([, id]) => id!));
    expect(ofStories.sort()).toEqual([...mutants.keys()].filter((id) => id.startsWith("stories/")).sort());
  });
});

describe("each story of docs/protocol.md", () => {
  const rows = [...protocol.matchAll(/^\| \d+ \|.*$/gm)].map(([row]) => cellsOf(row));
  const reddened = new Set([...mutants.values()].flatMap((mutant) => ("reddens" in mutant ? mutant.reddens : [])));

  test("all of them are found", () => {
    expect(rows.map(([number]) => Number(number))).toEqual(Array.from({ length: 32 }, (_, index) => index + 1));
  });

  test.each(rows)("story %s is a scenario that bears its number, and that can fail: %s", (number, _, __, shownBy) => {
    const named = [...shownBy!.matchAll(/“([^”]+)”/g)].map(([, name]) => name!);
    const own = named.filter((name) => name.startsWith(`story ${number}: `));
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter((name) => !reddened.has(name))).toEqual([]);
  });
});

interface Row {
  /** Its first cells, to tell it by. */
  readonly words: string;
  readonly text: string;
  /** Where the table has no column for mutants, the whole row. */
  readonly mutantCell: string;
}

/** The rows of a page's tables that have a column for mutants, or name a scenario. */
function rowsOf(page: string): Row[] {
  const tables = page.match(/(?:^\|.*\n?)+/gm) ?? [];
  return tables.flatMap((table) => {
    const [head, , ...rows] = table.trim().split("\n");
    const column = cellsOf(head!).indexOf("mutant");
    return rows
      .filter((text) => column !== -1 || text.includes("“"))
      .map((text) => ({
        words: cellsOf(text).slice(0, 2).join(": "),
        text,
        mutantCell: column === -1 ? text : cellsOf(text)[column]!,
      }));
  });
}

function cellsOf(row: string): string[] {
  return row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function wrongInRow(text: string, mutantCell: string): string[] {
  const named = [...text.matchAll(/“([^”]+)”/g)].map(([, name]) => name!);
  const ids = [...mutantCell.matchAll(/`([a-z]+\/[\w-]+)`/g)].map(([, id]) => id!);
  if (mutantCell === "") return ["names no mutant, and no reason"];
  if (ids.length === 0) return named.every((name) => inTheRuntimeOnly.has(name)) ? [] : ["names no mutant"];
  return ids.flatMap((id) => {
    const mutant = mutants.get(id);
    if (!mutant) return [`${id} is no mutant`];
    return "reddens" in mutant && named.includes(mutant.reddens) ? [] : [`${id} reddens no scenario of this row`];
  });
}
