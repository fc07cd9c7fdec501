import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { validationFields } from "../../../worker/rules/validation/conditional-request.ts";
import { freshenByHead, selectToFreshen } from "../../../worker/rules/validation/freshen.ts";
import type { Validators } from "../../../worker/rules/validation/not-modified.ts";
import { anyText } from "../fields/any-text.ts";

const EARLIER = "Thu, 01 Jan 2026 11:00:00 GMT";
const LATER = "Thu, 01 Jan 2026 12:00:00 GMT";

const tagged = (etag: string): Validators => ({ etag, lastModified: null });
const dated = (lastModified: string): Validators => ({ etag: null, lastModified });
const both = (etag: string, lastModified: string): Validators => ({ etag, lastModified });
const bare: Validators = { etag: null, lastModified: null };

describe("validationFields", () => {
  test.each<{ name: string; held: readonly Validators[]; expect: readonly (readonly [string, string])[] | null }>([
    { name: "with nothing stored there is nothing to ask", held: [], expect: null },
    { name: "without validators there is nothing to ask with", held: [bare], expect: null },
    { name: "a tag is sent", held: [tagged('"a"')], expect: [["if-none-match", '"a"']] },
    { name: "a weak tag is sent", held: [tagged('W/"a"')], expect: [["if-none-match", 'W/"a"']] },
    { name: "a date is sent as it came", held: [dated(LATER)], expect: [["if-modified-since", LATER]] },
    {
      name: "of a single response both are sent",
      held: [both('"a"', LATER)],
      expect: [
        ["if-none-match", '"a"'],
        ["if-modified-since", LATER],
      ],
    },
    {
      name: "of several responses only the tags are sent",
      held: [both('"a"', LATER), bare, both('"b"', EARLIER)],
      expect: [["if-none-match", '"a", "b"']],
    },
    { name: "a tag is sent once", held: [tagged('"a"'), tagged('"a"')], expect: [["if-none-match", '"a"']] },
    { name: "dates of several responses ask nothing", held: [dated(LATER), dated(EARLIER)], expect: null },
    { name: "a date that is none is not sent", held: [dated("yesterday")], expect: null },
    { name: "a tag without quotes is not sent", held: [both("a", LATER)], expect: [["if-modified-since", LATER]] },
    { name: "two tags in one text are not sent", held: [tagged('"a", "b"')], expect: null },
  ])("$name (RFC 9111 §4.3.1)", (row) => {
    expect(validationFields(row.held)).toEqual(row.expect);
  });
});

describe("selectedBy304", () => {
  test.each<{ name: string; held: readonly Validators[]; got: Validators; expect: number | null }>([
    { name: "the same strong tag", held: [tagged('"a"')], got: tagged('"a"'), expect: 0 },
    { name: "the same strong tag among others", held: [tagged('"a"'), tagged('"b"')], got: tagged('"b"'), expect: 1 },
    { name: "another strong tag", held: [tagged('"a"')], got: tagged('"b"'), expect: null },
    { name: "a strong tag where the stored one is weak", held: [tagged('W/"a"')], got: tagged('"a"'), expect: null },
    {
      name: "a strong tag that nobody has outranks a date that matches",
      held: [both('"a"', LATER), dated(LATER)],
      got: both('"b"', LATER),
      expect: null,
    },
    {
      name: "a weak tag, and the most recent that matches",
      held: [tagged('"b"'), tagged('"a"'), tagged('W/"a"')],
      got: tagged('W/"a"'),
      expect: 1,
    },
    { name: "a weak tag that nobody has", held: [tagged('"a"')], got: tagged('W/"b"'), expect: null },
    {
      name: "a weak tag that differs outranks a date that matches",
      held: [both('W/"a"', LATER)],
      got: both('W/"b"', LATER),
      expect: null,
    },
    {
      name: "a date, where the stored response has no tag",
      held: [tagged('"a"'), dated(LATER)],
      got: both('W/"b"', LATER),
      expect: 1,
    },
    {
      name: "a date, where the 304 has no tag",
      held: [both('"a"', LATER), both('"b"', LATER)],
      got: dated(LATER),
      expect: 0,
    },
    { name: "another date", held: [dated(LATER)], got: dated(EARLIER), expect: null },
    { name: "no validator, and one response", held: [both('"a"', LATER)], got: bare, expect: 0 },
    { name: "no validator, and one response without any", held: [bare], got: bare, expect: 0 },
    { name: "no validator, and two responses", held: [tagged('"a"'), tagged('"b"')], got: bare, expect: null },
    { name: "no validator, and no response", held: [], got: bare, expect: null },
    { name: "a validator, and a response without any", held: [bare], got: tagged('"a"'), expect: null },
  ])("$name: $expect (RFC 9111 §4.3.4)", (row) => {
    expect(selectToFreshen(row.held, row.got)).toBe(row.expect);
  });
});

describe("freshenedByHead", () => {
  test.each<{
    name: string;
    stored?: Validators;
    head: Validators;
    contentLength?: string;
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
      contentLength: "10",
      expect: "freshen",
    },
    { name: "one byte less", stored: tagged('"a"'), head: tagged('"a"'), contentLength: "9", expect: "invalidate" },
    { name: "one byte more", stored: tagged('"a"'), head: tagged('"a"'), contentLength: "11", expect: "invalidate" },
    {
      name: "a length that is none",
      stored: tagged('"a"'),
      head: tagged('"a"'),
      contentLength: "x",
      expect: "freshen",
    },
    {
      name: "no validator, but another length",
      stored: tagged('"a"'),
      head: bare,
      contentLength: "9",
      expect: "invalidate",
    },
    {
      name: "no validator, but the same length",
      stored: tagged('"a"'),
      head: bare,
      contentLength: "10",
      expect: "nothing",
    },
    { name: "nothing to compare", stored: tagged('"a"'), head: bare, expect: "nothing" },
  ])("$name: $expect (RFC 9111 §4.3.5)", (row) => {
    const stored = { ...(row.stored ?? bare), bodyBytes: 10 };
    expect(freshenByHead(stored, { ...row.head, contentLength: row.contentLength ?? null })).toBe(row.expect);
  });
});

test("what was validated alone is selected by a 304 that repeats its validators", () => {
  const tag = fc.constantFrom(null, '"a"', 'W/"a"', '"b"');
  const validators = fc.record({ etag: tag, lastModified: fc.constantFrom(null, EARLIER, LATER) });
  fc.assert(
    fc.property(validators, (stored) => {
      expect(selectToFreshen([stored], stored)).toBe(0);
    }),
  );
});

test("no text makes these rules throw", () => {
  const text = fc.option(anyText);
  const validators = fc.record({ etag: text, lastModified: text });
  fc.assert(
    fc.property(fc.array(validators, { maxLength: 3 }), validators, text, (held, got, contentLength) => {
      const fields = validationFields(held);
      expect(fields === null || fields.length > 0).toBe(true);
      const index = selectToFreshen(held, got);
      expect(index === null || index < held.length).toBe(true);
      const verdict = freshenByHead({ ...got, bodyBytes: 1 }, { ...got, contentLength });
      expect(["freshen", "invalidate", "nothing"]).toContain(verdict);
    }),
  );
});
