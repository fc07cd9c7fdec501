import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { freshenFields } from "../../../worker/rules/validation/freshen.ts";

type Lines = readonly (readonly [name: string, value: string])[];

describe("freshenedFields", () => {
  test.each<{ name: string; rfc: string; stored: Lines; from304: Lines; expect: Lines }>([
    {
      name: "fields of the 304 replace those of the same name",
      rfc: "9111 §3.2",
      stored: [["cache-control", "max-age=1"]],
      from304: [["cache-control", "max-age=2"]],
      expect: [["cache-control", "max-age=2"]],
    },
    {
      name: "fields that the 304 does not have stay",
      rfc: "9111 §3.2",
      stored: [
        ["x-a", "1"],
        ["etag", '"a"'],
      ],
      from304: [["date", "now"]],
      expect: [
        ["x-a", "1"],
        ["etag", '"a"'],
        ["date", "now"],
      ],
    },
    {
      name: "all lines of a name are replaced by all lines of the 304",
      rfc: "9111 §3.2",
      stored: [
        ["link", "1"],
        ["link", "2"],
      ],
      from304: [
        ["link", "3"],
        ["link", "4"],
      ],
      expect: [["link", "3, 4"]],
    },
    {
      name: "Content-Type is replaced, and a security policy, too",
      rfc: "9111 §3.2",
      stored: [
        ["content-type", "text/html"],
        ["content-security-policy", "old"],
      ],
      from304: [
        ["content-type", "text/html; charset=utf-8"],
        ["content-security-policy", "new"],
      ],
      expect: [
        ["content-type", "text/html; charset=utf-8"],
        ["content-security-policy", "new"],
      ],
    },
    {
      name: "what describes the stored bytes stays",
      rfc: "9111 §3.2",
      stored: [
        ["content-length", "5"],
        ["content-encoding", "gzip"],
      ],
      from304: [
        ["content-length", "0"],
        ["content-encoding", "br"],
        ["content-range", "bytes 0-1/2"],
      ],
      expect: [
        ["content-length", "5"],
        ["content-encoding", "gzip"],
      ],
    },
    {
      name: "a cookie of the 304 is not kept",
      rfc: "9111 §7.3",
      stored: [["x-a", "1"]],
      from304: [["set-cookie", "session=2"]],
      expect: [["x-a", "1"]],
    },
    {
      name: "hop-by-hop fields are not taken, those that Connection names included",
      rfc: "9110 §7.6.1",
      stored: [["x-mine", "1"]],
      from304: [
        ["connection", "close"],
        ["connection", "X-Mine"],
        ["keep-alive", "timeout=5"],
        ["transfer-encoding", "chunked"],
        ["x-mine", "2"],
      ],
      expect: [["x-mine", "1"]],
    },
  ])("$name (RFC $rfc)", (row) => {
    expect([...freshenFields(new Fields(row.stored), new Fields(row.from304))]).toEqual(row.expect);
  });

  test("freshening twice with the same 304 is freshening once", () => {
    const name = fc.constantFrom("x-a", "x-b", "connection", "content-length", "set-cookie", "date");
    const lines = fc.array(fc.tuple(name, fc.constantFrom("x-a", "x-b", "1", "")), { maxLength: 6 });
    const fields = lines.map((each) => new Fields(each));
    fc.assert(
      fc.property(fields, fields, (stored, from304) => {
        const once = freshenFields(stored, from304);
        expect([...freshenFields(once, from304)]).toEqual([...once]);
      }),
    );
  });
});
