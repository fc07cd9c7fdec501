import { expect, test } from "vitest";
import { issuePath } from "../../wire/text/issue-path.ts";

test.for([
  { name: "the value as a whole is empty", path: [], expect: "" },
  { name: "a field is its name", path: ["tags"], expect: "tags" },
  { name: "an item of a list has its index in brackets", path: ["tags", 3], expect: "tags[3]" },
  { name: "a field below another follows a dot", path: ["purge", "softForMs"], expect: "purge.softForMs" },
  {
    name: "a field of an item follows its brackets",
    path: ["routes", 0, "query", "keep", 12],
    expect: "routes[0].query.keep[12]",
  },
  { name: "a list as the whole value begins with brackets", path: [1, "url"], expect: "[1].url" },
])("The path of an issue: $name", ({ path, expect: expected }) => {
  expect(issuePath(path)).toBe(expected);
});
