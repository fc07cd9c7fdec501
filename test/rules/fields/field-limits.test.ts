import { expect, test } from "vitest";
import { reasonFieldIsBroken, reasonToRefuseFields } from "../../../worker/rules/fields/field-limits.ts";

const LIMITS = { maxFields: 2, maxBytes: 10 };

test.each<{ name: string; fields: readonly (readonly [string, string])[]; because: string | null }>([
  { name: "no fields are taken", fields: [], because: null },
  {
    name: "as many fields as may be are taken",
    fields: [
      ["a", "1"],
      ["b", "2"],
    ],
    because: null,
  },
  {
    name: "one more is not",
    fields: [
      ["a", "1"],
      ["b", "2"],
      ["c", "3"],
    ],
    because: "more than 2 fields",
  },
  { name: "as many bytes as may be are taken", fields: [["name", "123456"]], because: null },
  {
    name: "one more is not, wherever it is",
    fields: [
      ["name", "1234"],
      ["abc", ""],
    ],
    because: "more than 10 bytes of fields",
  },
  { name: "a tab is taken", fields: [["a", "1\t2"]], because: null },
  { name: "characters beyond ASCII are taken", fields: [["a", "\u0080ÿ"]], because: null },
  ...["\u0000", "\b", "\n", "\u001f", "\u007f"].map((character) => ({
    name: `${JSON.stringify(character)} is not`,
    fields: [["a", `1${character}`]] as const,
    because: "a control character in a",
  })),
  ...["", "a b", "a:", "\u0000", "\u00e9", "\ufffd"].map((name) => ({
    name: `${JSON.stringify(name)} as a name is not`,
    fields: [[name, "1"]] as const,
    because: "a field with an invalid name",
  })),
])("$name", ({ fields, because }) => {
  expect(reasonToRefuseFields(fields, LIMITS)).toBe(because);
});

test("whatever their number is, one that is broken is found", () => {
  const whole = Array.from({ length: 300 }, (_, index) => [`a-${index}`, "\u00e9\t1"] as const);
  expect(reasonFieldIsBroken(whole)).toBe(null);
  expect(reasonFieldIsBroken([...whole, ["a", "1\u000b"]])).toBe("a control character in a");
  expect(reasonFieldIsBroken([...whole, ["\ufffd", "1"]])).toBe("a field with an invalid name");
});
