import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Validators, validationFields } from "../../../worker/rules/validation/conditions.ts";
import { confirms, freshenByHead } from "../../../worker/rules/validation/freshen.ts";
import { anyText } from "../fields/any-text.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const EARLIER = "Thu, 01 Jan 2026 11:00:00 GMT";
const LATER = "Thu, 01 Jan 2026 12:00:00 GMT";

const tagged = (etag: string): Validators => ({ etag, lastModified: null });
const dated = (lastModified: string): Validators => ({ etag: null, lastModified });
const both = (etag: string, lastModified: string): Validators => ({ etag, lastModified });
const bare: Validators = { etag: null, lastModified: null };

describe("validationFields", () => {
  test.each<{ name: string; stored: Validators; expect: readonly (readonly [string, string])[] | null }>([
    { name: "without validators there is nothing to ask with", stored: bare, expect: null },
    { name: "a tag is sent", stored: tagged('"a"'), expect: [["if-none-match", '"a"']] },
    { name: "a weak tag is sent", stored: tagged('W/"a"'), expect: [["if-none-match", 'W/"a"']] },
    { name: "a date is sent as it came", stored: dated(LATER), expect: [["if-modified-since", LATER]] },
    {
      name: "both are sent",
      stored: both('"a"', LATER),
      expect: [
        ["if-none-match", '"a"'],
        ["if-modified-since", LATER],
      ],
    },
    {
      name: "a date with a two-digit year is sent as it came",
      stored: dated("Thursday, 01-Jan-26 11:00:00 GMT"),
      expect: [["if-modified-since", "Thursday, 01-Jan-26 11:00:00 GMT"]],
    },
    { name: "a date that is none is not sent", stored: dated("yesterday"), expect: null },
    { name: "a tag without quotes is sent as it came", stored: tagged("a-/+="), expect: [["if-none-match", "a-/+="]] },
    ...["*", '"a', 'a"b"', "a, b", "a b", ""].map((malformed) => ({
      name: `${malformed} is no tag, and is not sent`,
      stored: both(malformed, LATER),
      expect: [["if-modified-since", LATER]] as const,
    })),
    { name: "two tags in one text are not sent", stored: tagged('"a", "b"'), expect: null },
  ])("$name (RFC 9111 §4.3.1)", (row) => {
    expect(validationFields(row.stored, NOON)).toEqual(row.expect);
  });
});

describe("confirms", () => {
  test.each<{ name: string; stored: Validators; got: Validators; expect: boolean }>([
    { name: "the same strong tag", stored: tagged('"a"'), got: tagged('"a"'), expect: true },
    { name: "another strong tag", stored: tagged('"a"'), got: tagged('"b"'), expect: false },
    { name: "the strong form of the stored weak tag", stored: tagged('W/"a"'), got: tagged('"a"'), expect: true },
    { name: "a strong tag that differs from a weak one", stored: tagged('W/"a"'), got: tagged('"b"'), expect: false },
    {
      name: "a strong tag that differs outranks a date that matches",
      stored: both('"a"', LATER),
      got: both('"b"', LATER),
      expect: false,
    },
    {
      name: "a strong tag where none is stored outranks a date that matches",
      stored: dated(LATER),
      got: both('"b"', LATER),
      expect: false,
    },
    { name: "a weak tag where the stored one is strong", stored: tagged('"a"'), got: tagged('W/"a"'), expect: true },
    { name: "a weak tag that differs", stored: tagged('"a"'), got: tagged('W/"b"'), expect: false },
    {
      name: "a weak tag that differs outranks a date that matches",
      stored: both('W/"a"', LATER),
      got: both('W/"b"', LATER),
      expect: false,
    },
    {
      name: "a date, where the stored response has no tag",
      stored: dated(LATER),
      got: both('W/"b"', LATER),
      expect: true,
    },
    { name: "a date, where the 304 has no tag", stored: both('"a"', LATER), got: dated(LATER), expect: true },
    { name: "another date", stored: dated(LATER), got: dated(EARLIER), expect: false },
    { name: "no validator", stored: both('"a"', LATER), got: bare, expect: true },
    { name: "no validator, and a response without any", stored: bare, got: bare, expect: true },
    { name: "a validator, and a response without any", stored: bare, got: tagged('"a"'), expect: false },
  ])("$name: $expect (RFC 9111 §4.3.4)", (row) => {
    expect(confirms(row.got, row.stored)).toBe(row.expect);
  });
});

describe("freshenedByHead", () => {
  test.each<{
    name: string;
    stored?: Validators;
    head: Validators;
    bodyBytes?: number;
    contentEncoding?: string;
    expect: "freshen" | "invalidate" | "nothing";
  }>([
    { name: "the same tag", stored: tagged('"a"'), head: tagged('"a"'), expect: "freshen" },
    { name: "the same tag, once weak", stored: tagged('"a"'), head: tagged('W/"a"'), expect: "freshen" },
    { name: "another tag", stored: tagged('"a"'), head: tagged('"b"'), expect: "invalidate" },
    { name: "a tag where there was none", head: tagged('"a"'), expect: "invalidate" },
    { name: "the same date", stored: dated(LATER), head: dated(LATER), expect: "freshen" },
    { name: "another date", stored: dated(EARLIER), head: dated(LATER), expect: "invalidate" },
    {
      name: "the same tag with another date",
      stored: both('"a"', EARLIER),
      head: both('"a"', LATER),
      expect: "invalidate",
    },
    { name: "fewer validators that match", stored: both('"a"', LATER), head: tagged('"a"'), expect: "freshen" },
    {
      name: "the same tag and length",
      stored: tagged('"a"'),
      head: tagged('"a"'),
      bodyBytes: 10,
      expect: "freshen",
    },
    { name: "one byte less", stored: tagged('"a"'), head: tagged('"a"'), bodyBytes: 9, expect: "invalidate" },
    { name: "one byte more", stored: tagged('"a"'), head: tagged('"a"'), bodyBytes: 11, expect: "invalidate" },
    {
      name: "no validator, but another length",
      stored: tagged('"a"'),
      head: bare,
      bodyBytes: 9,
      expect: "invalidate",
    },
    {
      name: "no validator, but the same length",
      stored: tagged('"a"'),
      head: bare,
      bodyBytes: 10,
      expect: "nothing",
    },
    {
      name: "another length in another coding",
      stored: tagged('"a"'),
      head: tagged('"a"'),
      bodyBytes: 9,
      contentEncoding: "gzip",
      expect: "freshen",
    },
    {
      name: "another length in another coding, and another tag",
      stored: tagged('"a"'),
      head: tagged('"b"'),
      bodyBytes: 9,
      contentEncoding: "gzip",
      expect: "invalidate",
    },
    { name: "nothing to compare", stored: tagged('"a"'), head: bare, expect: "nothing" },
  ])("$name: $expect (RFC 9111 §4.3.5)", (row) => {
    const stored = { ...(row.stored ?? bare), bodyBytes: 10, contentEncoding: null };
    const { bodyBytes = null, contentEncoding = null } = row;
    expect(freshenByHead(stored, { ...row.head, bodyBytes, contentEncoding })).toBe(row.expect);
  });
});

test("a 304 that repeats the validators of what was validated confirms it", () => {
  const tag = fc.constantFrom(null, '"a"', 'W/"a"', '"b"');
  const validators = fc.record({ etag: tag, lastModified: fc.constantFrom(null, EARLIER, LATER) });
  fc.assert(
    fc.property(validators, (stored) => {
      expect(confirms(stored, stored)).toBe(true);
    }),
  );
});

test("no text makes these rules throw", () => {
  const text = fc.option(anyText);
  const validators = fc.record({ etag: text, lastModified: text });
  fc.assert(
    fc.property(validators, validators, fc.option(fc.nat()), text, (stored, got, bodyBytes, contentEncoding) => {
      const fields = validationFields(stored, NOON);
      expect(fields === null || fields.length > 0).toBe(true);
      expect(typeof confirms(got, stored)).toBe("boolean");
      const verdict = freshenByHead({ ...got, bodyBytes: 1, contentEncoding }, { ...got, bodyBytes, contentEncoding });
      expect(["freshen", "invalidate", "nothing"]).toContain(verdict);
    }),
  );
});
