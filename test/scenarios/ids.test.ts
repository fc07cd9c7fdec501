import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { scenarios } from "./index.ts";

const ids = scenarios.map(({ id }) => id);

describe("the ids of scenarios", () => {
  test("are unique", () => {
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test("consist of an area and a name in lower case", () => {
    expect(ids.filter((id) => !/^[a-z]+(-[a-z]+)*\/[a-z0-9]+(-[a-z0-9]+)*$/.test(id))).toEqual([]);
  });

  test("use the folders of this directory as areas", () => {
    const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((each) => each.isDirectory());
    const areas = new Set(ids.map((id) => id.split("/")[0]));
    expect([...areas].sort()).toEqual(folders.map(({ name }) => name).sort());
  });
});

test("no two scenarios have the same sentence", () => {
  const names = scenarios.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
