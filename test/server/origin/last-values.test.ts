import fc from "fast-check";
import { expect, test } from "vitest";
import { LastValues } from "../../../server/origin/last-values.ts";

test("each value is given back as it came, however many names and values came before, and however long it is", () => {
  const value = fc.oneof(fc.constantFrom("", "a", "b"), fc.string({ maxLength: 300 }));
  const name = fc.oneof(fc.constantFrom("date", "server"), fc.string({ maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 400 }), (fields) => {
      const values = new LastValues();
      expect(fields.map(([each, text]) => values.textOf(each, text))).toEqual(fields.map(([, text]) => text));
    }),
  );
});
