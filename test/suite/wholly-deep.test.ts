import { resolve } from "node:path";
import { expect, test } from "vitest";
import { whollyDeep } from "./wholly-deep.ts";

const file = (name: string, ...tags: string[][]) => ({
  moduleId: resolve(name),
  children: { allTests: () => tags.map((each) => ({ tags: each })) },
});

test.each([
  ["all its tests are tagged as deep", [["deep"], ["gate", "deep"]], ["test/a.test.ts"]],
  ["one of its tests is not", [["deep"], []], []],
  ["one of its tests is tagged for the gate", [["deep"], ["gate"]], []],
  ["it has no tests", [], []],
])("a file is wholly deep or not: %s", (_, tags, found) => {
  expect(whollyDeep([file("test/a.test.ts", ...tags)])).toEqual(found);
});

test("one file may be, because another has the gate's share", () => {
  expect(whollyDeep([file("test/backends/next.test.ts", ["deep"])])).toEqual([]);
});
