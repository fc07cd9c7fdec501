import { describe, expect, test } from "vitest";
import { isNotModified } from "../../worker/rules/not-modified.ts";

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
  expect: boolean;
}[] = [
  { name: "the same tag is held", rfc: "§13.1.2", ifNoneMatch: '"a"', etag: '"a"', expect: true },
  { name: "another tag is not", rfc: "§13.1.2", ifNoneMatch: '"b"', etag: '"a"', expect: false },
  { name: "weak tags compare by what they name", rfc: "§8.8.3.2", ifNoneMatch: 'W/"a"', etag: '"a"', expect: true },
  {
    name: "a strong tag of the client matches a weak one in store",
    rfc: "§8.8.3.2",
    ifNoneMatch: '"a"',
    etag: 'W/"a"',
    expect: true,
  },
  { name: "one of a list is enough", rfc: "§13.1.2", ifNoneMatch: '"x", W/"a", "y"', etag: '"a"', expect: true },
  { name: "a comma in a tag does not split it", rfc: "§8.8.3", ifNoneMatch: '"a,b"', etag: '"b"', expect: false },
  { name: "a star is any stored response", rfc: "§13.1.2", ifNoneMatch: " * ", expect: true },
  { name: "tags differ in case", rfc: "§8.8.3", ifNoneMatch: '"A"', etag: '"a"', expect: false },
  { name: "without a stored tag nothing matches", rfc: "§13.1.2", ifNoneMatch: '"a"', expect: false },
  {
    name: "a tag that does not match outranks a date that would",
    rfc: "§13.1.3",
    ifNoneMatch: '"b"',
    ifModifiedSince: LATER,
    etag: '"a"',
    lastModified: MODIFIED,
    expect: false,
  },
  {
    name: "a malformed tag outranks a date, too",
    rfc: "§13.1.3",
    ifNoneMatch: "a",
    ifModifiedSince: LATER,
    etag: '"a"',
    lastModified: MODIFIED,
    expect: false,
  },
  {
    name: "not modified since that second",
    rfc: "§13.1.3",
    ifModifiedSince: MODIFIED,
    lastModified: MODIFIED,
    expect: true,
  },
  {
    name: "not modified since a later one",
    rfc: "§13.1.3",
    ifModifiedSince: LATER,
    lastModified: MODIFIED,
    expect: true,
  },
  {
    name: "modified since an earlier one",
    rfc: "§13.1.3",
    ifModifiedSince: EARLIER,
    lastModified: MODIFIED,
    expect: false,
  },
  {
    name: "a date that is none is passed over",
    rfc: "§13.1.3",
    ifModifiedSince: "yesterday",
    lastModified: MODIFIED,
    expect: false,
  },
  { name: "without a stored date nothing is known", rfc: "§13.1.3", ifModifiedSince: LATER, expect: false },
];

describe("isNotModified", () => {
  test.each(cases)("$name (RFC 9110 $rfc)", (row) => {
    const { ifNoneMatch = null, ifModifiedSince = null, etag = null, lastModified = null } = row;
    expect(isNotModified({ ifNoneMatch, ifModifiedSince }, { etag, lastModified })).toBe(row.expect);
  });
});
