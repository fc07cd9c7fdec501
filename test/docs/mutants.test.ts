import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { mutants } from "../mutants/index.ts";
import { scenarios } from "../scenarios/index.ts";

const protocol = readFileSync("docs/protocol.md", "utf8");
const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]));

describe("an id in the pages", () => {
  const areas = new Set([...byId.keys(), ...mutants.keys()].map((id) => id.split("/")[0]));
  const pages = ["README.md", "CONTRIBUTING.md", ...markdownIn("docs"), ...markdownIn("docs/decisions")];
  const named = pages.flatMap((page) => idsIn(readFileSync(page, "utf8"), areas).map((id) => ({ page, id })));

  test("is a scenario's or a mutant's", () => {
    const places = new Set(named.map(({ page }) => page));
    expect([...places]).toEqual(expect.arrayContaining(["docs/conformance.md", "docs/protocol.md", "docs/design.md"]));
    expect(named.filter(({ id }) => !byId.has(id) && !mutants.has(id))).toEqual([]);
  });

  test("is how the pages refer to scenarios, never by their sentences", () => {
    expect(pages.filter((page) => /“/.test(readFileSync(page, "utf8")))).toEqual([]);
  });

  test("control: one that does not exist is found", () => {
    expect(idsIn("`purging/no-such`, `docs/design.md`, `purging/by-tag`", areas)).toEqual([
      "purging/no-such",
      "purging/by-tag",
    ]);
  });
});

describe("each rule of docs/protocol.md", () => {
  const rules = protocol.split(/^### /m).flatMap((text) => {
    const number = /^R(\d+) /.exec(text)?.[1];
    return number === undefined ? [] : [{ number, text: text.split(/^##/m)[0]!.replace(/\s+/g, " ") }];
  });

  test("what is built has a mutant, or it says why it has none", () => {
    expect(rules.map(({ number }) => Number(number))).toEqual(Array.from({ length: 23 }, (_, index) => index + 1));
    const built = rules.filter(({ text }) => text.includes("`worker/"));
    expect(built.length).toBeGreaterThan(15);
    expect(built.filter(({ text }) => !/ (Mutants?: `purge-protocol\/|No mutant: \w)/.test(text))).toEqual([]);
  });

  test("names mutants that exist", () => {
    const named = rules.flatMap(({ text }) =>
      [...text.matchAll(/ Mutants?: ((?:`[\w/-]+`(?:, (?:and )?| and )?)+)/g)].flatMap(([, list]) =>
        [...list!.matchAll(/`([\w/-]+)`/g)].map(([, id]) => id!),
      ),
    );
    expect(named.length).toBeGreaterThan(60);
    expect(named.filter((id) => !mutants.has(id))).toEqual([]);
  });

  test("has a mutant that the random worlds must find", () => {
    const ofWorlds = [...mutants.keys()].flatMap((id) => /^worlds\/r(\d+)-/.exec(id)?.[1] ?? []);
    expect(rules.map(({ number }) => number).filter((number) => !ofWorlds.includes(number))).toEqual([]);
  });

  test("names the mutants that bear its number, once each", () => {
    const named = rules.flatMap(({ number, text }) =>
      [...text.matchAll(new RegExp(`\`(purge-protocol/r${number}-[\\w-]+)\``, "g"))].map(([, id]) => id!),
    );
    expect(named.sort()).toEqual([...mutants.keys()].filter((id) => /^purge-protocol\/r\d+-/.test(id)).sort());
  });

  test("the rules name all mutants of the protocol and of its stories, once each", () => {
    const ofStory = ([, mutant]: readonly [string, object]) =>
      "reddens" in mutant && /^story \d+: /.test(byId.get(mutant.reddens as string)!.name);
    const ids = [...mutants].filter((each) => each[0].startsWith("purge-protocol/") || ofStory(each)).map(([id]) => id);
    const text = rules.map((rule) => rule.text).join(" ");
    const named = ids.flatMap((id) => [...text.matchAll(new RegExp(`\`${id}\``, "g"))].map(() => id));
    expect(named.sort()).toEqual(ids.sort());
  });
});

describe("each story of docs/protocol.md", () => {
  const rows = [...protocol.matchAll(/^\| \d+ \|.*$/gm)].map(([row]) => cellsOf(row));
  const reddened = new Set([...mutants.values()].flatMap((mutant) => ("reddens" in mutant ? mutant.reddens : [])));

  test("all of them are found", () => {
    expect(rows.map(([number]) => Number(number))).toEqual(Array.from({ length: 32 }, (_, index) => index + 1));
  });

  test.each(rows)("story %s is a scenario that bears its number, and that can fail: %s", (number, _, __, shownBy) => {
    const named = [...shownBy!.matchAll(/`([a-z-]+\/[\w-]+)`/g)].map(([, id]) => id!);
    expect(named.filter((id) => !byId.has(id))).toEqual([]);
    const own = named.filter((id) => byId.get(id)!.name.startsWith(`story ${number}: `));
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter((id) => !reddened.has(id))).toEqual([]);
  });

  test("no scenario bears the number of a story that is not there, or is left out of its row", () => {
    const stories = scenarios.flatMap(({ id, name }) => {
      const number = /^story (\d+): /.exec(name)?.[1];
      return number === undefined ? [] : [{ id, number }];
    });
    expect(stories.filter(({ id, number }) => !rows[Number(number) - 1]?.[3]?.includes(`\`${id}\``))).toEqual([]);
  });
});

function markdownIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
}

/** What stands in backticks and begins with the name of an area. */
function idsIn(text: string, areas: ReadonlySet<string | undefined>): string[] {
  return [...text.matchAll(/`([a-z-]+)\/([\w-]+)`/g)].flatMap(([, area, name]) =>
    areas.has(area!) ? [`${area}/${name}`] : [],
  );
}

function cellsOf(row: string): string[] {
  return row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}
