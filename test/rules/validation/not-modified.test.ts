import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isNotModified } from "../../../worker/rules/validation/conditions.ts";
import { anyText } from "../fields/any-text.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const MODIFIED = "Thu, 01 Jan 2026 12:00:00 GMT";
const LATER = "Thu, 01 Jan 2026 12:00:01 GMT";
const EARLIER = "Thu, 01 Jan 2026 11:59:59 GMT";

const cases: readonly {
  name: string;
  rfc: string;
  ifNoneMatch?: string;
  ifModifiedSince?: string;
  etag?: string;
  lastModified?: string;
  date?: string;
  expect: boolean;
}[] = [
  { name: "the same tag is held", rfc: "9110 §13.1.2", ifNoneMatch: '"a"', etag: '"a"', expect: true },
  { name: "another tag is not", rfc: "9110 §13.1.2", ifNoneMatch: '"b"', etag: '"a"', expect: false },
  {
    name: "weak tags compare by what they name",
    rfc: "9110 §8.8.3.2",
    ifNoneMatch: 'W/"a"',
    etag: '"a"',
    expect: true,
  },
  {
    name: "a strong tag of the client matches a weak one in store",
    rfc: "9110 §8.8.3.2",
    ifNoneMatch: '"a"',
    etag: 'W/"a"',
    expect: true,
  },
  { name: "one of a list is enough", rfc: "9110 §13.1.2", ifNoneMatch: '"x", W/"a", "y"', etag: '"a"', expect: true },
  { name: "a comma in a tag does not split it", rfc: "9110 §8.8.3", ifNoneMatch: '"a,b"', etag: '"b"', expect: false },
  { name: "a star is any stored response", rfc: "9110 §13.1.2", ifNoneMatch: " * ", expect: true },
  { name: "entity tags are case-sensitive", rfc: "9110 §8.8.3", ifNoneMatch: '"A"', etag: '"a"', expect: false },
  { name: "without a stored tag nothing matches", rfc: "9110 §13.1.2", ifNoneMatch: '"a"', expect: false },
  {
    name: "a tag that does not match outranks a date that would",
    rfc: "9110 §13.1.3",
    ifNoneMatch: '"b"',
    ifModifiedSince: LATER,
    etag: '"a"',
    lastModified: MODIFIED,
    expect: false,
  },
  {
    name: "a malformed tag outranks a date, too",
    rfc: "9110 §13.1.3",
    ifNoneMatch: "a",
    ifModifiedSince: LATER,
    etag: '"a"',
    lastModified: MODIFIED,
    expect: false,
  },
  {
    name: "not modified since that second",
    rfc: "9110 §13.1.3",
    ifModifiedSince: MODIFIED,
    lastModified: MODIFIED,
    expect: true,
  },
  {
    name: "not modified since a later one",
    rfc: "9110 §13.1.3",
    ifModifiedSince: LATER,
    lastModified: MODIFIED,
    expect: true,
  },
  {
    name: "modified since an earlier one",
    rfc: "9110 §13.1.3",
    ifModifiedSince: EARLIER,
    lastModified: MODIFIED,
    expect: false,
  },
  {
    name: "a date that is none is passed over",
    rfc: "9110 §13.1.3",
    ifModifiedSince: "yesterday",
    lastModified: MODIFIED,
    expect: false,
  },
  {
    name: "a tag that matches outranks a date that would not",
    rfc: "9110 §13.1.3",
    ifNoneMatch: '"a"',
    ifModifiedSince: EARLIER,
    etag: '"a"',
    lastModified: MODIFIED,
    expect: true,
  },
  {
    name: "an empty list of tags outranks a date, too",
    rfc: "9110 §13.1.3",
    ifNoneMatch: "",
    ifModifiedSince: LATER,
    etag: '"a"',
    lastModified: MODIFIED,
    expect: false,
  },
  {
    name: "a star outranks a date",
    rfc: "9110 §13.2.2",
    ifNoneMatch: "*",
    ifModifiedSince: EARLIER,
    lastModified: MODIFIED,
    expect: true,
  },
  { name: "a star in quotes is a tag", rfc: "9110 §13.1.2", ifNoneMatch: '"*"', etag: '"a"', expect: false },
  ...['"a', '"a;b', "a b", "a, b"].map((same) => ({
    name: `the malformed tag ${same} is held if it comes back as it is`,
    rfc: "9110 §8.8.3",
    ifNoneMatch: same,
    etag: same,
    expect: true,
  })),
  { name: "the same tag without quotes is held", rfc: "9110 §8.8.3", ifNoneMatch: "a", etag: "a", expect: true },
  ...['"a"', "a, b", "a b", "b"].map((other) => ({
    name: `a tag without quotes is not that of ${other}`,
    rfc: "9110 §8.8.3",
    ifNoneMatch: other,
    etag: "a",
    expect: false,
  })),
  { name: "nor is one with quotes", rfc: "9110 §8.8.3", ifNoneMatch: "a", etag: '"a"', expect: false },
  {
    name: "two dates are no date",
    rfc: "9110 §13.1.3",
    ifModifiedSince: `${LATER}, ${LATER}`,
    lastModified: MODIFIED,
    expect: false,
  },
  {
    name: "a date of another form is passed over",
    rfc: "9110 §5.6.7",
    ifModifiedSince: "2026-01-01T12:00:01Z",
    lastModified: MODIFIED,
    expect: false,
  },
  {
    name: "a stored date that is none is passed over",
    rfc: "9110 §13.1.3",
    ifModifiedSince: LATER,
    lastModified: "yesterday",
    date: MODIFIED,
    expect: false,
  },
  {
    name: "Date stands in for Last-Modified, in the same second",
    rfc: "9111 §4.3.2",
    ifModifiedSince: MODIFIED,
    date: MODIFIED,
    expect: true,
  },
  {
    name: "Date stands in for Last-Modified, and is later",
    rfc: "9111 §4.3.2",
    ifModifiedSince: MODIFIED,
    date: LATER,
    expect: false,
  },
  {
    name: "Date does not stand in for a Last-Modified that is there",
    rfc: "9111 §4.3.2",
    ifModifiedSince: MODIFIED,
    lastModified: LATER,
    date: EARLIER,
    expect: false,
  },
  ...[
    ["Thursday, 01-Jan-26 12:00:00 GMT", MODIFIED, true],
    ["Thursday, 01-Jan-26 11:59:59 GMT", MODIFIED, false],
    ["Thu Jan  1 12:00:00 2026", MODIFIED, true],
    [MODIFIED, "Thursday, 01-Jan-26 12:00:00 GMT", true],
    [EARLIER, "Thursday, 01-Jan-26 12:00:00 GMT", false],
    [MODIFIED, "Saturday, 01-Jan-77 12:00:00 GMT", true],
  ].map(([since, modified, held]) => ({
    name: `of ${modified}, asked for since ${since}, in any form: ${held}`,
    rfc: "9110 §5.6.7",
    ifModifiedSince: since as string,
    lastModified: modified as string,
    expect: held as boolean,
  })),
  { name: "without a stored date nothing is known", rfc: "9110 §13.1.3", ifModifiedSince: LATER, expect: false },
];

describe("isNotModified", () => {
  test.each(cases)("$name (RFC $rfc)", (row) => {
    const { ifNoneMatch = null, ifModifiedSince = null, etag = null, lastModified = null, date = null } = row;
    expect(isNotModified({ ifNoneMatch, ifModifiedSince }, { etag, lastModified, date }, NOON)).toBe(row.expect);
  });

  test("no text makes it throw, and beside If-None-Match a date says nothing", () => {
    const text = fc.option(anyText);
    fc.assert(
      fc.property(anyText, text, text, text, (ifNoneMatch, ifModifiedSince, etag, lastModified) => {
        const withDate = isNotModified({ ifNoneMatch, ifModifiedSince }, { etag, lastModified }, NOON);
        expect(withDate).toBe(isNotModified({ ifNoneMatch, ifModifiedSince: null }, { etag, lastModified }, NOON));
      }),
    );
  });
});
