import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import type { Scenario } from "../../engine/scenario.ts";

const tenMinutes = { routes: [{ match: "/a*", browserTtl: "10m" }] };
function saying(cacheControl: string, more: Reply["fields"] = {}, body = "v1"): Reply {
  return { fields: { "cache-control": cacheControl, ...more }, body };
}

/** The origin's `Cache-Control`, and what browsers get of it beside the owner's lifetime. */
const kept: readonly (readonly [sent: string, told: string])[] = [
  ["max-age=60", "max-age=600"],
  ["s-maxage=60", "max-age=600"],
  ["max-age=60, immutable", "immutable, max-age=600"],
  ["max-age=60, no-transform", "no-transform, max-age=600"],
  ["max-age=60, must-revalidate", "must-revalidate, max-age=600"],
  ["public, max-age=60", "public, max-age=600"],
  ['max-age=60, private="x-user"', 'private="x-user", max-age=600'],
  ['max-age=60, no-cache="x-user"', 'no-cache="x-user", max-age=600'],
  ["max-age=60, stale-while-revalidate=60, stale-if-error=60", "max-age=600"],
];

/** Stored errors, and what browsers get as `Cache-Control` at first and four seconds later. */
const errors: readonly {
  readonly path: string;
  readonly status: number;
  readonly fields: NonNullable<Reply["fields"]>;
  readonly told: readonly [atFirst: string | null, later: string | null];
}[] = [
  { path: "/a-short", status: 503, fields: { "cache-control": "max-age=5" }, told: ["max-age=5", "max-age=5"] },
  { path: "/a-long", status: 404, fields: { "cache-control": "max-age=3600" }, told: ["max-age=600", "max-age=604"] },
  { path: "/a-close", status: 404, fields: { "cache-control": "max-age=602" }, told: ["max-age=600", "max-age=602"] },
  {
    path: "/a-for-browsers",
    status: 404,
    fields: { "cache-control": "max-age=5, s-maxage=3600" },
    told: ["max-age=5, s-maxage=3600", "max-age=5, s-maxage=3600"],
  },
  {
    path: "/a-expires",
    status: 404,
    fields: { "cdn-cache-control": "max-age=3600", expires: "Thu, 01 Jan 2026 12:00:05 GMT" },
    told: [null, null],
  },
  { path: "/a-of-edge", status: 404, fields: {}, told: [null, null] },
  { path: "/a-longer-of-edge", status: 500, fields: {}, told: ["max-age=600", "max-age=604"] },
  { path: "/none", status: 503, fields: { "cache-control": "max-age=5" }, told: ["max-age=0", "max-age=4"] },
  { path: "/none-of-edge", status: 404, fields: {}, told: ["max-age=0", "max-age=4"] },
];

/** The lifetime that browsers are told where a route has a `browserTtl`. */
export const scenarios: readonly Scenario[] = [
  {
    id: "client-response/browser-ttl",
    name: "browsers are told to keep a page for the owner's time from now, however old it is, and Expires is removed",
    source: "docs/reference/worker.md#siteinput; RFC 9111 §4.2.1, §5.3",
    site: tenMinutes,
    origin: { "/a": [saying("max-age=60", { age: "5", expires: "Thu, 01 Jan 2026 12:01:00 GMT" })] },
    steps: [
      {
        get: "/a",
        expect: { xCache: "MISS", ageSeconds: 5, fields: { "cache-control": "max-age=605", expires: null } },
      },
      { advanceMs: 30_000 },
      {
        get: "/a",
        expect: { xCache: "HIT", ageSeconds: 35, fields: { "cache-control": "max-age=635", expires: null } },
      },
      { work: "finished" },
      { restart: "isolate" },
      {
        get: "/a",
        expect: { xCache: "HIT", ageSeconds: 35, fields: { "cache-control": "max-age=635", expires: null } },
      },
    ],
  },
  {
    id: "client-response/no-browser-ttl",
    name: "if the path has no browserTtl, browsers get the origin's lifetime",
    source: "docs/reference/worker.md#siteinput",
    site: tenMinutes,
    origin: { "/b": [saying("max-age=60", { expires: "Thu, 01 Jan 2026 12:01:00 GMT" })] },
    steps: [
      { get: "/b", expect: { xCache: "MISS", fields: { "cache-control": "max-age=60" } } },
      {
        get: "/b",
        expect: {
          xCache: "HIT",
          fields: { "cache-control": "max-age=60", expires: "Thu, 01 Jan 2026 12:01:00 GMT" },
        },
      },
    ],
  },
  {
    id: "client-response/browser-ttl-keeps-restrictions",
    name: "the origin's restrictions stay when the owner's lifetime replaces its lifetime",
    source: "RFC 9111 §5.2.2; RFC 8246",
    site: tenMinutes,
    origin: Object.fromEntries(kept.map(([sent], index) => [`/a${index}`, [saying(sent)]])),
    steps: [
      ...kept.map(([, told], index) => ({
        get: `/a${index}`,
        expect: { xCache: "MISS", fields: { "cache-control": told } },
      })),
      ...kept.map(([, told], index) => ({
        get: `/a${index}`,
        expect: { xCache: "HIT", fields: { "cache-control": told } },
      })),
    ],
  },
  {
    id: "client-response/browser-ttl-overrules-nothing",
    name: "the edge keeps the origin's no-store and no-cache for browsers",
    source: "RFC 9111 §5.2.2.4, §5.2.2.5; RFC 9213 §2.2",
    site: tenMinutes,
    origin: {
      "/a-no-cache": [
        saying("no-cache, max-age=60", { etag: '"1"', expires: "0" }),
        { status: 304, fields: { "cache-control": "no-cache, max-age=60", etag: '"1"' } },
      ],
      "/a-no-store": [saying("no-store", { "cdn-cache-control": "max-age=60", expires: "0" })],
      "/a-private": [saying("private, max-age=5", { "cdn-cache-control": "max-age=60" })],
    },
    steps: [
      {
        get: "/a-no-cache",
        expect: { xCache: "MISS", fields: { "cache-control": "no-cache, max-age=60", expires: "0" } },
      },
      {
        get: "/a-no-cache",
        expect: { xCache: "REVALIDATED", fields: { "cache-control": "no-cache, max-age=60", expires: "0" } },
      },
      { get: "/a-no-store", expect: { xCache: "MISS", fields: { "cache-control": "no-store", expires: "0" } } },
      { get: "/a-no-store", expect: { xCache: "HIT", fields: { "cache-control": "no-store", expires: "0" } } },
      { get: "/a-private", expect: { xCache: "MISS", fields: { "cache-control": "private, max-age=600" } } },
      { get: "/a-private", expect: { xCache: "HIT", fields: { "cache-control": "private, max-age=600" } } },
    ],
  },
  {
    id: "client-response/browser-ttl-if-stored",
    name: "for a response that is not stored, browsers get the origin's lifetime",
    source: "docs/reference/worker.md#siteinput",
    site: tenMinutes,
    origin: {
      "/a-private": [saying("private, max-age=60")],
      "/a-bare": [{ body: "v1" }],
      "/a-cookie": [saying("max-age=60", { "set-cookie": "a=1" })],
    },
    steps: [
      { get: "/a-private", expect: { xCache: "MISS", fields: { "cache-control": "private, max-age=60" } } },
      { get: "/a-bare", expect: { xCache: "MISS", fields: { "cache-control": null } } },
      { get: "/a-cookie", expect: { xCache: "MISS", fields: { "cache-control": "max-age=60" } } },
      {
        send: { method: "POST", path: "/a-cookie" },
        expect: { xCache: "BYPASS", fields: { "cache-control": "max-age=60" } },
      },
    ],
  },
  {
    id: "client-response/browser-ttl-and-errors",
    name: "the owner's lifetime for browsers never lengthens the one that an error has",
    source: "docs/reference/worker.md#siteinput",
    site: {
      routes: [
        { match: "/a*", browserTtl: "10m", defaultTtl: { 404: "10s", 500: "1h" } },
        { match: "/none*", browserTtl: "0s", defaultTtl: { 404: "10s" } },
      ],
    },
    origin: Object.fromEntries(errors.map(({ path, status, fields }) => [path, [{ status, fields, body: "error" }]])),
    steps: [
      ...errors.map(({ path, status, told }) => ({
        get: path,
        expect: { status, xCache: "MISS", fields: { "cache-control": told[0] } },
      })),
      { advanceMs: 4_000 },
      ...errors.map(({ path, status, told }) => ({
        get: path,
        expect: { status, xCache: "HIT", fields: { "cache-control": told[1] } },
      })),
    ],
  },
  {
    id: "client-response/browser-ttl-on-304",
    name: "a browser that revalidates is answered 304 by the edge, with the same lifetime as a HEAD and a whole answer",
    source: "RFC 9111 §4.3.2; RFC 9110 §15.4.5, §9.3.2",
    site: tenMinutes,
    origin: {
      "/a": [saying("s-maxage=3600", { etag: '"1"', "last-modified": "Thu, 01 Jan 2026 11:00:00 GMT" })],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { "cache-control": "max-age=600" } } },
      { advanceMs: 600_000 },
      {
        get: "/a",
        fields: { "if-none-match": '"1"' },
        expect: {
          status: 304,
          xCache: "HIT",
          body: "",
          ageSeconds: 600,
          fields: { "cache-control": "max-age=1200", etag: '"1"' },
        },
      },
      {
        get: "/a",
        fields: { "if-modified-since": "Thu, 01 Jan 2026 11:00:00 GMT" },
        expect: { status: 304, xCache: "HIT", fields: { "cache-control": "max-age=1200" } },
      },
      {
        send: { method: "HEAD", path: "/a" },
        expect: { status: 200, xCache: "HIT", ageSeconds: 600, fields: { "cache-control": "max-age=1200" } },
      },
      { get: "/a", expect: { status: 200, xCache: "HIT", fields: { "cache-control": "max-age=1200" } } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "client-response/browser-ttl-on-miss",
    name: "a browser that has a page that is not stored gets a 304 with the owner's lifetime",
    source: "RFC 9111 §4.3.2",
    site: tenMinutes,
    origin: { "/a": [saying("max-age=60", { etag: '"1"' })] },
    steps: [
      {
        get: "/a",
        fields: { "if-none-match": '"1"' },
        expect: { status: 304, xCache: "MISS", fields: { "cache-control": "max-age=600" } },
      },
    ],
  },
  {
    id: "client-response/browser-ttl-validated-or-stale",
    name: "browsers also get the owner's lifetime with a confirmed page, a stale page, and a page that another request fetched",
    source: "docs/reference/worker.md#siteinput",
    site: tenMinutes,
    origin: {
      "/a": [
        saying("max-age=60, stale-if-error=60", { etag: '"1"' }),
        { status: 304, fields: { "cache-control": "max-age=60, stale-if-error=60", etag: '"1"' } },
        { status: 503 },
      ],
      "/a-slow": [{ ...saying("max-age=60"), hold: "slow" }],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "REVALIDATED", ageSeconds: 0, fields: { "cache-control": "max-age=600" } } },
      { advanceMs: 70_000 },
      { get: "/a", expect: { xCache: "STALE", ageSeconds: 70, fields: { "cache-control": "max-age=670" } } },
      { begin: "leader", send: { path: "/a-slow" } },
      { originSees: "/a-slow", count: 1 },
      { begin: "follower", send: { path: "/a-slow" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "leader", expect: { fields: { "cache-control": "max-age=600" } } },
      { finish: "follower", expect: { fields: { "cache-control": "max-age=600" } } },
    ],
  },
  {
    id: "client-response/browser-ttl-in-two-steps",
    name: "browsers also get the owner's lifetime with a large page that is stored in two steps",
    source: "docs/http.md#bodies-and-ranges",
    site: { ...tenMinutes, limits: { storeBytes: 4 } },
    origin: { "/a": [saying("max-age=60", {}, "large")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "large", fields: { "cache-control": "max-age=600" } } },
      { work: "finished" },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "HIT", body: "large", fields: { "cache-control": "max-age=601" } } },
    ],
  },
];
