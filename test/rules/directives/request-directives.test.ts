import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type RequestDirectives,
  type RequestDirectivesPolicy,
  readRequestDirectives,
} from "../../../worker/rules/directives/request-directives.ts";

const nothing: RequestDirectives = {
  forbidsStoring: false,
  onlyIfCached: false,
  maxStaleSeconds: 0,
  staleIfErrorSeconds: 0,
  noCache: false,
  maxAgeSeconds: null,
  minFreshSeconds: 0,
};

const cases: readonly {
  name: string;
  rfc: string;
  policy?: RequestDirectivesPolicy;
  fields: { "cache-control"?: string; pragma?: string };
  expect: Partial<RequestDirectives>;
}[] = [
  { name: "without fields, the request asks for nothing", rfc: "9111 §5.2.1", policy: "all", fields: {}, expect: {} },
  {
    name: "harmless directives are obeyed",
    rfc: "9111 §5.2.1",
    fields: { "cache-control": "no-store, only-if-cached, max-stale=30, stale-if-error=60" },
    expect: { forbidsStoring: true, onlyIfCached: true, maxStaleSeconds: 30, staleIfErrorSeconds: 60 },
  },
  {
    name: "a visitor's reload does not send the request to the origin",
    rfc: "9111 §5.2.1.1, §5.2.1.3, §5.2.1.4",
    fields: { "cache-control": "no-cache, max-age=0, min-fresh=60", pragma: "no-cache" },
    expect: {},
  },
  {
    name: "if all directives are obeyed, no-cache, max-age and min-fresh are too",
    rfc: "9111 §5.2.1.1, §5.2.1.3, §5.2.1.4",
    policy: "all",
    fields: { "cache-control": "no-cache, max-age=0, min-fresh=60, no-store" },
    expect: { noCache: true, maxAgeSeconds: 0, minFreshSeconds: 60, forbidsStoring: true },
  },
  {
    name: "a bare max-stale accepts any stale answer",
    rfc: "9111 §5.2.1.2",
    fields: { "cache-control": "max-stale" },
    expect: { maxStaleSeconds: Number.POSITIVE_INFINITY },
  },
  {
    name: "a bare stale-if-error asks for nothing",
    rfc: "5861 §4",
    fields: { "cache-control": "stale-if-error" },
    expect: {},
  },
  {
    name: "quoted numbers and any letter case are read",
    rfc: "9111 §5.2",
    fields: { "cache-control": 'Max-Stale="30"' },
    expect: { maxStaleSeconds: 30 },
  },
  ...["x", "-1", "1.5", ""].map((value) => ({
    name: `a value of ${JSON.stringify(value)} asks for nothing`,
    rfc: "9111 §1.2.2",
    policy: "all" as const,
    fields: { "cache-control": `max-stale=${value}, max-age=${value}, min-fresh=${value}, stale-if-error=${value}` },
    expect: {},
  })),
  {
    name: "if there are duplicates, the strictest counts",
    rfc: "9111 §4.2.1",
    policy: "all",
    fields: {
      "cache-control":
        "max-age=9, max-age=5, min-fresh=5, min-fresh=9, max-stale, max-stale=7, stale-if-error=3, stale-if-error=4",
    },
    expect: { maxAgeSeconds: 5, minFreshSeconds: 9, maxStaleSeconds: 7, staleIfErrorSeconds: 3 },
  },
  {
    name: "a field that cannot be read forbids storing",
    rfc: "9111 §5.2.1.5",
    fields: { "cache-control": "no-store; x" },
    expect: { forbidsStoring: true },
  },
  {
    name: "Pragma: no-cache counts if there is no Cache-Control",
    rfc: "9111 §5.4",
    policy: "all",
    fields: { pragma: "x, No-Cache" },
    expect: { noCache: true },
  },
  {
    name: "Pragma does not count beside Cache-Control",
    rfc: "9111 §5.4",
    policy: "all",
    fields: { pragma: "no-cache", "cache-control": "x" },
    expect: {},
  },
  { name: "another Pragma asks for nothing", rfc: "9111 §5.4", policy: "all", fields: { pragma: "x" }, expect: {} },
];

describe("readRequestDirectives", () => {
  test.each(cases)("$name (RFC $rfc)", ({ policy = "harmless", fields, expect: expected }) => {
    const field = (name: string) => (fields as Record<string, string>)[name] ?? null;
    expect(readRequestDirectives(field, policy)).toEqual({ ...nothing, ...expected });
  });

  test("if only harmless directives are obeyed, a request without Cache-Control costs one look-up of a field", () => {
    const looks: string[] = [];
    readRequestDirectives((name) => {
      looks.push(name);
      return null;
    }, "harmless");
    expect(looks).toEqual(["cache-control"]);
  });

  test("never throws, and never asks for a negative time", () => {
    const member = fc.constantFrom(
      "max-stale",
      "max-age=",
      "max-age=-5",
      "min-fresh=3",
      "no-cache",
      '"',
      ";",
      "no-store",
    );
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(member).map((members) => members.join(",")),
    );
    fc.assert(
      fc.property(text, (value) => {
        const read = readRequestDirectives(() => value, "all");
        expect(read.maxStaleSeconds).toBeGreaterThanOrEqual(0);
        expect(read.minFreshSeconds).toBeGreaterThanOrEqual(0);
        expect(read.maxAgeSeconds ?? 0).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
