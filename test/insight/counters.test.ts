import { expect, test } from "vitest";
import { Counters } from "../../worker/insight/counters.ts";

test("fifty names of unkeyed fields are counted apart, and all others as one", () => {
  const counters = new Counters("http://origin.test", () => undefined);
  const report = (field: string) =>
    counters.report({ kind: "not-stored", because: "unkeyed-field", route: null, url: "/", at: 0, field });
  for (let name = 1; name <= 60; name++) report(`x-${name}`);
  report("x-50");
  report("x-51");

  const { refused, unkeyedFields } = counters.counts().store;
  expect(refused).toEqual({ "unkeyed-field": 62 });
  expect(Object.keys(unkeyedFields)).toHaveLength(51);
  expect(unkeyedFields).toMatchObject({ "x-1": 1, "x-50": 2, "(others)": 11 });
});
