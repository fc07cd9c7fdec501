import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rangeStillHolds } from "../../../worker/rules/validation/conditions.ts";
import { anyText } from "../fields/any-text.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const MODIFIED = "Thu, 01 Jan 2026 12:00:00 GMT";
const NEXT_SECOND = "Thu, 01 Jan 2026 12:00:01 GMT";
const SECOND_AFTER = "Thu, 01 Jan 2026 12:00:02 GMT";
const BEFORE = "Thu, 01 Jan 2026 11:59:59 GMT";

describe("rangeStillHolds", () => {
  test.each<{
    name: string;
    rfc: string;
    ifRange: string | null;
    etag?: string;
    lastModified?: string;
    date?: string;
    expect: boolean;
  }>([
    { name: "without a condition a range counts", rfc: "§13.1.5", ifRange: null, expect: true },
    { name: "the same strong tag", rfc: "§13.1.5", ifRange: '"a"', etag: '"a"', expect: true },
    { name: "spaces around it mean nothing", rfc: "§5.5", ifRange: ' "a" ', etag: '"a"', expect: true },
    { name: "another tag", rfc: "§13.1.5", ifRange: '"b"', etag: '"a"', expect: false },
    { name: "no stored tag", rfc: "§13.1.5", ifRange: '"a"', expect: false },
    { name: "a weak tag of the client", rfc: "§8.8.3.2", ifRange: 'W/"a"', etag: '"a"', expect: false },
    { name: "a weak tag in store", rfc: "§8.8.3.2", ifRange: '"a"', etag: 'W/"a"', expect: false },
    { name: "the same weak tag on both sides", rfc: "§8.8.3.2", ifRange: 'W/"a"', etag: 'W/"a"', expect: false },
    { name: "a list of tags is malformed", rfc: "§13.1.5", ifRange: '"a", "b"', etag: '"a"', expect: false },
    { name: "a tag without quotes is malformed", rfc: "§13.1.5", ifRange: "a", etag: "a", expect: false },
    { name: "a star is malformed", rfc: "§13.1.5", ifRange: "*", etag: '"a"', expect: false },
    { name: "an empty field is malformed", rfc: "§13.1.5", ifRange: "", etag: '"a"', expect: false },
    {
      name: "a date in the same second as the response",
      rfc: "§8.8.2.2",
      ifRange: MODIFIED,
      lastModified: MODIFIED,
      date: MODIFIED,
      expect: false,
    },
    {
      name: "a date one second before the response",
      rfc: "§8.8.2.2",
      ifRange: MODIFIED,
      lastModified: MODIFIED,
      date: NEXT_SECOND,
      expect: true,
    },
    {
      name: "a date two seconds before the response",
      rfc: "§8.8.2.2",
      ifRange: MODIFIED,
      lastModified: MODIFIED,
      date: SECOND_AFTER,
      expect: true,
    },
    {
      name: "a date after the response",
      rfc: "§8.8.2.2",
      ifRange: MODIFIED,
      lastModified: MODIFIED,
      date: BEFORE,
      expect: false,
    },
    { name: "a response without Date", rfc: "§8.8.2.2", ifRange: MODIFIED, lastModified: MODIFIED, expect: false },
    {
      name: "an earlier date is not the same",
      rfc: "§13.1.5",
      ifRange: BEFORE,
      lastModified: MODIFIED,
      date: SECOND_AFTER,
      expect: false,
    },
    {
      name: "a later date is not the same",
      rfc: "§13.1.5",
      ifRange: NEXT_SECOND,
      lastModified: MODIFIED,
      date: SECOND_AFTER,
      expect: false,
    },
    {
      name: "the same instant in the form with a two-digit year",
      rfc: "§5.6.7",
      ifRange: "Thursday, 01-Jan-26 12:00:00 GMT",
      lastModified: MODIFIED,
      date: SECOND_AFTER,
      expect: true,
    },
    {
      name: "the same instant, and the stored dates have a two-digit year",
      rfc: "§5.6.7",
      ifRange: MODIFIED,
      lastModified: "Thursday, 01-Jan-26 12:00:00 GMT",
      date: "Thursday, 01-Jan-26 12:00:02 GMT",
      expect: true,
    },
    { name: "no stored Last-Modified", rfc: "§13.1.5", ifRange: MODIFIED, date: SECOND_AFTER, expect: false },
    {
      name: "the same text that is no date",
      rfc: "§13.1.5",
      ifRange: "yesterday",
      lastModified: "yesterday",
      date: SECOND_AFTER,
      expect: false,
    },
  ])("$name: $expect (RFC 9110 $rfc)", (row) => {
    const { ifRange, etag = null, lastModified = null, date = null } = row;
    expect(rangeStillHolds(ifRange, { etag, lastModified, date }, NOON)).toBe(row.expect);
  });

  test("no text makes it throw, and no text that is neither tag nor date holds", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        fc.pre(!/^\s*(?:W\/)?"/.test(text));
        expect(rangeStillHolds(text, { etag: text, lastModified: text, date: SECOND_AFTER }, NOON)).toBe(false);
      }),
    );
  });
});
