import type { Scenario } from "../engine/scenario.ts";

const page = { fields: { "cache-control": "max-age=60" }, body: "v1" };

/** What a cache is for, and what it may not do. */
export const basics: readonly Scenario[] = [
  {
    name: "a fresh response is answered from store, with its age",
    source: "RFC 9111 §4, §5.1",
    origin: { "/a": [page] },
    steps: [
      {
        get: "/a",
        expect: {
          status: 200,
          xCache: "MISS",
          body: "v1",
          cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored",
        },
      },
      { advanceMs: 30_000 },
      { get: "/a", expect: { xCache: "HIT", body: "v1", ageSeconds: 30, cacheStatus: "tidemark; hit; ttl=30" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "a response is fresh up to its last millisecond and not beyond",
    source: "RFC 9111 §4.2",
    origin: { "/a": [page, { ...page, body: "v2" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 59_999 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 59 } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2", cacheStatus: /fwd=stale/ } },
      { get: "/a", expect: { xCache: "HIT", body: "v2", ageSeconds: 0 } },
    ],
  },
  {
    name: "s-maxage outranks max-age in a shared cache",
    source: "RFC 9111 §5.2.2.10",
    origin: { "/a": [{ fields: { "cache-control": "max-age=600, s-maxage=10" }, body: "v1" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 9_000 },
      { get: "/a", expect: { xCache: "HIT" } },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
    ],
  },
  ...[
    ["no-store", ", max-age=60"],
    ["private", ", max-age=60"],
    ["no-cache", ", max-age=60"],
    ["max-age=0", ""],
    ["max-age=1h", ""],
    ["public", ""],
  ].map(
    ([directives, lifetime]): Scenario => ({
      name: `Cache-Control: ${directives} is not stored`,
      source: "RFC 9111 §3, §5.2.2",
      origin: { "/a": [{ fields: { "cache-control": `${directives}${lifetime}` }, body: "v1" }] },
      steps: [
        {
          get: "/a",
          expect: {
            status: 200,
            xCache: "MISS",
            body: "v1",
            cacheStatus: /^tidemark; fwd=uri-miss; fwd-status=200; detail=/,
          },
        },
        { get: "/a", expect: { xCache: "MISS" } },
        { originSaw: { "/a": 2 } },
      ],
    }),
  ),
  ...[
    ["Set-Cookie", { "set-cookie": ["a=1", "b=2"] }, "set-cookie"],
    ["a Vary by the visitor's address", { vary: "x-forwarded-for" }, "vary"],
    ["a Vary by more text than a choice has", { vary: "x-long" }, "vary-too-long"],
    ["Vary: *", { vary: "*" }, "vary"],
    ["a tag that is too long to purge", { "cache-tag": "x".repeat(300) }, "tag-invalid"],
  ].map(
    ([what, fields, because]): Scenario => ({
      name: `a response with ${what} is passed on and not stored, and says why`,
      source: "RFC 9111 §3, §4.1",
      origin: { "/a": [{ fields: { "cache-control": "max-age=60", ...(fields as object) }, body: "v1" }] },
      steps: [
        {
          get: "/a",
          fields: { "x-long": "x".repeat(513) },
          expect: {
            xCache: "MISS",
            body: "v1",
            cacheStatus: `tidemark; fwd=uri-miss; fwd-status=200; detail=${because}`,
          },
        },
        { get: "/a", fields: { "x-long": "x".repeat(513) }, expect: { xCache: "MISS" } },
        { originSaw: { "/a": 2 } },
      ],
    }),
  ),
  {
    name: "Expires less Date is the lifetime where Cache-Control gives none",
    source: "RFC 9111 §4.2.1, §5.3",
    origin: { "/a": [{ fields: { expires: "Thu, 01 Jan 2026 12:00:10 GMT" }, body: "v1" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 9_999 },
      { get: "/a", expect: { xCache: "HIT" } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
    ],
  },
  {
    name: "the age that a response brings counts",
    source: "RFC 9111 §4.2.3",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60", age: "50" }, body: "v1" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", ageSeconds: 50 } },
      { advanceMs: 9_000 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 59 } },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
    ],
  },
  {
    name: "a response that is stale on arrival is not stored",
    source: "RFC 9111 §4.2",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60", age: "60" }, body: "v1" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", cacheStatus: /detail=stale-on-arrival/ } },
      { get: "/a", expect: { xCache: "MISS" } },
    ],
  },
  {
    name: "HEAD is answered from a stored GET, with its length and without a body",
    source: "RFC 9110 §9.3.2",
    origin: { "/a": [{ ...page, body: "twelve bytes" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { send: { method: "HEAD", path: "/a" }, expect: { xCache: "HIT", body: "", fields: { "content-length": "12" } } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "a HEAD that misses stores nothing",
    source: "RFC 9111 §3",
    origin: { "/a": [page] },
    steps: [
      { send: { method: "HEAD", path: "/a" }, expect: { status: 200, xCache: "MISS", body: "" } },
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
    ],
  },
  {
    name: "statuses, fields and bodies come back as they were, several lines of a field included",
    source: "docs/design.md#promise-4",
    origin: {
      "/gone": [
        {
          status: 410,
          fields: {
            "cache-control": "max-age=60",
            "content-type": "text/plain; charset=utf-8",
            link: ["</a>", "</b>"],
            server: "demo/1",
          },
          body: "weg – für immer",
        },
      ],
    },
    steps: [
      { get: "/gone", expect: { status: 410, xCache: "MISS" } },
      {
        get: "/gone",
        expect: {
          status: 410,
          xCache: "HIT",
          body: "weg – für immer",
          fields: {
            "content-type": "text/plain; charset=utf-8",
            link: "</a>, </b>",
            server: "demo/1",
            via: "1.1 tidemark",
          },
        },
      },
    ],
  },
  {
    name: "a response without a body is stored without one",
    source: "RFC 9110 §15.3.5",
    origin: { "/a": [{ status: 204, fields: { "cache-control": "max-age=60" } }] },
    steps: [
      { get: "/a", expect: { status: 204, xCache: "MISS" } },
      { get: "/a", expect: { status: 204, xCache: "HIT", body: "" } },
    ],
  },
  {
    name: "an error without explicit freshness is not stored",
    source: "RFC 9111 §3",
    origin: { "/a": [{ status: 404, body: "oops" }, page] },
    steps: [
      { get: "/a", expect: { status: 404, xCache: "MISS", body: "oops" } },
      { get: "/a", expect: { status: 200, xCache: "MISS", body: "v1" } },
    ],
  },
  {
    name: "a status that tells of one request alone is not stored, whatever freshness it claims",
    source: "RFC 9111 §3; RFC 6585 §4",
    origin: { "/a": [{ ...page, status: 429, body: "oops" }, page] },
    steps: [
      { get: "/a", expect: { status: 429, xCache: "MISS", cacheStatus: /detail=status/ } },
      { get: "/a", expect: { status: 200, xCache: "MISS", body: "v1" } },
    ],
  },
  {
    name: "an isolate that restarts finds the page in the shared tier",
    source: "docs/design.md#tiers",
    origin: { "/a": [page] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { restart: "isolate" },
      { advanceMs: 10_000 },
      { get: "/a", expect: { xCache: "HIT", body: "v1", ageSeconds: 10 } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "a redirect is passed on, and does not name the hidden origin",
    source: "RFC 9110 §10.2.2",
    origin: { "/old": [{ status: 302, fields: { location: "/new" } }] },
    steps: [{ get: "/old", expect: { status: 302, xCache: "MISS", fields: { location: "/new" } } }],
  },
  {
    name: "a client that holds the stored page gets a 304 from store, with the fields that it needs and no others",
    source: "RFC 9111 §4.3.2; RFC 9110 §15.4.5",
    origin: {
      "/a": [{ fields: { "cache-control": "max-age=60", etag: '"1"', "content-type": "text/plain" }, body: "v1" }],
    },
    steps: [
      { get: "/a", expect: { status: 200, xCache: "MISS", body: "v1" } },
      { advanceMs: 10_000 },
      {
        get: "/a",
        fields: { "if-none-match": 'W/"1"' },
        expect: {
          status: 304,
          xCache: "HIT",
          body: "",
          ageSeconds: 10,
          cacheStatus: "tidemark; hit; ttl=50",
          fields: { etag: '"1"', "cache-control": "max-age=60", "content-type": null },
        },
      },
      { get: "/a", fields: { "if-none-match": '"2"' }, expect: { status: 200, xCache: "HIT", body: "v1" } },
      {
        send: { method: "HEAD", path: "/a", fields: { "if-none-match": "*" } },
        expect: { status: 304, xCache: "HIT" },
      },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "a purged page is never a 304: who holds the old one gets the new one",
    source: "docs/protocol.md#what-a-purge-promises",
    origin: {
      "/a": [
        { fields: { "cache-control": "max-age=60", etag: '"1"' }, body: "v1" },
        { fields: { "cache-control": "max-age=60", etag: '"2"' }, body: "v2" },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"] } },
      { get: "/a", fields: { "if-none-match": '"1"' }, expect: { status: 200, xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "a stored error or redirect is never a 304",
    source: "RFC 9110 §13.2.1",
    origin: { "/a": [{ status: 404, fields: { "cache-control": "max-age=60", etag: '"1"' }, body: "nothing" }] },
    steps: [
      { get: "/a", expect: { status: 404, xCache: "MISS" } },
      { get: "/a", fields: { "if-none-match": '"1"' }, expect: { status: 404, xCache: "HIT", body: "nothing" } },
    ],
  },
];
