import { describe, expect, test } from "vitest";
import { parseCacheControl } from "../../worker/rules/cache-control.ts";
import { currentAgeMs, initialAgeMs } from "../../worker/rules/current-age.ts";
import {
  type FreshnessLifetime,
  freshnessLifetime,
  type LifetimeRules,
} from "../../worker/rules/freshness-lifetime.ts";
import { parseHttpDate } from "../../worker/rules/http-date.ts";
import { judge, type PurgeAnswer, type Verdict } from "../../worker/rules/judge.ts";
import type { StoredHead } from "../../worker/rules/stored-response.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const at = (seconds: number) => new Date(NOON + seconds * 1000).toUTCString();

const lifetimes: readonly {
  name: string;
  rfc: string;
  cacheControl?: string;
  expires?: string;
  rules?: LifetimeRules;
  expect: FreshnessLifetime;
}[] = [
  {
    name: "s-maxage outranks max-age",
    rfc: "§5.2.2.10",
    cacheControl: "max-age=600, s-maxage=60",
    expect: { seconds: 60, source: "s-maxage" },
  },
  {
    name: "max-age outranks Expires",
    rfc: "§5.3",
    cacheControl: "max-age=60",
    expires: at(600),
    expect: { seconds: 60, source: "max-age" },
  },
  { name: "Expires counts from Date", rfc: "§4.2.1", expires: at(90), expect: { seconds: 90, source: "expires" } },
  {
    name: "an Expires in the past leaves nothing fresh",
    rfc: "§5.3",
    expires: at(-1),
    expect: { seconds: 0, source: "expires" },
  },
  {
    name: "an Expires that is no date is in the past",
    rfc: "§5.3",
    expires: "0",
    expect: { seconds: 0, source: "expires" },
  },
  {
    name: "an invalid max-age leaves nothing fresh, and Expires does not speak instead",
    rfc: "§4.2.1",
    cacheControl: "max-age=1h",
    expires: at(600),
    expect: { seconds: 0, source: "max-age" },
  },
  { name: "nothing said is nothing fresh", rfc: "§4.2.2", expect: { seconds: 0, source: "none" } },
  {
    name: "a route's default stands in where nothing is said",
    rfc: "—",
    rules: { defaultTtlSeconds: 30 },
    expect: { seconds: 30, source: "route-default" },
  },
  {
    name: "a route's default does not outrank the origin's zero",
    rfc: "—",
    cacheControl: "max-age=0",
    rules: { defaultTtlSeconds: 30 },
    expect: { seconds: 0, source: "max-age" },
  },
  {
    name: "a route's ttl outranks the origin",
    rfc: "—",
    cacheControl: "max-age=600",
    rules: { ttlSeconds: 5 },
    expect: { seconds: 5, source: "route" },
  },
];

describe("freshnessLifetime", () => {
  test.each(lifetimes)(
    "$name (RFC 9111 $rfc)",
    ({ cacheControl = null, expires = null, rules = {}, expect: expected }) => {
      expect(freshnessLifetime(parseCacheControl(cacheControl), expires, at(0), NOON, rules)).toEqual(expected);
    },
  );
});

const ages: readonly { name: string; age?: string; date?: string; delayMs?: number; expectMs: number }[] = [
  { name: "an answer of this second is not old", date: at(0), expectMs: 0 },
  { name: "a Date 30 s ago is 30 s of age", date: at(-30), expectMs: 30_000 },
  { name: "a Date ahead of us is no age", date: at(30), expectMs: 0 },
  { name: "a malformed Date is no age", date: "yesterday", expectMs: 0 },
  {
    name: "Age counts, with the time that the answer took (5 s + 0.4 s)",
    age: "5",
    date: at(0),
    delayMs: 400,
    expectMs: 5400,
  },
  { name: "the larger of Age and Date counts", age: "5", date: at(-30), expectMs: 30_000 },
  { name: "a malformed Age is none", age: "5, 6", date: at(0), expectMs: 0 },
  { name: "a negative Age is none", age: "-5", date: at(0), expectMs: 0 },
];

describe("initialAgeMs", () => {
  test.each(ages)("$name (RFC 9111 §4.2.3)", ({ age = null, date = null, delayMs = 0, expectMs }) => {
    expect(initialAgeMs(age, date, NOON - delayMs, NOON)).toBe(expectMs);
  });

  test("time held adds to the age, and a clock that steps back does not make it younger", () => {
    expect(currentAgeMs(5_000, NOON, NOON + 700)).toBe(5_700);
    expect(currentAgeMs(5_000, NOON, NOON - 700)).toBe(5_000);
  });
});

describe("parseHttpDate", () => {
  test.each([
    ["Thu, 01 Jan 2026 12:00:00 GMT", NOON],
    ["Thu, 01 Jan 2026 12:00:00 UTC", undefined],
    ["Thu, 32 Jan 2026 12:00:00 GMT", undefined],
    ["Thu, 01 Foo 2026 12:00:00 GMT", undefined],
    ["Thu, 01 Jan 2026 24:00:00 GMT", undefined],
    ["Thursday, 01-Jan-26 12:00:00 GMT", undefined],
    ["", undefined],
  ])("%j (RFC 9110 §5.6.7)", (text, expected) => {
    expect(parseHttpDate(text)).toBe(expected);
  });
});

const stored: StoredHead = {
  key: "http://www.example.test/a",
  status: 200,
  fields: [],
  bodyBytes: 2,
  fetchedAt: NOON,
  receivedAt: NOON,
  initialAgeMs: 0,
  freshnessSeconds: 60,
  sharedWithAuthorized: false,
  purgeKeys: [],
  stamp: { logId: "log", seq: 1 },
};

const verdicts: readonly {
  name: string;
  source: string;
  stored?: Partial<StoredHead>;
  authorized?: boolean;
  purge?: PurgeAnswer;
  afterMs: number;
  expect: Verdict;
}[] = [
  {
    name: "just stored is fresh",
    source: "RFC 9111 §4.2",
    afterMs: 0,
    expect: { kind: "fresh", ageSeconds: 0, ttlSeconds: 60 },
  },
  {
    name: "the last millisecond is fresh",
    source: "RFC 9111 §4.2",
    afterMs: 59_999,
    expect: { kind: "fresh", ageSeconds: 59, ttlSeconds: 1 },
  },
  {
    name: "an age equal to the lifetime is stale",
    source: "RFC 9111 §4.2",
    afterMs: 60_000,
    expect: { kind: "none", because: "stale" },
  },
  {
    name: "purged is purged, however fresh",
    source: "R10",
    purge: "purged",
    afterMs: 0,
    expect: { kind: "none", because: "purged" },
  },
  {
    name: "authorized requests need the origin's word",
    source: "RFC 9111 §3.5",
    authorized: true,
    afterMs: 0,
    expect: { kind: "none", because: "authorization" },
  },
  {
    name: "authorized requests take what is shared",
    source: "RFC 9111 §3.5",
    authorized: true,
    stored: { sharedWithAuthorized: true },
    afterMs: 0,
    expect: { kind: "fresh", ageSeconds: 0, ttlSeconds: 60 },
  },
  {
    name: "unknown purges: less than a lease after the fetch it may be served",
    source: "R8",
    purge: "unknown",
    afterMs: 999,
    expect: { kind: "fresh", ageSeconds: 0, ttlSeconds: 60 },
  },
  {
    name: "unknown purges: a lease after the fetch it may not",
    source: "R8",
    purge: "unknown",
    afterMs: 1000,
    expect: { kind: "none", because: "purge-state-unknown" },
  },
  {
    name: "unknown purges: a fetch in our future is not trusted",
    source: "R7",
    purge: "unknown",
    afterMs: -1,
    expect: { kind: "none", because: "purge-state-unknown" },
  },
];

describe("judge", () => {
  test.each(verdicts)(
    "$name ($source)",
    ({ stored: change, authorized = false, purge = "not-purged", afterMs, expect: expected }) => {
      expect(judge({ ...stored, ...change }, { authorized }, purge, 1000, NOON + afterMs)).toEqual(expected);
    },
  );
});
