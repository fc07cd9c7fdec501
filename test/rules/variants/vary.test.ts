import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { originRequestFields } from "../../../worker/rules/forwarding/origin-request-fields.ts";
import { variantKey } from "../../../worker/rules/key/cache-key.ts";
import { acceptedCodings } from "../../../worker/rules/variants/accept-encoding.ts";
import {
  isVariantTooLong,
  matchesVariant,
  normalizedValue,
  type SelectingFields,
  selectingFields,
  type VariantFields,
  variantOf,
  varyFields,
} from "../../../worker/rules/variants/vary.ts";
import { anyText } from "../fields/any-text.ts";

const requestOf = (field: (name: string) => string | null): SelectingFields => ({
  field,
  value: (name) => normalizedValue(name, field(name)),
  acceptedCodings: acceptedCodings(field("accept-encoding")),
});
const request = (fields: Readonly<Record<string, string>>) => requestOf((name) => fields[name] ?? null);

const anyName = fc.constantFrom("accept", "accept-language", "accept-charset", "accept-encoding", "user-agent", "x-a");
const anyValue = fc.option(anyText);
const anyVariant: fc.Arbitrary<VariantFields> = fc.array(fc.tuple(fc.oneof(anyName, fc.string()), anyValue), {
  maxLength: 4,
});

describe("varyFields", () => {
  test.each<{ name: string; vary: string | null; expect: readonly string[] | "*" }>([
    { name: "without the field nothing selects", vary: null, expect: [] },
    { name: "an empty field selects nothing", vary: "", expect: [] },
    {
      name: "names come sorted, in lower case, each once",
      vary: "Origin, ACCEPT,origin",
      expect: ["accept", "origin"],
    },
    { name: "empty members are none", vary: " ,Accept,, ", expect: ["accept"] },
    { name: "a star is a star", vary: "*", expect: "*" },
    { name: "a star among names is a star", vary: "Accept, *", expect: "*" },
    { name: "a member with a space in it may mean anything", vary: "Accept Language", expect: "*" },
    { name: "a member that is no token may mean anything", vary: 'Accept, "Origin"', expect: "*" },
    { name: "a name with a star in it is a name", vary: "x-*", expect: ["x-*"] },
  ])("$name (RFC 9110 §12.5.5)", (row) => {
    expect(varyFields(row.vary)).toEqual(row.expect);
  });
});

const PLAIN = { askedAcross: false, keyFields: [], parts: [] };

/** The field of a response with these. */
function fieldOf(fields: Readonly<Record<string, string | null | undefined>>) {
  return (name: string) => fields[name] ?? null;
}

describe("selectingFields", () => {
  test.each<{
    name: string;
    vary: string | null;
    coding?: string;
    allowedOrigin?: string;
    askedAcross?: boolean;
    keyFields?: readonly string[];
    expect: readonly string[] | "*";
  }>([
    { name: "a plain response is selected by nothing", vary: null, expect: [] },
    { name: "what Vary names selects", vary: "Accept-Language, Accept", expect: ["accept", "accept-language"] },
    { name: "a coding was selected by Accept-Encoding", vary: null, coding: "gzip", expect: ["accept-encoding"] },
    {
      name: "a coding adds Accept-Encoding in its place",
      vary: "Accept, Origin",
      coding: "br",
      expect: ["accept", "accept-encoding", "origin"],
    },
    { name: "Accept-Encoding is not there twice", vary: "accept-encoding", coding: "br", expect: ["accept-encoding"] },
    { name: "a star stays one beside a coding", vary: "*", coding: "br", expect: "*" },
    { name: "the client's address is not known from what it sent", vary: "X-Forwarded-For", expect: "*" },
    { name: "nor is it with underscores", vary: "X_Forwarded_For", expect: "*" },
    { name: "nor is it with dots", vary: "X.Forwarded.For", expect: "*" },
    { name: "nor from Forwarded", vary: "Accept, Forwarded", expect: "*" },
    { name: "nor from X-Real-IP", vary: "x-real-ip", expect: "*" },
    { name: "nor from the fields of other edges", vary: "True-Client-IP", expect: "*" },
    {
      name: "a name that only begins so selects",
      vary: "Forwarded-By, Client-IP-Hint",
      expect: ["client-ip-hint", "forwarded-by"],
    },
    { name: "nor what the platform adds", vary: "CF-IPCountry", expect: "*" },
    { name: "Via has what the client sent in it, so it selects", vary: "Via", expect: ["via"] },
    { name: "a cookie selects", vary: "Cookie", expect: ["cookie"] },
    {
      name: "what one origin may read was selected by Origin",
      vary: "Accept",
      allowedOrigin: "https://app.example.test",
      expect: ["accept", "origin"],
    },
    { name: "so was what the null origin may read", vary: null, allowedOrigin: "null", expect: ["origin"] },
    { name: "what every origin may read was not", vary: null, allowedOrigin: "*", expect: [] },
    {
      name: "what every origin may read may have been, where one was named",
      vary: null,
      allowedOrigin: "*",
      askedAcross: true,
      expect: ["origin"],
    },
    { name: "what every origin may read was, if Vary says so", vary: "Origin", allowedOrigin: "*", expect: ["origin"] },
    { name: "what the route keys by selects unasked", vary: null, keyFields: ["x-tenant"], expect: ["x-tenant"] },
    {
      name: "a field that the route keys by is known, though it is the edge's else",
      vary: "X-Real-IP",
      keyFields: ["x-real-ip"],
      expect: ["x-real-ip"],
    },
    { name: "a star stays one beside it", vary: "*", keyFields: ["x-tenant"], expect: "*" },
  ])("$name (RFC 9111 §4.1)", (row) => {
    expect(
      selectingFields({
        field: fieldOf({
          vary: row.vary,
          "content-encoding": row.coding,
          "access-control-allow-origin": row.allowedOrigin,
        }),
        askedAcross: row.askedAcross ?? false,
        keyFields: row.keyFields ?? [],
        parts: [],
      }),
    ).toEqual(row.expect);
  });

  test("200,000 names of other responses are not compared with each other", () => {
    const names = Array.from({ length: 200_000 }, (_, at) => `x-${String(at).padStart(6, "0")}`);
    const selecting = selectingFields({ ...PLAIN, field: fieldOf({}), siblingsVaryBy: [...names, ...names] });
    expect(selecting).toEqual(names);
  });

  const forwarded = {
    scheme: "https",
    host: "www.example.test",
    clientAddress: null,
    storing: true,
    acceptedCodings: "identity",
    cookie: null,
    maxForwards: null,
    fieldRules: { keyFields: [], droppedFields: [], trustedFields: [] },
    chosenFields: new Map(),
    conditions: [],
    extra: [],
    forward: { realIp: false, forwarded: false },
    isReflected: false,
  } as const;

  test.each([
    "host",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-host",
    "x-http-host-override",
    "x-scheme",
    "x-url-scheme",
    "front-end-https",
    "content-length",
    "range",
    "if-range",
    "if-match",
    "if-none-match",
    "if-modified-since",
    "if-unmodified-since",
    "expect",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "max-forwards",
    "referer",
    "content-encoding",
    "connection",
    "keep-alive",
    "te",
    "upgrade",
    "transfer-encoding",
    "proxy-authorization",
  ])("%s selects nothing, because the origin sees the same whatever the client sends", (name) => {
    expect(selectingFields({ ...PLAIN, field: fieldOf({ vary: `Accept, ${name.toUpperCase()}` }) })).toEqual([
      "accept",
    ]);
    expect(originRequestFields(new Fields([[name, "odd"]]), forwarded)).toEqual(
      originRequestFields(new Fields(), forwarded),
    );
  });

  test("a field that reaches the origin selects", () => {
    const sent = originRequestFields(new Fields([["x-any", "odd"]]), forwarded);
    expect(sent).not.toEqual(originRequestFields(new Fields(), forwarded));
    expect(selectingFields({ ...PLAIN, field: fieldOf({ vary: "X-Any" }) })).toEqual(["x-any"]);
  });
});

describe("normalizedValue", () => {
  test.each<{ name: string; field: string; value: string | null; expect: string | null }>([
    { name: "an absent field is not an empty one", field: "accept", value: null, expect: null },
    { name: "an empty field is not an absent one", field: "accept", value: "", expect: "" },
    { name: "spaces around commas mean nothing", field: "x-a", value: " a ,\tb,  c ", expect: "a,b,c" },
    { name: "spaces elsewhere stay", field: "x-a", value: "a  b; c = d", expect: "a  b; c = d" },
    { name: "another field's case stays", field: "user-agent", value: "Mozilla/5.0", expect: "Mozilla/5.0" },
    { name: "another field's empty members stay", field: "x-a", value: "a,,b", expect: "a,,b" },
    {
      name: "languages are the same in any case",
      field: "accept-language",
      value: "de-CH, EN ; Q = 0.5",
      expect: "de-ch,en;q=0.5",
    },
    { name: "so are types", field: "accept", value: "Text/HTML; Level=1 , */*", expect: "text/html;level=1,*/*" },
    { name: "so are charsets", field: "accept-charset", value: "UTF-8", expect: "utf-8" },
    { name: "empty members of these lists are none", field: "accept-language", value: ",de,,en,", expect: "de,en" },
    { name: "the order of preferences stays", field: "accept-language", value: "en, de", expect: "en,de" },
    { name: "a quoted string stays as it is", field: "accept", value: ' a;x="B , C" ', expect: 'a;x="B , C"' },
    {
      name: "codings are brought into one form",
      field: "accept-encoding",
      value: "gzip, deflate, BR",
      expect: "br, gzip",
    },
    {
      name: "who offers no codings is as who offers none in words",
      field: "accept-encoding",
      value: null,
      expect: "identity",
    },
  ])("$name: $field $value (RFC 9111 §4.1)", (row) => {
    expect(normalizedValue(row.field, row.value)).toBe(row.expect);
  });

  test("a normal value is its own normal value", () => {
    fc.assert(
      fc.property(anyName, anyValue, (name, value) => {
        const once = normalizedValue(name, value);
        expect(normalizedValue(name, once)).toBe(once);
      }),
    );
  });
});

describe("matchesVariant", () => {
  const german: VariantFields = [["accept-language", "de"]];
  const absent: VariantFields = [["accept-language", null]];
  const packed: VariantFields = [["accept-encoding", "br, gzip"]];
  test.each<{
    name: string;
    variant: VariantFields;
    coding?: string;
    fields: Readonly<Record<string, string>>;
    expect: boolean;
  }>([
    { name: "what nothing selects is for everybody", variant: [], fields: { accept: "a" }, expect: true },
    { name: "the same value", variant: german, fields: { "accept-language": "de" }, expect: true },
    {
      name: "the same value in another spelling",
      variant: german,
      fields: { "accept-language": " DE " },
      expect: true,
    },
    { name: "another value", variant: german, fields: { "accept-language": "en" }, expect: false },
    { name: "an absent field where there was one", variant: german, fields: {}, expect: false },
    { name: "a field where there was none", variant: absent, fields: { "accept-language": "de" }, expect: false },
    { name: "an empty field where there was none", variant: absent, fields: { "accept-language": "" }, expect: false },
    { name: "an absent field where there was none, either", variant: absent, fields: {}, expect: true },
    {
      name: "all fields have to match",
      variant: [["accept", "a"], ...german],
      fields: { accept: "b", "accept-language": "de" },
      expect: false,
    },
    {
      name: "the same offer of codings",
      variant: packed,
      coding: "br",
      fields: { "accept-encoding": "gzip, br" },
      expect: true,
    },
    {
      name: "a smaller offer that has the coding",
      variant: packed,
      coding: "gzip",
      fields: { "accept-encoding": "gzip" },
      expect: true,
    },
    {
      name: "a smaller offer without the coding",
      variant: packed,
      coding: "br",
      fields: { "accept-encoding": "gzip" },
      expect: false,
    },
    {
      name: "a larger offer",
      variant: packed,
      coding: "br",
      fields: { "accept-encoding": "br, gzip, zstd" },
      expect: false,
    },
    { name: "no offer, for content with a coding", variant: packed, coding: "br", fields: {}, expect: false },
    { name: "no offer, for content without one", variant: packed, fields: {}, expect: true },
    {
      name: "the same offer without the coding",
      variant: [["accept-encoding", "br"]],
      coding: "gzip",
      fields: { "accept-encoding": "br, gzip;q=0" },
      expect: true,
    },
    {
      name: "no offer, as before, for content with a coding",
      variant: [["accept-encoding", "identity"]],
      coding: "gzip",
      fields: {},
      expect: true,
    },
    {
      name: "a smaller offer, both without the coding",
      variant: [["accept-encoding", "br"]],
      coding: "gzip",
      fields: {},
      expect: false,
    },
    {
      name: "a larger offer, both without the coding",
      variant: [["accept-encoding", "identity"]],
      coding: "gzip",
      fields: { "accept-encoding": "br" },
      expect: false,
    },
    {
      name: "the same offer, but another language",
      variant: [["accept-encoding", "identity"], ...german],
      coding: "gzip",
      fields: { "accept-language": "en" },
      expect: false,
    },
    {
      name: "content with a coding is never for who cannot read it",
      variant: [],
      coding: "br",
      fields: {},
      expect: false,
    },
  ])("$name: $expect (RFC 9111 §4.1)", (row) => {
    expect(matchesVariant(row.variant, row.coding ?? null, request(row.fields))).toBe(row.expect);
  });

  test("the request that brought a response selects it, if it accepts its coding", () => {
    const fields = fc.dictionary(anyName, anyText);
    fc.assert(
      fc.property(fc.uniqueArray(anyName), fields, (names, sent) => {
        const variant = variantOf(names, request(sent));
        expect(matchesVariant(variant, null, request(sent))).toBe(true);
      }),
    );
  });
});

describe("variantKey", () => {
  const key = "https://www.example.test/a?b=c";

  test("what nothing selects has the primary key itself", () => {
    expect(variantKey(key, [])).toBe(key);
  });

  test("it begins with the primary key and a space", () => {
    expect(variantKey(key, [["accept", null]])).toBe(`${key} [["accept",null]]`);
  });

  test("two that differ never share a key, and two that do not always do", () => {
    const url = fc.constantFrom("https://a.test/", 'https://a.test/[["accept","b"]]', "https://a.test/[]");
    fc.assert(
      fc.property(url, url, anyVariant, anyVariant, (oneUrl, otherUrl, one, other) => {
        const same = oneUrl === otherUrl && JSON.stringify(one) === JSON.stringify(other);
        expect(variantKey(oneUrl, one) === variantKey(otherUrl, other)).toBe(same);
      }),
    );
  });

  test("the primary key and the variant can be read from it again", () => {
    fc.assert(
      fc.property(anyVariant, (variant) => {
        fc.pre(variant.length > 0);
        const text = variantKey(key, variant);
        expect(text.slice(0, text.indexOf(" "))).toBe(key);
        expect(JSON.parse(text.slice(text.indexOf(" ") + 1))).toEqual(variant);
      }),
    );
  });

  test("it can be escaped for a URL and comes back unchanged", () => {
    fc.assert(
      fc.property(anyVariant, (variant) => {
        const text = variantKey(key, variant);
        expect(decodeURIComponent(encodeURIComponent(text))).toBe(text);
      }),
    );
  });
});

describe("isTooLong", () => {
  test.each([
    { name: "names of 4096 characters", length: 2048, expect: false },
    { name: "names of 4097 characters", length: 2049, expect: true },
  ])("$name: $expect", ({ length, expect: isTooLong }) => {
    const names = ["a".repeat(2048), "b".repeat(length)];
    expect(isVariantTooLong(names.map((name) => [name, null] as const))).toBe(isTooLong);
  });

  test.each<{ name: string; values: readonly (string | null)[]; expect: boolean }>([
    { name: "nothing", values: [], expect: false },
    { name: "absent fields", values: [null, null], expect: false },
    { name: "1023 characters", values: ["x".repeat(1023)], expect: false },
    { name: "1024 characters", values: ["x".repeat(1000), null, "x".repeat(24)], expect: false },
    { name: "1025 characters", values: ["x".repeat(1000), "x".repeat(25)], expect: true },
  ])("$name: $expect", (row) => {
    expect(isVariantTooLong(row.values.map((value, index) => [`x-${index}`, value] as const))).toBe(row.expect);
  });
});

test("no text makes these rules throw", () => {
  fc.assert(
    fc.property(anyText, anyValue, (vary, value) => {
      const names = selectingFields({ ...PLAIN, field: (name) => (name === "vary" ? vary : value) });
      expect(names === "*" || Array.isArray(names)).toBe(true);
      const variant = variantOf(
        names === "*" ? [] : names,
        requestOf(() => value),
      );
      expect(
        typeof matchesVariant(
          variant,
          value,
          requestOf(() => vary),
        ),
      ).toBe("boolean");
    }),
  );
});
