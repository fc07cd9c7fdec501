import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCacheControl } from "../../../worker/rules/directives/cache-control.ts";
import { currentAgeMs, initialAgeMs } from "../../../worker/rules/freshness/current-age.ts";
import {
  type FreshnessLifetime,
  freshnessLifetime,
  type LifetimeRules,
} from "../../../worker/rules/freshness/freshness-lifetime.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const at = (seconds: number) => new Date(NOON + seconds * 1000).toUTCString();

const lifetimes: readonly {
  name: string;
  rfc: string;
  cacheControl?: string;
  expires?: string;
  status?: number;
  lastModified?: string;
  date?: string;
  rules?: Partial<LifetimeRules>;
  expect: FreshnessLifetime;
}[] = [
  {
    name: "s-maxage overrides max-age",
    rfc: "§5.2.2.10",
    cacheControl: "max-age=600, s-maxage=60",
    expect: { seconds: 60, source: "s-maxage" },
  },
  {
    name: "max-age overrides Expires",
    rfc: "§5.3",
    cacheControl: "max-age=60",
    expires: at(600),
    expect: { seconds: 60, source: "max-age" },
  },
  { name: "Expires counts from Date", rfc: "§4.2.1", expires: at(90), expect: { seconds: 90, source: "expires" } },
  {
    name: "with an Expires in the past, the response is stale",
    rfc: "§5.3",
    expires: at(-1),
    expect: { seconds: 0, source: "expires" },
  },
  {
    name: "an Expires that is not a date counts as in the past",
    rfc: "§5.3",
    expires: "0",
    expect: { seconds: 0, source: "expires" },
  },
  {
    name: "with an invalid max-age the response is stale, and Expires does not replace it",
    rfc: "§4.2.1",
    cacheControl: "max-age=1h",
    expires: at(600),
    expect: { seconds: 0, source: "max-age" },
  },
  ...[`${at(600)}, ${at(600)}`, `${at(600)}, ${at(900)}`].map((expires) => ({
    name: `an Expires of two dates, ${expires}, is in the past`,
    rfc: "§5.3",
    expires,
    expect: { seconds: 0, source: "expires" as const },
  })),
  {
    name: "an Expires of an obsolete form counts",
    rfc: "§5.3",
    expires: "Thursday, 01-Jan-26 12:01:30 GMT",
    expect: { seconds: 90, source: "expires" },
  },
  {
    name: "an Expires without a Date counts from the arrival",
    rfc: "§4.2.1",
    expires: at(90),
    date: "no date",
    expect: { seconds: 90, source: "expires" },
  },
  {
    name: "with a negative s-maxage the response is stale, and max-age does not replace it",
    rfc: "§4.2.1",
    cacheControl: "max-age=600, s-maxage=-1",
    expect: { seconds: 0, source: "s-maxage" },
  },
  {
    name: "a heuristic lifetime may be a tenth of the time since the last modification",
    rfc: "§4.2.2",
    lastModified: at(-1000),
    rules: { heuristic: { fraction: 0.1, maxSeconds: 3600 } },
    expect: { seconds: 100, source: "heuristic" },
  },
  ...([35_990, 36_000, 36_010] as const).map((agoSeconds) => ({
    name: `a page unchanged for ${agoSeconds} s gets a heuristic lifetime of at most an hour`,
    rfc: "§4.2.2",
    lastModified: at(-agoSeconds),
    rules: { heuristic: { fraction: 0.1, maxSeconds: 3600 } },
    expect: { seconds: Math.min(agoSeconds / 10, 3600), source: "heuristic" as const },
  })),
  ...[302, 403, 500, 299].map((status) => ({
    name: `status ${status} has no heuristic lifetime`,
    rfc: "§4.2.2",
    status,
    lastModified: at(-1000),
    rules: { heuristic: { fraction: 0.1, maxSeconds: 3600 } },
    expect: { seconds: 0, source: "none" as const },
  })),
  {
    name: "a response that the origin calls stale gets no heuristic lifetime",
    rfc: "§4.2.2",
    cacheControl: "max-age=0",
    lastModified: at(-1000),
    rules: { heuristic: { fraction: 0.1, maxSeconds: 3600 } },
    expect: { seconds: 0, source: "max-age" },
  },
  {
    name: "a Date in the future does not lengthen a heuristic lifetime",
    rfc: "§4.2.2",
    date: at(9000),
    lastModified: at(-1000),
    rules: { heuristic: { fraction: 0.1, maxSeconds: 3600 } },
    expect: { seconds: 100, source: "heuristic" },
  },
  ...["no date", at(1)].map((lastModified) => ({
    name: `a last modification at ${lastModified} gives no heuristic lifetime, so the route's default applies`,
    rfc: "§4.2.2",
    lastModified,
    rules: { heuristic: { fraction: 0.1, maxSeconds: 3600 }, defaultTtlSeconds: 30 },
    expect: { seconds: 30, source: "route-default" as const },
  })),
  {
    name: "a route's ttl does not apply to failures, which keep the origin's lifetime",
    rfc: "—",
    status: 503,
    cacheControl: "max-age=2",
    rules: { ttlSeconds: 86_400 },
    expect: { seconds: 2, source: "max-age" },
  },
  { name: "without any lifetime, a response is stale", rfc: "§4.2.2", expect: { seconds: 0, source: "none" } },
  {
    name: "a route's default applies if the origin says nothing",
    rfc: "—",
    rules: { defaultTtlSeconds: 30 },
    expect: { seconds: 30, source: "route-default" },
  },
  {
    name: "a route's default does not override the origin's zero",
    rfc: "—",
    cacheControl: "max-age=0",
    rules: { defaultTtlSeconds: 30 },
    expect: { seconds: 0, source: "max-age" },
  },
  {
    name: "a route's ttl overrides the origin",
    rfc: "—",
    cacheControl: "max-age=600",
    rules: { ttlSeconds: 5 },
    expect: { seconds: 5, source: "route" },
  },
];

describe("freshnessLifetime", () => {
  test.each(lifetimes)(
    "$name (RFC 9111 $rfc)",
    ({ cacheControl = null, expires, lastModified, date = at(0), status = 200, rules = {}, expect: expected }) => {
      const fields: Record<string, string | undefined> = { expires, "last-modified": lastModified, date };
      const response = { status, receivedAt: NOON, field: (name: string) => fields[name] ?? null };
      const speaking = { cacheControl: parseCacheControl(cacheControl), source: "cache-control" };
      expect(freshnessLifetime(response, speaking, { heuristic: null, ...rules })).toEqual(expected);
    },
  );

  test("beside a targeted field, Expires has no effect (RFC 9213 §2.2)", () => {
    const response = { status: 200, receivedAt: NOON, field: (name: string) => (name === "expires" ? at(90) : null) };
    const speaking = { cacheControl: parseCacheControl("public"), source: "cdn-cache-control" };
    expect(freshnessLifetime(response, speaking, { heuristic: null })).toEqual({ seconds: 0, source: "none" });
  });
});

const ages: readonly { name: string; age?: string; date?: string; delayMs?: number; expectMs: number }[] = [
  { name: "an answer from this second has age 0", date: at(0), expectMs: 0 },
  { name: "a Date 30 s ago gives an age of 30 s", date: at(-30), expectMs: 30_000 },
  { name: "a Date in the future gives no age", date: at(30), expectMs: 0 },
  { name: "a malformed Date gives no age", date: "yesterday", expectMs: 0 },
  {
    name: "Age counts, with the time that the answer took (5 s + 0.4 s)",
    age: "5",
    date: at(0),
    delayMs: 400,
    expectMs: 5400,
  },
  { name: "the larger of Age and the age by Date counts", age: "5", date: at(-30), expectMs: 30_000 },
  { name: "if Age has several members, the first counts", age: "5, 60", date: at(0), expectMs: 5000 },
  { name: "empty members of Age do not count", age: " , 5, 60", date: at(0), expectMs: 5000 },
  { name: "an Age with a malformed first member is ignored", age: "x, 60", date: at(0), expectMs: 0 },
  { name: "a fraction is not a valid Age", age: "5.5", date: at(0), expectMs: 0 },
  { name: "an empty Age is ignored", age: "", date: at(0), expectMs: 0 },
  { name: "white space around Age is ignored", age: " 5 ", date: at(0), expectMs: 5000 },
  {
    name: "a huge Age counts as the largest possible one",
    age: "99999999999999999999",
    date: at(0),
    expectMs: 2_147_483_648_000,
  },
  { name: "without a Date, Age and delay count", age: "5", delayMs: 400, expectMs: 5400 },
  { name: "a Date of an obsolete form counts", date: "Thursday, 01-Jan-26 11:59:30 GMT", expectMs: 30_000 },
  {
    name: "the response delay is not added to the age by Date",
    date: at(-30),
    delayMs: 400,
    expectMs: 30_000,
  },
  { name: "a negative Age is ignored", age: "-5", date: at(0), expectMs: 0 },
];

describe("initialAgeMs", () => {
  test.each(ages)("$name (RFC 9111 §4.2.3)", ({ age = null, date = null, delayMs = 0, expectMs }) => {
    expect(initialAgeMs(age, date, NOON - delayMs, NOON)).toBe(expectMs);
  });

  test("an answer only grows older, so a stale one stays stale", () => {
    const instant = fc.integer({ min: NOON, max: NOON + 120_000 });
    fc.assert(
      fc.property(fc.nat(90_000), instant, instant, instant, (initialMs, receivedAt, one, other) => {
        const [earlier, later] = [Math.min(one, other), Math.max(one, other)];
        const ageAt = (now: number) => currentAgeMs(initialMs, receivedAt, now);
        expect(ageAt(later)).toBeGreaterThanOrEqual(ageAt(earlier));
      }),
    );
  });

  test("no text makes an age negative or NaN", () => {
    const text = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.date({ noInvalidDate: true }).map((d) => d.toUTCString()),
    );
    fc.assert(
      fc.property(text, text, (age, date) => {
        expect(initialAgeMs(age, date, NOON, NOON)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test("time held adds to the age, and a clock that steps back does not make it younger", () => {
    expect(currentAgeMs(5_000, NOON, NOON + 700)).toBe(5_700);
    expect(currentAgeMs(5_000, NOON, NOON - 700)).toBe(5_000);
  });
});
