import { expect, test } from "vitest";
import { reasonFieldIsBroken, reasonToRefuseFields } from "../../../worker/rules/fields/field-limits.ts";

const LIMITS = { maxFields: 2, maxBytes: 10 };

test.each<{ name: string; fields: readonly (readonly [string, string])[]; because: string | null }>([
  { name: "an empty message is accepted", fields: [], because: null },
  {
    name: "as many fields as allowed are accepted",
    fields: [
      ["a", "1"],
      ["b", "2"],
    ],
    because: null,
  },
  {
    name: "one more field is refused",
    fields: [
      ["a", "1"],
      ["b", "2"],
      ["c", "3"],
    ],
    because: "more than 2 fields",
  },
  { name: "as many bytes as allowed are accepted", fields: [["name", "123456"]], because: null },
  {
    name: "one more byte is refused, wherever it is",
    fields: [
      ["name", "1234"],
      ["abc", ""],
    ],
    because: "more than 10 bytes of fields",
  },
  { name: "a tab is accepted", fields: [["a", "1\t2"]], because: null },
  { name: "characters beyond ASCII are accepted", fields: [["a", "\u0080ÿ"]], because: null },
  ...["\u0000", "\b", "\n", "\u001f", "\u007f"].map((character) => ({
    name: `${JSON.stringify(character)} is refused`,
    fields: [["a", `1${character}`]] as const,
    because: "a control character in a",
  })),
  ...["", "a b", "a:", "\u0000", "\u00e9", "\ufffd"].map((name) => ({
    name: `${JSON.stringify(name)} is refused as a name`,
    fields: [[name, "1"]] as const,
    because: "a field with an invalid name",
  })),
])("$name", ({ fields, because }) => {
  expect(reasonToRefuseFields(fields, LIMITS)).toBe(because);
});

test("a malformed field is found among any number of fields", () => {
  const whole = Array.from({ length: 300 }, (_, index) => [`a-${index}`, "\u00e9\t1"] as const);
  expect(reasonFieldIsBroken(whole)).toBe(null);
  expect(reasonFieldIsBroken([...whole, ["a", "1\u000b"]])).toBe("a control character in a");
  expect(reasonFieldIsBroken([...whole, ["\ufffd", "1"]])).toBe("a field with an invalid name");
});
