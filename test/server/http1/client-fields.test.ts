import fc from "fast-check";
import { expect, test } from "vitest";
import { ClientFields } from "../../../server/http1/client-fields.ts";
import { Fields } from "../../../worker/rules/fields/fields.ts";

const name = fc.constantFrom(
  "a",
  "A",
  "cookie",
  "Cookie",
  "cOOKIE",
  "x-a",
  "X-B",
  "accept",
  "if-none-match",
  "__proto__",
);
const fields = fc.array(fc.tuple(name, fc.constantFrom("", "1", "two", "a, b")), { maxLength: 8 });

test("they read as the web's class does", () => {
  fc.assert(
    fc.property(fields, (lines) => {
      const headers = new Headers(lines);
      const read = new ClientFields(lines.flat());
      for (const each of [
        "a",
        "cookie",
        "x-a",
        "x-b",
        "x-c",
        "accept",
        "if-none-match",
        "__proto__",
        "authorization",
      ]) {
        expect(read.get(each)).toBe(headers.get(each));
        expect(read.count(each)).toBe(lines.filter(([other]) => other.toLowerCase() === each).length);
      }
      expect([...read].sort()).toEqual([...headers].sort());
      expect([...Fields.copy(read)]).toEqual([...new Fields(lines)].map(([name]) => [name, read.get(name)]));
      expect(read.bytes).toBe(lines.flat().join("").length);
    }),
  );
});
