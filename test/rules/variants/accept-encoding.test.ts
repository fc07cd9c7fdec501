import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  acceptedCodings,
  acceptsCoding,
  CODINGS,
  codingsText,
  coversCodings,
  includesCoding,
  onlyCoding,
} from "../../../worker/rules/variants/accept-encoding.ts";
import { anyText } from "../fields/any-text.ts";

const SETS = ["identity", "br", "gzip", "br, gzip", "zstd", "br, zstd", "gzip, zstd", "br, gzip, zstd"];

/** Fields as clients might write them, and sometimes any text. */
const anyField = fc.oneof(
  fc.string(),
  fc
    .array(
      fc
        .tuple(
          fc.constantFrom("gzip", "x-gzip", "GZip", "br", "zstd", "deflate", "identity", "*", "", "a b"),
          fc.constantFrom("", ";q=0", "; q=0.000", ";Q=1", ";q=0.5", ";q=2", ";level=9", ";"),
        )
        .map((parts) => parts.join("")),
      { maxLength: 6 },
    )
    .map((members) => members.join(" , ")),
);

describe("acceptedCodings", () => {
  test.each<{ name: string; rfc: string; field: string | null; expect: string }>([
    { name: "a client that says nothing gets no coding", rfc: "§12.5.3", field: null, expect: "identity" },
    { name: "an empty field accepts no coding", rfc: "§12.5.3", field: "", expect: "identity" },
    {
      name: "what Chrome and Firefox send",
      rfc: "§12.5.3",
      field: "gzip, deflate, br, zstd",
      expect: "br, gzip, zstd",
    },
    { name: "what Safari sends", rfc: "§12.5.3", field: "gzip, deflate, br", expect: "br, gzip" },
    { name: "order does not matter", rfc: "§12.5.3", field: "br,gzip", expect: "br, gzip" },
    { name: "preferences do not matter", rfc: "§12.5.3", field: "br;q=0.1, gzip;q=0.9", expect: "br, gzip" },
    { name: "identity is no coding", rfc: "§12.5.3", field: "identity", expect: "identity" },
    { name: "x-gzip is gzip", rfc: "§8.4.1.3", field: "x-gzip", expect: "gzip" },
    { name: "codings are the same in any case", rfc: "§8.4.1", field: "GZIP, Br", expect: "br, gzip" },
    { name: "deflate is not told apart", rfc: "§12.5.3", field: "deflate, compress", expect: "identity" },
    { name: "a weight of zero refuses", rfc: "§12.4.2", field: "gzip;q=0, br", expect: "br" },
    { name: "a weight of zero with decimals refuses", rfc: "§12.4.2", field: "gzip;q=0.000, br", expect: "br" },
    { name: "the smallest weight accepts", rfc: "§12.4.2", field: "gzip;q=0.001", expect: "gzip" },
    { name: "the largest weight accepts", rfc: "§12.4.2", field: "gzip;q=1.000", expect: "gzip" },
    { name: "a weight above one is malformed", rfc: "§12.4.2", field: "gzip;q=1.001, br", expect: "br" },
    { name: "a weight with four decimals is malformed", rfc: "§12.4.2", field: "gzip;q=0.1234, br", expect: "br" },
    { name: "a weight that is no number is malformed", rfc: "§12.4.2", field: "gzip;q=high, br", expect: "br" },
    { name: "a parameter that is no weight is malformed", rfc: "§12.4.2", field: "gzip;level=9, br", expect: "br" },
    { name: "a malformed mention refuses nothing", rfc: "§12.4.2", field: "gzip;q=x, gzip", expect: "gzip" },
    { name: "spaces around the semicolon are allowed", rfc: "§12.4.2", field: "gzip ; Q=0 , br ; q=1", expect: "br" },
    { name: "a star is all codings", rfc: "§12.5.3", field: "*", expect: "br, gzip, zstd" },
    { name: "a star is not what is refused by name", rfc: "§12.5.3", field: "br;q=0, *", expect: "gzip, zstd" },
    { name: "a refused star refuses what is not named", rfc: "§12.5.3", field: "gzip, *;q=0", expect: "gzip" },
    { name: "a refused star alone refuses everything", rfc: "§12.5.3", field: "*;q=0", expect: "identity" },
    { name: "of two mentions the refusal counts", rfc: "§12.5.3", field: "gzip;q=0, gzip", expect: "identity" },
    { name: "empty members are none", rfc: "§5.6.1.2", field: ", ,gzip,,", expect: "gzip" },
    {
      name: "a name that only begins like a coding is none",
      rfc: "§12.5.3",
      field: "gzipped, brotli",
      expect: "identity",
    },
  ])("$name (RFC 9110 $rfc)", (row) => {
    expect(acceptedCodings(row.field)).toBe(row.expect);
  });

  test("whatever is sent, the result is one of eight texts, and reading it again changes nothing", () => {
    fc.assert(
      fc.property(anyField, (field) => {
        const accepted = acceptedCodings(field);
        expect(SETS).toContain(accepted);
        expect(acceptedCodings(accepted)).toBe(accepted);
      }),
    );
  });
});

describe("acceptsCoding", () => {
  test.each<{ name: string; accepted: string; coding: string; expect: boolean }>([
    { name: "content with an empty field is for everybody", accepted: "identity", coding: "", expect: true },
    { name: "content that is said to be identity, too", accepted: "br", coding: "Identity", expect: true },
    { name: "a coding that is accepted", accepted: "br, gzip", coding: "gzip", expect: true },
    { name: "a coding that is not", accepted: "br, gzip", coding: "zstd", expect: false },
    { name: "a coding for a client that accepts none", accepted: "identity", coding: "gzip", expect: false },
    { name: "x-gzip is gzip", accepted: "gzip", coding: "X-GZIP", expect: true },
    { name: "a coding that is not known", accepted: "br, gzip, zstd", coding: "deflate", expect: false },
    { name: "two codings that are both accepted", accepted: "br, gzip", coding: "gzip, br", expect: true },
    { name: "two codings of which one is not", accepted: "gzip", coding: "gzip, br", expect: false },
    { name: "a name that is in the text, but no member", accepted: "br, gzip", coding: "zip", expect: false },
  ])("$name: $coding for $accepted is $expect (RFC 9110 §8.4, §12.5.3)", (row) => {
    expect(acceptsCoding(row.accepted, row.coding)).toBe(row.expect);
  });

  test("a coding is accepted exactly where the client names it", () => {
    fc.assert(
      fc.property(fc.subarray(["br", "gzip", "zstd"]), fc.constantFrom("br", "gzip", "zstd"), (offered, coding) => {
        expect(acceptsCoding(acceptedCodings(offered.join(",")), coding)).toBe(offered.includes(coding));
      }),
    );
  });
});

describe("coversCodings", () => {
  test.each<{ name: string; stored: string; asked: string; expect: boolean }>([
    { name: "the same offer", stored: "br, gzip", asked: "br, gzip", expect: true },
    { name: "a smaller offer", stored: "br, gzip", asked: "gzip", expect: true },
    { name: "no offer is the smallest", stored: "br", asked: "identity", expect: true },
    { name: "a larger offer might have been answered otherwise", stored: "gzip", asked: "br, gzip", expect: false },
    { name: "another offer, too", stored: "gzip", asked: "br", expect: false },
    { name: "any offer is larger than none", stored: "identity", asked: "zstd", expect: false },
  ])("$name: $stored for $asked is $expect (RFC 9111 §4.1)", (row) => {
    expect(coversCodings(row.stored, row.asked, "identity")).toBe(row.expect);
  });

  test("one offer covers another exactly if it has all of its codings", () => {
    const offers = fc.subarray(["br", "gzip", "zstd"]);
    fc.assert(
      fc.property(offers, offers, (stored, asked) => {
        const covers = coversCodings(acceptedCodings(stored.join(",")), acceptedCodings(asked.join(",")), "identity");
        expect(covers).toBe(asked.every((coding) => stored.includes(coding)));
      }),
    );
  });
});

describe("what the origin passes over", () => {
  test.each<[stored: string, asked: string, passedOver: string, boolean]>([
    ["gzip", "br, gzip, zstd", "br, zstd", true],
    ["gzip", "br, gzip, zstd", "br", false],
    ["identity", "br", "br", true],
    ["gzip", "br, gzip", "identity", false],
  ])("an answer to %s for one who asks for %s, if %s do not count: %s", (stored, asked, passedOver, expected) => {
    expect(coversCodings(stored, asked, passedOver)).toBe(expected);
  });

  test("sets are written as accepted codings are", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...CODINGS]), (codings) => {
        expect(codingsText(codings)).toBe(acceptedCodings(codings.join(",")));
        expect(CODINGS.filter((each) => includesCoding(codingsText(codings), each))).toEqual([...codings].sort());
      }),
    );
  });

  test.each([
    ["gzip", "gzip"],
    [" X-GZIP ", "gzip"],
    ["br", "br"],
    ["gzip, br", null],
    ["identity", null],
    ["", null],
    [null, null],
  ])("the one coding of %j is %j", (text, expected) => {
    expect(onlyCoding(text)).toBe(expected);
  });
});

test("no text makes these rules throw", () => {
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      expect(typeof acceptedCodings(one)).toBe("string");
      expect(typeof acceptsCoding(one, other)).toBe("boolean");
      expect(typeof coversCodings(one, other, "identity")).toBe("boolean");
    }),
  );
});
