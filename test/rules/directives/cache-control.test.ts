import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CacheControl,
  formatCacheControl,
  parseCacheControl,
} from "../../../worker/rules/directives/cache-control.ts";
import { parseSurrogateControl } from "../../../worker/rules/directives/surrogate-control.ts";
import { parseTargetedField } from "../../../worker/rules/directives/targeted-fields.ts";

const nothing: CacheControl = {
  noStore: false,
  noCache: "absent",
  private: "absent",
  public: false,
  mustRevalidate: false,
  proxyRevalidate: false,
  mustUnderstand: false,
  immutable: false,
  noTransform: false,
  maxAge: "absent",
  sMaxage: "absent",
  staleWhileRevalidate: "absent",
  staleIfError: "absent",
};

const cases: readonly { name: string; rfc: string; text: string | null; expect: Partial<CacheControl> }[] = [
  { name: "an absent field says nothing", rfc: "9111 §5.2", text: null, expect: {} },
  { name: "an empty field says nothing", rfc: "9110 §5.6.1", text: "", expect: {} },
  {
    name: "names are case-insensitive",
    rfc: "9111 §5.2",
    text: "No-Store, MAX-AGE=5",
    expect: { noStore: true, maxAge: 5 },
  },
  { name: "empty members are ignored", rfc: "9110 §5.6.1", text: ", ,max-age=5,,", expect: { maxAge: 5 } },
  { name: "unknown directives are ignored", rfc: "9111 §5.2.3", text: "x=1, public, y", expect: { public: true } },
  { name: "surrounding white space is ignored", rfc: "9110 §5.6.1", text: " max-age = 5 ", expect: { maxAge: 5 } },
  {
    name: "a tab is white space",
    rfc: "9110 §5.6.3",
    text: "\tpublic\t,\tmax-age\t=\t5\t",
    expect: { public: true, maxAge: 5 },
  },
  {
    name: "an argument without quotes may contain more characters than a token",
    rfc: "9111 §5.2",
    text: "x=a/b?c=(d)é, max-age=5",
    expect: { maxAge: 5 },
  },
  {
    name: "a backslash before the last quote escapes it, so that the string never ends",
    rfc: "9110 §5.6.4",
    text: 'max-age=5, x="a\\"',
    expect: { noStore: true },
  },
  {
    name: "an escaped backslash does not escape the next character",
    rfc: "9110 §5.6.4",
    text: 'x="a\\\\", max-age=5',
    expect: { maxAge: 5 },
  },
  { name: "a quoted number is a number", rfc: "9111 §5.2", text: 'max-age="10"', expect: { maxAge: 10 } },
  {
    name: "a comma in quotes does not split a member",
    rfc: "9110 §5.6.4",
    text: 'x="a, no-store", max-age=5',
    expect: { maxAge: 5 },
  },
  {
    name: "an escaped quote does not end a string",
    rfc: "9110 §5.6.4",
    text: 'x="a\\", no-store", max-age=5',
    expect: { maxAge: 5 },
  },
  {
    name: "each directive is read",
    rfc: "9111 §5.2.2",
    text: "no-transform, must-revalidate, proxy-revalidate, must-understand, public, immutable, no-store",
    expect: {
      noTransform: true,
      mustRevalidate: true,
      proxyRevalidate: true,
      mustUnderstand: true,
      public: true,
      immutable: true,
      noStore: true,
    },
  },
  {
    name: "what permits something does not with an argument, as Django writes public=False",
    rfc: "9111 §5.2.2.3, §5.2.2.9; 8246 §2",
    text: 'public=False, must-understand="", immutable=0, no-store=False, must-revalidate=False',
    expect: { noStore: true, mustRevalidate: true },
  },
  {
    name: "the stale windows are numbers of seconds",
    rfc: "5861 §3, §4",
    text: "stale-while-revalidate=30, stale-if-error=60",
    expect: { staleWhileRevalidate: 30, staleIfError: 60 },
  },
  {
    name: "private and no-cache without an argument apply to the whole response",
    rfc: "9111 §5.2.2.4, §5.2.2.7",
    text: "private, no-cache",
    expect: { private: "whole", noCache: "whole" },
  },
  {
    name: "a qualified private names fields, in any letter case",
    rfc: "9111 §5.2.2.7",
    text: 'private="Set-Cookie, x-User ,"',
    expect: { private: ["set-cookie", "x-user"] },
  },
  {
    name: "a qualified no-cache names fields",
    rfc: "9111 §5.2.2.4",
    text: 'no-cache="x"',
    expect: { noCache: ["x"] },
  },
  {
    name: "lists of the same directive add up",
    rfc: "9111 §4.2.1",
    text: 'private="a, b", private="b, c"',
    expect: { private: ["a", "b", "c"] },
  },
  ...[
    'private, private="a"',
    'private="a", private',
    'private=""',
    'private=" , "',
    'private="a b"',
    'private="*"',
    "private=a",
  ].map((text) => ({
    name: `${text} applies to the whole response`,
    rfc: "9111 §5.2.2.7",
    text,
    expect: { private: "whole" as const },
  })),
  {
    name: "names that objects inherit are unknown directives",
    rfc: "9111 §5.2.3",
    text: "constructor, __proto__=1, toString, max-age=5",
    expect: { maxAge: 5 },
  },
  {
    name: "several lines arrive as one list",
    rfc: "9110 §5.3",
    text: "max-age=60, no-cache",
    expect: { maxAge: 60, noCache: "whole" },
  },
  {
    name: "if there are two lifetimes, the shorter counts",
    rfc: "9111 §4.2.1",
    text: "max-age=10, max-age=5",
    expect: { maxAge: 5 },
  },
  {
    name: "one invalid lifetime makes it invalid",
    rfc: "9111 §4.2.1",
    text: "max-age=10, max-age=x",
    expect: { maxAge: "invalid" },
  },
  { name: "a negative number is invalid", rfc: "9111 §1.2.2", text: "max-age=-1", expect: { maxAge: "invalid" } },
  { name: "a fraction is invalid", rfc: "9111 §1.2.2", text: "max-age=1.5", expect: { maxAge: "invalid" } },
  {
    name: "a lifetime with an empty value is invalid",
    rfc: "9111 §1.2.2",
    text: "max-age=",
    expect: { maxAge: "invalid" },
  },
  {
    name: "a lifetime without a value is invalid",
    rfc: "9111 §1.2.2",
    text: "s-maxage",
    expect: { sMaxage: "invalid" },
  },
  ...[
    [2_147_483_647, 2_147_483_647],
    [2_147_483_648, 2_147_483_648],
    [2_147_483_649, 2_147_483_648],
    ["99999999999999999999", 2_147_483_648],
  ].map(([stated, read]) => ({
    name: `max-age=${stated} is ${read} seconds`,
    rfc: "9111 §1.2.2",
    text: `max-age=${stated}`,
    expect: { maxAge: read as number },
  })),

  {
    name: "a string without an end may hide any directive",
    rfc: "9110 §5.6.4",
    text: 'no-store, x="',
    expect: { noStore: true },
  },
  ...[
    "private; max-age=60",
    "max-age=60; private",
    "max-age=60 private",
    'max-age="60" private',
    "no-store;",
    "private max-age=5",
    "no-store no-cache",
    'x="a, private',
    "pri\u00e9vate",
    "=5",
  ].map((text) => ({
    name: `${text} cannot be read, and forbids`,
    rfc: "9111 §4.2.1",
    text,
    expect: { noStore: true },
  })),
];

describe("parseCacheControl", () => {
  test.each(cases)("$name (RFC $rfc)", ({ text, expect: expected }) => {
    expect(parseCacheControl(text)).toEqual({ ...nothing, ...expected });
  });

  test.each([
    ["white space after an argument", `max-age=${" ".repeat(200_000)};`],
    ["white space before a name", `${" ".repeat(200_000)};`],
    ["one name", `${"a".repeat(200_000)};`],
    ["a string that never ends", `a="${'\\"'.repeat(100_000)}`],
  ])("long repetitions are parsed as fast as other text: %s", (_, text) => {
    expect(parseCacheControl(text).noStore).toBe(true);
    expect(parseSurrogateControl(text)?.noStore).toBe(true);
    expect(parseTargetedField(`${"a".repeat(200_000)}, b=1.5, max-age=60`)?.maxAge).toBe(60);
  });

  test("never throws", () => {
    fc.assert(fc.property(fieldText, (text) => void parseCacheControl(text)));
  });

  test("printing and parsing again gives the same result", () => {
    fc.assert(
      fc.property(fieldText, (text) => {
        const read = parseCacheControl(text);
        expect(parseCacheControl(formatCacheControl(read))).toEqual(read);
      }),
    );
  });

  test("an additional member never makes a response fresher or less restricted", () => {
    const restriction = fc.constantFrom("no-store", "private", "no-cache", "max-age=5", "s-maxage=x", 'private="a"');
    fc.assert(
      fc.property(fieldText, restriction, (text, more) => {
        const before = parseCacheControl(text);
        const after = parseCacheControl(`${text}, ${more}`);
        expect(after.noStore || !before.noStore).toBe(true);
        if (after.noStore) return; // No value is less restrictive.
        expect(secondsOf(after.maxAge)).toBeLessThanOrEqual(secondsOf(before.maxAge));
        expect(secondsOf(after.sMaxage)).toBeLessThanOrEqual(secondsOf(before.sMaxage));
        expect(breadthOf(after.private)).toBeGreaterThanOrEqual(breadthOf(before.private));
        expect(breadthOf(after.noCache)).toBeGreaterThanOrEqual(breadthOf(before.noCache));
      }),
    );
  });
});

/** Fields as origins write them, and fields that nobody would write. */
const directive = fc.constantFrom(
  "no-store",
  "No-Cache",
  'no-cache="A, b"',
  "private",
  'private="set-cookie"',
  "public",
  "must-revalidate",
  "immutable",
  "max-age=60",
  'MAX-AGE="10"',
  "max-age=-1",
  "s-maxage=1h",
  "s-maxage=99999999999",
  "stale-while-revalidate=5",
  "stale-if-error",
  'x="a, \\" b"',
  "",
  ";",
  '"',
);
const fieldText = fc.oneof(
  fc.array(directive, { maxLength: 6 }).map((members) => members.join(", ")),
  fc.array(fc.constantFrom(...'a=-",\\; 0\té'), { maxLength: 20 }).map((characters) => characters.join("")),
  fc.string({ unit: "binary" }),
);

function secondsOf(value: CacheControl["maxAge"]): number {
  if (value === "absent") return Number.POSITIVE_INFINITY;
  return value === "invalid" ? -1 : value;
}

function breadthOf(scope: CacheControl["private"]): number {
  if (scope === "absent") return 0;
  return scope === "whole" ? Number.POSITIVE_INFINITY : scope.length;
}
