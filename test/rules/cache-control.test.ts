import { describe, expect, test } from "vitest";
import { type CacheControl, parseCacheControl } from "../../worker/rules/cache-control.ts";

const nothing: CacheControl = {
  noStore: false,
  noCache: false,
  private: false,
  public: false,
  mustRevalidate: false,
  maxAge: "absent",
  sMaxage: "absent",
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
  { name: "empty members are passed over", rfc: "9110 §5.6.1", text: ", ,max-age=5,,", expect: { maxAge: 5 } },
  { name: "unknown directives are passed over", rfc: "9111 §5.2.3", text: "x=1, public, y", expect: { public: true } },
  { name: "white space around is nothing", rfc: "9110 §5.6.1", text: " max-age = 5 ", expect: { maxAge: 5 } },
  { name: "a quoted number is a number", rfc: "9111 §5.2", text: 'max-age="10"', expect: { maxAge: 10 } },
  {
    name: "a comma in quotes does not split",
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
    name: "a qualified private counts as private",
    rfc: "9111 §5.2.2.7",
    text: 'private="set-cookie"',
    expect: { private: true },
  },
  {
    name: "a qualified no-cache counts as no-cache",
    rfc: "9111 §5.2.2.4",
    text: 'no-cache="x"',
    expect: { noCache: true },
  },
  {
    name: "of two lifetimes the shorter counts",
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
    name: "a lifetime without a value is invalid",
    rfc: "9111 §1.2.2",
    text: "s-maxage",
    expect: { sMaxage: "invalid" },
  },
  {
    name: "a huge number is the largest",
    rfc: "9111 §1.2.2",
    text: "max-age=99999999999999999999",
    expect: { maxAge: 2_147_483_648 },
  },
  {
    name: "a string that never ends may hide anything",
    rfc: "9110 §5.6.4",
    text: 'no-store, x="',
    expect: { noStore: true },
  },
  ...[
    "private; max-age=60",
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
    expect(parseCacheControl(text)).toMatchObject(
      text === null || expected.noStore ? expected : { ...nothing, ...expected },
    );
  });
});
