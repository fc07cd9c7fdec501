import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CacheControl,
  emptyCacheControl,
  formatCacheControl,
} from "../../../worker/rules/directives/cache-control.ts";
import { parseSurrogateControl } from "../../../worker/rules/directives/surrogate-control.ts";
import { effectiveCacheControl, parseTargetedField } from "../../../worker/rules/directives/targeted-fields.ts";

type Fields = Readonly<Record<string, string>>;

const selections: readonly {
  name: string;
  source: string;
  fields: Fields;
  targeted?: readonly string[];
  expect: { field: string } & Partial<CacheControl>;
}[] = [
  {
    name: "without targeted fields, Cache-Control applies",
    source: "RFC 9213 §2.2",
    fields: { "cache-control": "max-age=60" },
    expect: { field: "cache-control", maxAge: 60 },
  },
  {
    name: "CDN-Cache-Control replaces Cache-Control",
    source: "RFC 9213 §3.1",
    fields: { "cdn-cache-control": "max-age=600", "cache-control": "no-store, s-maxage=1" },
    expect: { field: "cdn-cache-control", maxAge: 600 },
  },
  {
    name: "even an unknown directive alone replaces Cache-Control",
    source: "RFC 9213 §3.1",
    fields: { "cdn-cache-control": "none", "cache-control": "no-store" },
    expect: { field: "cdn-cache-control" },
  },
  {
    name: "the site's own field comes before CDN-Cache-Control",
    source: "RFC 9213 §2.2",
    fields: { "tidemark-cache-control": "max-age=5", "cdn-cache-control": "max-age=600" },
    targeted: ["tidemark-cache-control"],
    expect: { field: "tidemark-cache-control", maxAge: 5 },
  },
  {
    name: "the first of the site's own fields that is present applies",
    source: "RFC 9213 §2.2",
    fields: { "b-cache-control": "max-age=2", "c-cache-control": "max-age=3" },
    targeted: ["a-cache-control", "b-cache-control", "c-cache-control"],
    expect: { field: "b-cache-control", maxAge: 2 },
  },
  {
    name: "a site may put Surrogate-Control first",
    source: "Edge Architecture §2.2",
    fields: { "surrogate-control": "max-age=5+6", "cdn-cache-control": "max-age=600" },
    targeted: ["surrogate-control"],
    expect: { field: "surrogate-control", maxAge: 5, staleWhileRevalidate: 6, staleIfError: 6 },
  },
  {
    name: "a targeted field that the site does not name changes nothing",
    source: "RFC 9213 §2.2",
    fields: { "cloudflare-cdn-cache-control": "max-age=5", "cache-control": "max-age=60" },
    expect: { field: "cache-control", maxAge: 60 },
  },
  ...[
    "",
    " ",
    "max-age=",
    "max-age=60,",
    "MAX-AGE=60",
    "max-age=60; ",
    "max-age=60 no-store",
    '"',
    "no-store=?2",
    "é",
  ].map((text) => ({
    name: `CDN-Cache-Control: ${JSON.stringify(text)} is ignored, and Cache-Control applies`,
    source: "RFC 9213 §2.1",
    fields: { "cdn-cache-control": text, "cache-control": "max-age=60" },
    expect: { field: "cache-control", maxAge: 60 },
  })),
  {
    name: "if a targeted field is malformed, the next one applies",
    source: "RFC 9213 §2.2",
    fields: { "tidemark-cache-control": "max-age=", "cdn-cache-control": "max-age=600", "cache-control": "max-age=60" },
    targeted: ["tidemark-cache-control"],
    expect: { field: "cdn-cache-control", maxAge: 600 },
  },
  {
    name: "Surrogate-Control comes before Cache-Control",
    source: "Edge Architecture §2.2",
    fields: { "surrogate-control": "max-age=3600", "cache-control": "private, no-store" },
    expect: { field: "surrogate-control", maxAge: 3600 },
  },
  {
    name: "CDN-Cache-Control comes before Surrogate-Control",
    source: "RFC 9213 §2.2",
    fields: { "surrogate-control": "max-age=3600", "cdn-cache-control": "max-age=600" },
    expect: { field: "cdn-cache-control", maxAge: 600 },
  },
  {
    name: "if a Surrogate-Control names only capabilities, Cache-Control applies",
    source: "Edge Architecture §2.2",
    fields: { "surrogate-control": 'content="ESI/1.0"', "cache-control": "max-age=60" },
    expect: { field: "cache-control", maxAge: 60 },
  },
];

const values: readonly { name: string; text: string; expect: Partial<CacheControl> }[] = [
  { name: "an integer is a lifetime", text: "max-age=60", expect: { maxAge: 60 } },
  {
    name: "an integer too large for a lifetime counts as the largest one",
    text: "max-age=999999999999999",
    expect: { maxAge: 2_147_483_648 },
  },
  { name: "parameters are ignored", text: "max-age=60;a=1, no-store;b", expect: { maxAge: 60, noStore: true } },
  {
    name: "if there are duplicates, the last counts, as in every dictionary",
    text: "max-age=5, max-age=60",
    expect: { maxAge: 60 },
  },
  ...['"60"', "60.0", "60.5", "abc", "?1", "(60)", "-1", ":NjA=:"].map((value) => ({
    name: `max-age=${value} is not an integer, so the response is stale`,
    text: `max-age=${value}`,
    expect: { maxAge: "invalid" as const },
  })),
  { name: "a lifetime without a value makes the response stale", text: "s-maxage", expect: { sMaxage: "invalid" } },
  { name: "a decimal elsewhere does not hurt a lifetime", text: "x=1.5, max-age=60", expect: { maxAge: 60 } },
  {
    name: "a string is a list of fields",
    text: 'private="Set-Cookie", no-cache="a, b"',
    expect: { private: ["set-cookie"], noCache: ["a", "b"] },
  },
  {
    name: "a list of fields that is not a string applies to the whole response",
    text: "private=set-cookie, no-cache=(a b)",
    expect: { private: "whole", noCache: "whole" },
  },
  {
    name: "a restriction restricts whatever its value is",
    text: 'no-store="x", must-revalidate=1',
    expect: { noStore: true, mustRevalidate: true },
  },
  {
    name: "a restriction with the value ?0 has no effect",
    text: "no-store=?0, private=?0, max-age=1",
    expect: { maxAge: 1 },
  },
  {
    name: "a permission that is not true has no effect",
    text: 'public=1, must-understand="x", max-age=1',
    expect: { maxAge: 1 },
  },
];

const surrogate: readonly { name: string; text: string; expect: Partial<CacheControl> | "nothing" }[] = [
  { name: "no-store is no-store", text: "no-store", expect: { noStore: true } },
  {
    name: "no-store-remote counts as no-store, because an edge is remote",
    text: "no-store-remote",
    expect: { noStore: true },
  },
  { name: "a lifetime", text: "max-age=3600", expect: { maxAge: 3600 } },
  {
    name: "a lifetime and its extension",
    text: "max-age=3600+600",
    expect: { maxAge: 3600, staleWhileRevalidate: 600, staleIfError: 600 },
  },
  { name: "an invalid extension makes the response stale", text: "max-age=3600+x", expect: { maxAge: "invalid" } },
  {
    name: "the directives of RFC 5861 are read",
    text: "max-age=1, stale-while-revalidate=60",
    expect: { maxAge: 1, staleWhileRevalidate: 60 },
  },
  { name: "the directives of RFC 9111 are read", text: 'private="a"', expect: { private: ["a"] } },
  {
    name: "a directive for another surrogate does not apply",
    text: "max-age=60;far, max-age=30",
    expect: { maxAge: 30 },
  },
  {
    name: "capabilities for another surrogate are ignored",
    text: 'content="ESI/1.0, x";far, max-age=30',
    expect: { maxAge: 30 },
  },
  { name: "directives only for other surrogates say nothing", text: "no-store;far", expect: "nothing" },
  { name: "only unknown directives say nothing", text: "x=1", expect: "nothing" },
  { name: "an empty field says nothing", text: "", expect: "nothing" },
  ...["max-age=60;", "max-age=60 no-store", 'content="', "max-age=60;a;b"].map((text) => ({
    name: `${text} cannot be read, and forbids`,
    text,
    expect: { noStore: true },
  })),
];

const reader = (fields: Fields) => (name: string) => fields[name] ?? null;

describe("effectiveCacheControl", () => {
  test.each(selections)("$name ($source)", ({ fields, targeted = [], expect: { field, ...expected } }) => {
    expect(effectiveCacheControl(reader(fields), targeted)).toEqual({
      source: field,
      cacheControl: { ...emptyCacheControl(), ...expected },
    });
  });

  test("never throws, whatever the fields hold", () => {
    const text = fc.option(fc.oneof(fc.string(), fc.string({ unit: "binary" })));
    fc.assert(
      fc.property(text, text, text, (cdn, surrogateControl, cacheControl) => {
        const fields = new Map([
          ["cdn-cache-control", cdn],
          ["surrogate-control", surrogateControl],
          ["cache-control", cacheControl],
        ]);
        effectiveCacheControl((name) => fields.get(name) ?? null, []);
      }),
    );
  });
});

describe("parseTargetedField", () => {
  test.each(values)("$name (RFC 9213 §2.1)", ({ text, expect: expected }) => {
    expect(parseTargetedField(text)).toEqual({ ...emptyCacheControl(), ...expected });
  });

  test("a Cache-Control that is printed means the same in a targeted field", () => {
    const seconds = fc.oneof(fc.constant("absent" as const), fc.nat());
    const scope = fc.oneof(fc.constantFrom("absent" as const, "whole" as const), fc.constant(["set-cookie", "x-user"]));
    const said = fc.record({
      noStore: fc.boolean(),
      noCache: scope,
      private: scope,
      public: fc.boolean(),
      mustRevalidate: fc.boolean(),
      proxyRevalidate: fc.boolean(),
      mustUnderstand: fc.boolean(),
      immutable: fc.boolean(),
      noTransform: fc.boolean(),
      maxAge: seconds,
      sMaxage: seconds,
      staleWhileRevalidate: seconds,
      staleIfError: seconds,
    });
    fc.assert(
      fc.property(said, (cacheControl) => {
        expect(parseTargetedField(`x, ${formatCacheControl(cacheControl)}`.replace(/, $/, ""))).toEqual(cacheControl);
      }),
    );
  });
});

describe("parseSurrogateControl", () => {
  test.each(surrogate)("$name (Edge Architecture §2.2)", ({ text, expect: expected }) => {
    const said = expected === "nothing" ? undefined : { ...emptyCacheControl(), ...expected };
    expect(parseSurrogateControl(text)).toEqual(said);
  });
});
