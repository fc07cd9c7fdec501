import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type MaxForwards, maxForwards } from "../../../worker/rules/forwarding/max-forwards.ts";
import { anyText } from "../fields/any-text.ts";

const forward = (field: string | null): MaxForwards => ({ kind: "forward", field });
const ANSWER: MaxForwards = { kind: "answer" };

describe("maxForwards", () => {
  test.each<{ name: string; method: string; field: string | null; expect: MaxForwards }>([
    { name: "at zero the edge answers OPTIONS", method: "OPTIONS", field: "0", expect: ANSWER },
    { name: "at zero the edge answers TRACE", method: "TRACE", field: "0", expect: ANSWER },
    { name: "zero may have several digits", method: "TRACE", field: "000", expect: ANSWER },
    { name: "one is forwarded as zero", method: "OPTIONS", field: "1", expect: forward("0") },
    { name: "ten is forwarded as nine", method: "TRACE", field: "10", expect: forward("9") },
    {
      name: "a request without the field is forwarded without it",
      method: "OPTIONS",
      field: null,
      expect: forward(null),
    },
    { name: "the largest number that counts", method: "TRACE", field: "2147483647", expect: forward("2147483646") },
    {
      name: "a larger number counts as the largest",
      method: "TRACE",
      field: "2147483648",
      expect: forward("2147483646"),
    },
    {
      name: "a huge number counts as the largest",
      method: "TRACE",
      field: "9".repeat(400),
      expect: forward("2147483646"),
    },
    { name: "a number with a sign is not a number", method: "TRACE", field: "-1", expect: forward("-1") },
    { name: "a word is not a number", method: "TRACE", field: "few", expect: forward("few") },
    { name: "an empty field is not a number", method: "TRACE", field: "", expect: forward("") },
    { name: "it has no effect on GET", method: "GET", field: "0", expect: forward("0") },
    { name: "it has no effect on POST", method: "POST", field: "5", expect: forward("5") },
    { name: "methods are case-sensitive", method: "trace", field: "0", expect: forward("0") },
  ])("$name (RFC 9110 §7.6.2)", (row) => {
    expect(maxForwards(row.method, row.field)).toEqual(row.expect);
  });

  test("a request is forwarded at most as often as the field says", () => {
    fc.assert(
      fc.property(fc.nat(50), (hops) => {
        let verdict = maxForwards("TRACE", String(hops));
        let made = 0;
        while (verdict.kind === "forward") {
          made += 1;
          verdict = maxForwards("TRACE", verdict.field);
        }
        expect(made).toBe(hops);
      }),
    );
  });

  test("no text makes it throw", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        fc.pre(!/^[0-9]+$/.test(text));
        expect(maxForwards("TRACE", text)).toEqual(forward(text));
      }),
    );
  });
});
