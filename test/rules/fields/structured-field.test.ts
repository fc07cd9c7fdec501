import fc from "fast-check";
import { type BareItem, parseDictionary, parseList, Token } from "structured-headers";
import { describe, expect, test } from "vitest";
import { dictionaryValues, listValues, type MemberValue } from "../../../worker/rules/fields/structured-field.ts";
import { anyText } from "./any-text.ts";

const items = ["1", "-0", "007", "a", "*/b:c", '"x, (y)"', '"\\"\\\\"', ":TQ==:", ":T:", "?1", "?0", "?2", '%"%c3%a4"'];
const pieces = [
  ...items,
  "a",
  "b-c",
  "*.",
  "=",
  ",",
  ", ",
  "\t,",
  ";",
  "; ",
  "(",
  ")",
  " ",
  "-",
  ".5",
  "A",
  '"',
  "\\",
  "é",
];

const joinedBy = (...separators: readonly string[]) => {
  const parts = fc.array(fc.tuple(fc.constantFrom(...separators), fc.constantFrom(...items)), { maxLength: 4 });
  return parts.map((some) => some.flat().join(""));
};

/** What is a structured field, what nearly is one, and any text. */
const fieldText = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((some) => some.join("")),
  joinedBy("a=", ",b=", ", c;d=", ";e="),
  fc.tuple(joinedBy("", " ", "  ", ";a="), fc.constantFrom("", ";b", " ;b")).map(([all, end]) => `a=(${all})${end}`),
  fc.tuple(joinedBy(" ", ", "), joinedBy(" ", "  ")).map(([before, all]) => `1${before}, (${all} )`),
  anyText.filter((text) => !/[@%]/.test(text)), // of which the other parser reads too little or too much
);

describe("the values of a structured field are those that a complete parser finds (RFC 9651 §4.2)", () => {
  const runs = { numRuns: 5000 };

  test("in a dictionary", () => {
    const parsed = (text: string) =>
      new Map([...parseDictionary(text)].map(([name, [value]]) => [name, valueIn(value)]));
    fc.assert(
      fc.property(fieldText, (text) => {
        expect(dictionaryValues(text)).toEqual(orNone(() => parsed(text), new Map()));
      }),
      runs,
    );
  });

  test("in a list", () => {
    const parsed = (text: string) => parseList(text).map(([value]) => valueIn(value));
    fc.assert(
      fc.property(fieldText, (text) => {
        expect(listValues(text)).toEqual(orNone(() => parsed(text), []));
      }),
      runs,
    );
  });

  test.each(["1.0", "-1.5", "123456789012.123"])("a decimal is not an integer: %s", (text) => {
    expect(listValues(text)).toEqual([null]);
  });

  test.each(["1.", "1.2345", "1234567890123.1", "1234567890123456"])("no number: %s", (text) => {
    expect(listValues(text)).toEqual([]);
  });

  test("a date may stand before another member", () => {
    expect(dictionaryValues("a=@1, b=2")).toEqual(
      new Map([
        ["a", null],
        ["b", 2],
      ]),
    );
  });
});

function orNone<T>(read: () => T, none: T): T {
  try {
    return read();
  } catch {
    return none;
  }
}

function valueIn(value: BareItem | readonly unknown[]): MemberValue {
  if (value instanceof Token || typeof value === "object") return null;
  return typeof value === "number" && !Number.isInteger(value) ? null : value;
}
