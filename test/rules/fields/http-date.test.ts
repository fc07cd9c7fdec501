import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseHttpDate } from "../../../worker/rules/fields/http-date.ts";

const NOON = Date.UTC(2026, 0, 1, 12);

const dates: readonly { name: string; rfc: string; text: string; expect: number | undefined }[] = [
  { name: "the preferred form", rfc: "9110 §5.6.7", text: "Thu, 01 Jan 2026 12:00:00 GMT", expect: NOON },
  { name: "the form of RFC 850", rfc: "9110 §5.6.7", text: "Thursday, 01-Jan-26 12:00:00 GMT", expect: NOON },
  { name: "the form of asctime", rfc: "9110 §5.6.7", text: "Thu Jan  1 12:00:00 2026", expect: NOON },
  {
    name: "asctime with two digits of a day",
    rfc: "9110 §5.6.7",
    text: "Sun Nov 16 08:49:37 1994",
    expect: Date.UTC(1994, 10, 16, 8, 49, 37),
  },
  {
    name: "surrounding white space is ignored",
    rfc: "9110 §5.5",
    text: " \tThu, 01 Jan 2026 12:00:00 GMT ",
    expect: NOON,
  },
  { name: "letter case does not count", rfc: "9111 §4.2", text: "thu, 01 JAN 2026 12:00:00 gmt", expect: NOON },
  {
    name: "a wrong day of the week does not matter",
    rfc: "9110 §5.6.7",
    text: "Mon, 01 Jan 2026 12:00:00 GMT",
    expect: NOON,
  },
  {
    name: "a leap second counts as the first second of the next minute",
    rfc: "9110 §5.6.7",
    text: "Sat, 31 Dec 2016 23:59:60 GMT",
    expect: Date.UTC(2017, 0, 1),
  },
  {
    name: "29 February is a day of a leap year",
    rfc: "9110 §5.6.7",
    text: "Thu, 29 Feb 2024 00:00:00 GMT",
    expect: Date.UTC(2024, 1, 29),
  },
  {
    name: "2000 was a leap year",
    rfc: "9110 §5.6.7",
    text: "Tue, 29 Feb 2000 00:00:00 GMT",
    expect: Date.UTC(2000, 1, 29),
  },
  {
    name: "years below 100 are read literally",
    rfc: "9110 §5.6.7",
    text: "Thu, 01 Jan 0026 00:00:00 GMT",
    expect: Date.parse("0026-01-01T00:00:00Z"),
  },
  ...[
    "",
    "0",
    "-1",
    "Thu, 01 Jan 2026 12:00:00 UTC",
    "Thu, 01 Jan 2026 12:00:00 +0000",
    "Thu, 01 Jan 2026 12:00:00",
    "Thu, 1 Jan 2026 12:00:00 GMT",
    "Thu, 01 Jan 26 12:00:00 GMT",
    "Thu, 00 Jan 2026 12:00:00 GMT",
    "Thu, 32 Jan 2026 12:00:00 GMT",
    "Tue, 31 Feb 2026 12:00:00 GMT",
    "Sun, 29 Feb 2026 12:00:00 GMT",
    "Sun, 29 Feb 1900 12:00:00 GMT",
    "Fri, 31 Apr 2026 12:00:00 GMT",
    "Thu, 01 Foo 2026 12:00:00 GMT",
    "Thu, 01 Jan 2026 24:00:00 GMT",
    "Thu, 01 Jan 2026 12:60:00 GMT",
    "Thu, 01 Jan 2026 12:00:61 GMT",
    "Thu Jan 1 12:00:00 2026",
    "Thu Jan  1 12:00:00 2026 GMT",
    "Thursday, 32-Jan-26 12:00:00 GMT",
    "2026-01-01T12:00:00Z",
    "Thu, 01 Jan 2026 12:00:00 GMT, Thu, 01 Jan 2026 12:00:00 GMT",
  ].map((text) => ({ name: `${JSON.stringify(text)} is not a date`, rfc: "9110 §5.6.7", text, expect: undefined })),
];

describe("parseHttpDate", () => {
  test.each(dates)("$name (RFC $rfc)", ({ text, expect: expected }) => {
    expect(parseHttpDate(text, NOON)).toBe(expected);
  });

  test.each([
    ["just inside 50 years ahead is ahead", "Wednesday, 01-Jan-76 11:59:59 GMT", Date.UTC(2076, 0, 1, 11, 59, 59)],
    ["50 years ahead is ahead", "Wednesday, 01-Jan-76 12:00:00 GMT", Date.UTC(2076, 0, 1, 12)],
    [
      "more than 50 years ahead is the century before",
      "Wednesday, 01-Jan-76 12:00:01 GMT",
      Date.UTC(1976, 0, 1, 12, 0, 1),
    ],
    ["a year of the century before", "Sunday, 06-Nov-94 08:49:37 GMT", Date.UTC(1994, 10, 6, 8, 49, 37)],
  ])("two digits of a year: %s (RFC 9110 §5.6.7)", (_, text, expected) => {
    expect(parseHttpDate(text, NOON)).toBe(expected);
  });

  test("a two-digit year may refer to the next or previous century (RFC 9110 §5.6.7)", () => {
    expect(parseHttpDate("Saturday, 01-Jan-05 00:00:00 GMT", Date.UTC(1999, 0, 1))).toBe(Date.UTC(2005, 0, 1));
  });

  test("an absent field is not a date", () => {
    expect(parseHttpDate(null, NOON)).toBeUndefined();
  });

  test("every instant survives printing and parsing", () => {
    const second = fc.integer({ min: -50_000_000_000, max: 250_000_000_000 });
    fc.assert(
      fc.property(second, (seconds) => {
        const date = new Date(seconds * 1000);
        fc.pre(date.getUTCFullYear() >= 1000 && date.getUTCFullYear() <= 9999);
        expect(parseHttpDate(date.toUTCString(), NOON)).toBe(date.getTime());
      }),
    );
  });

  test("every day of four hundred years survives printing and parsing, even in the first century", () => {
    const wrong: string[] = [];
    for (let at = Date.parse("0000-01-01"); at < Date.parse("0400-01-02"); at += 86_400_000) {
      const text = new Date(at).toUTCString();
      if (parseHttpDate(text, NOON) !== at) wrong.push(text);
    }
    expect(wrong).toEqual([]);
  });

  test("never throws", { tags: ["gate"] }, () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), fc.integer(), (text, now) => void parseHttpDate(text, now)));
  });
});
