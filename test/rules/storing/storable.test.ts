import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import type { NotStoredBecause } from "../../../worker/rules/storing/not-stored.ts";
import {
  type StorableRequest,
  type StorableRules,
  type StorableVerdict,
  storable,
} from "../../../worker/rules/storing/storable.ts";
import { NO_STALE_RULES } from "./stored-head.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const at = (seconds: number) => new Date(NOON + seconds * 1000).toUTCString();

interface Exchange {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly request?: Partial<StorableRequest>;
  readonly rules?: Partial<StorableRules>;
}

function verdictOn({ status = 200, fields = {}, request = {}, rules = {} }: Exchange): StorableVerdict {
  const all: Record<string, string> = { date: at(0), "content-length": "2", ...fields };
  return storable(
    { identity: "anonymous", forbidsStoring: false, isPlain: true, ...request },
    {
      status,
      requestedAt: NOON,
      receivedAt: NOON,
      field: (name) => all[name] ?? null,
      fields: new Fields(Object.entries(all)),
    },
    { heuristic: null, targetedFields: [], stale: NO_STALE_RULES, ...rules },
  );
}

const fresh = { "cache-control": "max-age=60" };
const etag = { etag: '"1"' };

const refused: readonly ({ name: string; source: string; because: NotStoredBecause } & Exchange)[] = [
  {
    name: "an answer to a request with credentials",
    source: "RFC 9111 §3.5",
    request: { identity: "authorized" },
    fields: { "cache-control": "max-age=60, must-revalidate" },
    because: "authorization",
  },
  ...[201, 302, 404, 500].map((status) => ({
    name: `an answer of ${status} to a request with credentials, though it says public`,
    source: "RFC 9111 §3.5",
    request: { identity: "authorized" as const },
    status,
    fields: { "cache-control": "public, max-age=60" },
    because: "authorization" as const,
  })),
  {
    name: "an answer to a request with credentials that only the owner gives a lifetime",
    source: "RFC 9111 §3.5",
    request: { identity: "authorized" },
    fields: { "cache-control": "public" },
    rules: { ttlSeconds: 60, defaultTtlSeconds: 60, heuristic: { fraction: 0.1, maxSeconds: 60 } },
    because: "no-freshness",
  },
  {
    name: "an answer to a request that forbids it",
    source: "RFC 9111 §5.2.1.5",
    request: { forbidsStoring: true },
    fields: fresh,
    because: "request-no-store",
  },
  ...[100, 101, 199, 206, 226, 304, 401, 406, 407, 408, 412, 416, 417, 421, 425, 426, 428, 429, 431, 511, 600, 999].map(
    (status) => ({
      name: `status ${status}`,
      source: "RFC 9111 §3, RFC 6585",
      status,
      fields: fresh,
      because: "status" as const,
    }),
  ),
  ...[200, 299, 302, 404, 500].map((status) => ({
    name: `status ${status} without freshness`,
    source: "RFC 9111 §3",
    status,
    because: "no-freshness" as const,
  })),
  {
    name: "no-store",
    source: "RFC 9111 §5.2.2.5",
    fields: { "cache-control": "no-store, max-age=60" },
    because: "no-store",
  },
  {
    name: "private",
    source: "RFC 9111 §5.2.2.7",
    fields: { "cache-control": "private, max-age=60" },
    because: "private",
  },
  {
    name: "a route's ttl on what is private",
    source: "docs/http.md",
    fields: { "cache-control": "private" },
    rules: { ttlSeconds: 60 },
    because: "private",
  },
  {
    name: "no-cache without a validator",
    source: "RFC 9111 §5.2.2.4",
    fields: { "cache-control": "no-cache, max-age=60" },
    because: "no-cache",
  },
  ...["*", 'W/"', '"a" "b"', "a, b"].map((malformed) => ({
    name: `no-cache with ${malformed} for an entity tag`,
    source: "RFC 9110 §8.8.3",
    fields: { "cache-control": "no-cache", etag: malformed },
    because: "no-cache" as const,
  })),
  {
    name: "no-cache with a Last-Modified that is no date",
    source: "RFC 9110 §8.8.2",
    fields: { "cache-control": "no-cache", "last-modified": "yesterday" },
    because: "no-cache",
  },
  {
    name: "no-cache on a status that only freshness makes storable",
    source: "RFC 9111 §3",
    status: 302,
    fields: { "cache-control": "no-cache", ...etag },
    because: "no-freshness",
  },
  {
    name: "must-understand on a status that is not understood",
    source: "RFC 9111 §5.2.2.3",
    status: 299,
    fields: { "cache-control": "must-understand, max-age=60" },
    because: "status",
  },
  { name: "Set-Cookie", source: "RFC 9111 §7.3", fields: { ...fresh, "set-cookie": "a=1" }, because: "set-cookie" },
  {
    name: "Set-Cookie with another field withheld",
    source: "RFC 9111 §5.2.2.7",
    fields: { "cache-control": 'max-age=60, private="x-user"', "set-cookie": "a=1" },
    because: "set-cookie",
  },
  ...["*", "accept, *", "a b", "accept;q=1"].map((vary) => ({
    name: `Vary: ${vary}`,
    source: "RFC 9111 §4.1",
    fields: { ...fresh, vary },
    because: "vary" as const,
  })),
  {
    name: "an answer to a visitor with cookies that is not said to be for all",
    source: "docs/http.md",
    request: { identity: "cookies" },
    fields: fresh,
    because: "cookie",
  },
  ...[400, 404, 500, 503, 599].map((status) => ({
    name: `error ${status} on an odd request`,
    source: "docs/http.md",
    status,
    fields: fresh,
    request: { isPlain: false },
    because: "error-for-odd-request" as const,
  })),
  {
    name: "an error on an odd request where the route gives a default",
    source: "docs/http.md",
    status: 404,
    rules: { defaultTtlSeconds: 60 },
    request: { isPlain: false },
    because: "error-for-odd-request",
  },
  ...["0", "0ms", "0s", " 00 ", "@0", `@${NOON / 1000}`, "0, 0", "60, @0", "soon, 0"].map((value) => ({
    name: `nginx is told X-Accel-Expires: ${value}`,
    source: "docs/http.md",
    fields: { ...fresh, "x-accel-expires": value },
    because: "x-accel-expires" as const,
  })),
  ...["x-accel-redirect", "x-sendfile", "x-lighttpd-send-file"].map((name) => ({
    name: `a web server is asked by ${name} to send a file`,
    source: "docs/http.md",
    fields: { ...fresh, [name]: "/protected/report.pdf" },
    because: "sendfile" as const,
  })),
  {
    name: "a body whose end cannot be told from a cut",
    source: "RFC 9112 §8",
    fields: { ...fresh, "content-length": undefined as never },
    because: "unframed-body",
  },
  ...["max-age=0", "max-age=1h", "s-maxage=0, max-age=60"].map((directives) => ({
    name: `${directives} without a validator`,
    source: "RFC 9111 §4.2.1",
    fields: { "cache-control": directives },
    because: "no-freshness" as const,
  })),
  {
    name: "a route's ttl of nothing",
    source: "docs/http.md",
    fields: { ...fresh, ...etag },
    rules: { ttlSeconds: 0 },
    because: "no-freshness",
  },
  {
    name: "a failure without freshness, whatever the route's ttl",
    source: "docs/http.md",
    status: 500,
    rules: { ttlSeconds: 86_400 },
    because: "no-freshness",
  },
  ...[60, 61].map((age) => ({
    name: `an age of ${age} s and a lifetime of 60 s, without a validator`,
    source: "RFC 9111 §4.2",
    fields: { ...fresh, age: String(age) },
    because: "stale-on-arrival" as const,
  })),
  ...[90, 91].map((age) => ({
    name: `an age of ${age} s where 60 s are fresh and 30 s may be stale`,
    source: "RFC 5861 §3",
    fields: { "cache-control": "max-age=60, stale-while-revalidate=30", age: String(age) },
    because: "stale-on-arrival" as const,
  })),
  {
    name: "a stale window that must-revalidate closes",
    source: "RFC 9111 §5.2.2.2",
    fields: { "cache-control": "max-age=0, stale-while-revalidate=30, must-revalidate" },
    because: "no-freshness",
  },
  {
    name: "what a targeted field forbids, whatever Cache-Control says",
    source: "RFC 9213 §2.2",
    fields: { ...fresh, "cdn-cache-control": "no-store" },
    because: "no-store",
  },
  {
    name: "what a targeted field gives no lifetime, whatever Expires says",
    source: "RFC 9213 §2.2",
    fields: { "cdn-cache-control": "none", ...fresh, expires: at(60) },
    because: "no-freshness",
  },
];

type Stored = StorableVerdict & { kind: "storable" };

const kept: readonly ({
  name: string;
  source: string;
  expect?: Partial<Omit<Stored, "reuse" | "freshness">>;
  lifetime?: Stored["freshness"];
  reuse?: Partial<Stored["reuse"]>;
} & Exchange)[] = [
  ...[
    200, 201, 203, 204, 299, 300, 301, 302, 303, 307, 308, 400, 403, 404, 405, 410, 414, 451, 499, 500, 501, 502, 503,
    504, 599,
  ].map((status) => ({
    name: `status ${status} with explicit freshness`,
    source: "RFC 9111 §3",
    status,
    fields: fresh,
    lifetime: { seconds: 60, source: "max-age" as const },
  })),
  {
    name: "what a route's default says",
    source: "docs/http.md",
    status: 404,
    rules: { defaultTtlSeconds: 30 },
    lifetime: { seconds: 30, source: "route-default" },
  },
  {
    name: "what a route's default says where a targeted field says nothing of freshness",
    source: "RFC 9213 §2.2",
    fields: { "cdn-cache-control": "none", "cache-control": "no-store" },
    rules: { defaultTtlSeconds: 30 },
    lifetime: { seconds: 30, source: "route-default" },
  },
  {
    name: "what Expires says",
    source: "RFC 9111 §4.2.1",
    fields: { expires: at(60) },
    lifetime: { seconds: 60, source: "expires" },
  },
  {
    name: "what max-age says, and not what Expires says beside it",
    source: "RFC 9111 §5.3",
    fields: { "cache-control": "max-age=5", expires: at(60) },
    lifetime: { seconds: 5, source: "max-age" },
  },
  {
    name: "what can be guessed, where the site lets it",
    source: "RFC 9111 §4.2.2",
    fields: { "last-modified": at(-1000) },
    rules: { heuristic: { fraction: 0.1, maxSeconds: 3600 } },
    lifetime: { seconds: 100, source: "heuristic" },
  },
  {
    name: "what a field of the site's own says",
    source: "RFC 9213 §2.2",
    fields: { "tidemark-cache-control": "max-age=5", "cdn-cache-control": "no-store" },
    rules: { targetedFields: ["tidemark-cache-control"] },
    lifetime: { seconds: 5, source: "max-age" },
  },
  {
    name: "no-cache with an entity tag, to be validated for each reuse",
    source: "RFC 9111 §5.2.2.4",
    fields: { "cache-control": "no-cache", ...etag },
    lifetime: { seconds: 0, source: "none" },
    reuse: { validateAlways: true, mayServeStale: false },
  },
  {
    name: "no-cache with Last-Modified",
    source: "RFC 9111 §5.2.2.4",
    fields: { "cache-control": "no-cache, max-age=60", "last-modified": at(-60) },
    lifetime: { seconds: 60, source: "max-age" },
    reuse: { validateAlways: true, mayServeStale: false },
  },
  ...["max-age=0", "max-age=1h", "s-maxage=-1"].map((directives) => ({
    name: `${directives} with a validator`,
    source: "RFC 9111 §4.3",
    fields: { "cache-control": directives, ...etag },
  })),
  {
    name: "what is stale on arrival, with a validator",
    source: "RFC 9111 §4.3",
    fields: { ...fresh, ...etag, age: "60" },
    expect: { initialAgeMs: 60_000 },
  },
  {
    name: "what is fresh for a second more",
    source: "RFC 9111 §4.2",
    fields: { ...fresh, age: "59" },
    expect: { initialAgeMs: 59_000 },
  },
  {
    name: "what may be stale for a second more",
    source: "RFC 5861 §3",
    fields: { "cache-control": "max-age=60, stale-while-revalidate=30", age: "89" },
    reuse: { staleWhileRevalidateSeconds: 30 },
  },
  {
    name: "must-understand and no-store on a status that is understood",
    source: "RFC 9111 §5.2.2.3",
    fields: { "cache-control": "must-understand, no-store, max-age=60" },
  },
  {
    name: "all but the fields that are private or must not be used again",
    source: "RFC 9111 §5.2.2.4, §5.2.2.7",
    fields: {
      "cache-control": 'max-age=60, private="Set-Cookie, x-user", no-cache="x-user, x-token"',
      "set-cookie": "a=1",
    },
    expect: { withheldFields: ["set-cookie", "x-user", "x-token"] },
    reuse: { validateAlways: false },
  },
  {
    name: "a Vary that names fields",
    source: "RFC 9111 §4.1",
    fields: { ...fresh, vary: "Accept-Language, , Accept-Encoding" },
  },
  {
    name: "an answer to a visitor with cookies that is for all",
    source: "RFC 9111 §5.2.2.9",
    request: { identity: "cookies" },
    fields: { "cache-control": "public, max-age=60" },
    expect: { sharedWithAuthorized: true },
  },
  {
    name: "an answer that is not an error, on an odd request",
    source: "docs/http.md",
    request: { isPlain: false },
    fields: fresh,
  },
  ...[
    ["public, max-age=60", true],
    ["s-maxage=60", true],
    ["must-revalidate, max-age=60", true],
    ["max-age=60", false],
    ["proxy-revalidate, max-age=60", false],
  ].map(([directives, shared]) => ({
    name: `${directives}, for requests with credentials: ${shared}`,
    source: "RFC 9111 §3.5",
    fields: { "cache-control": directives as string },
    expect: { sharedWithAuthorized: shared as boolean },
  })),
  ...[
    ["max-age=60", true],
    ["max-age=60, must-revalidate", false],
    ["max-age=60, proxy-revalidate", false],
    ["s-maxage=60, proxy-revalidate", false],
    ["s-maxage=60", true],
  ].map(([directives, allowed]) => ({
    name: `${directives}, to be served stale: ${allowed}`,
    source: "RFC 9111 §4.2.4",
    fields: { "cache-control": `${directives}, stale-while-revalidate=5, stale-if-error=9` },
    reuse: { mayServeStale: allowed as boolean, staleWhileRevalidateSeconds: 5, staleIfErrorSeconds: 9 },
  })),
  {
    name: "a stale window that is no number, as none",
    source: "RFC 5861",
    fields: { "cache-control": "max-age=60, stale-while-revalidate=x, stale-if-error=x" },
    reuse: { staleWhileRevalidateSeconds: 0, staleIfErrorSeconds: 0 },
  },
  {
    name: "no stale windows, as not said",
    source: "RFC 5861",
    fields: fresh,
    reuse: { staleWhileRevalidateSeconds: null, staleIfErrorSeconds: null, immutable: false },
  },
  {
    name: "what does not change while it is fresh",
    source: "RFC 8246",
    fields: { "cache-control": "max-age=60, immutable" },
    reuse: { immutable: true },
  },
];

describe("storable", () => {
  test.each(refused)("does not store $name ($source)", ({ because, ...exchange }) => {
    expect(verdictOn(exchange)).toEqual({ kind: "not-stored", because });
  });

  test.each(kept)("stores $name ($source)", ({ expect: expected = {}, lifetime, reuse = {}, ...exchange }) => {
    const verdict = verdictOn(exchange);
    expect(verdict).toMatchObject({ kind: "storable", ...expected, reuse });
    if (lifetime) expect(verdict).toMatchObject({ freshness: lifetime });
  });

  test("never throws, and stores nothing whose age or lifetime is not a number", () => {
    const text = fc.oneof(
      fc.constantFrom("max-age=60", "public, max-age=1", at(60), at(-60), '"1"', "30"),
      fc.string(),
    );
    const names = ["cache-control", "cdn-cache-control", "surrogate-control", "expires", "date", "age", "vary", "etag"];
    const fields = fc.dictionary(fc.constantFrom(...names), text, { noNullPrototype: true });
    let stored = 0;
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 999 }), fields, (status, sent) => {
        const verdict = verdictOn({ status, fields: sent });
        if (verdict.kind === "not-stored") return;
        stored++;
        expect(verdict.freshness.seconds).toBeGreaterThanOrEqual(0);
        expect(verdict.initialAgeMs).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 2000 },
    );
    expect(stored).toBeGreaterThan(50);
  });
});
