import { expect, test } from "vitest";
import { Counters } from "../../worker/metrics/counters.ts";

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

test("a log that takes no purges is not said to be out of reach, and one that cannot be read is, once", () => {
  const lines: string[] = [];
  const counters = new Counters("http://origin.test", (line) => lines.push(line));
  const cause = new Error("its disk is full");
  counters.report({ kind: "log-failed", cause, isPurge: true });
  counters.report({ kind: "log-read", purges: 0 });
  expect(lines).toEqual([]);
  for (let turn = 0; turn < 2; turn++) counters.report({ kind: "log-failed", cause });
  counters.report({ kind: "log-failed", cause, isPurge: true });
  for (let turn = 0; turn < 2; turn++) counters.report({ kind: "log-read", purges: 0 });
  expect(lines).toEqual([
    "The purge log cannot be reached (Error: its disk is full). Until it answers, requests go to the origin.",
    "The purge log answers again.",
  ]);
  expect(counters.counts().log.failedReads).toBe(4);
});
