import type { Scenario } from "../engine/scenario.ts";

const kept = { fields: { "cache-control": "max-age=60" }, body: "v1" };

/** Which requests share an entry, and what the origin is asked for. */
export const keys: readonly Scenario[] = [
  {
    name: "tracking parameters are neither keyed nor sent to the origin",
    source: "docs/design.md#key",
    origin: { "/a?x=1": [kept] },
    steps: [
      { get: "/a?utm_source=mail&x=1&fbclid=2", expect: { xCache: "MISS", body: "v1" } },
      { get: "/a?x=1", expect: { xCache: "HIT" } },
      { get: "/a?gclid=9&x=1", expect: { xCache: "HIT" } },
      { originSaw: { "/a?x=1": 1 } },
    ],
  },
  {
    name: "parameters in another order are another entry unless the route sorts",
    source: "docs/design.md#key",
    site: { routes: [{ match: "/sorted", key: { query: { sort: true } } }] },
    origin: { "/a?x=1&y=2": [kept], "/a?y=2&x=1": [{ ...kept, body: "v2" }], "/sorted?x=1&y=2": [kept] },
    steps: [
      { get: "/a?x=1&y=2", expect: { xCache: "MISS", body: "v1" } },
      { get: "/a?y=2&x=1", expect: { xCache: "MISS", body: "v2" } },
      { get: "/sorted?y=2&x=1", expect: { xCache: "MISS", body: "v1" } },
      { get: "/sorted?x=1&y=2", expect: { xCache: "HIT" } },
    ],
  },
  {
    name: "a route can key by one parameter, lowercased and trimmed, and the origin gets that form",
    source: "docs/design.md#the-site",
    site: { routes: [{ match: "/search", key: { query: { only: ["q"], lowercase: ["q"], trim: ["q"] } } }] },
    origin: { "/search?q=the%20wall": [kept] },
    steps: [
      { get: "/search?q=+The+Wall%20&page=1", expect: { xCache: "MISS", body: "v1" } },
      { get: "/search?q=THE%20WALL", expect: { xCache: "HIT" } },
      { originSaw: { "/search?q=the%20wall": 1 } },
    ],
  },
  {
    name: "a route can keep long queries out of the store",
    source: "docs/design.md#the-site",
    site: { routes: [{ match: "/search", store: { when: { query: { q: { maxLength: 3 } } } } }] },
    origin: { "/search?q=abc": [kept], "/search?q=abcd": [kept] },
    steps: [
      { get: "/search?q=abc", expect: { xCache: "MISS" } },
      { get: "/search?q=abc", expect: { xCache: "HIT" } },
      { get: "/search?q=abcd", expect: { xCache: "BYPASS", cacheStatus: /detail=route-condition/ } },
      { get: "/search?q=abcd", expect: { xCache: "BYPASS" } },
      { get: "/search?q=a&q=abcd", expect: { xCache: "BYPASS" } },
      {
        send: { method: "POST", path: "/search?q=abcd" },
        expect: { cacheStatus: "tidemark; fwd=method; fwd-status=200" },
      },
    ],
  },
  {
    name: "a route's ttl replaces the lifetime, but makes nothing storable that is not",
    source: "docs/design.md#the-site",
    site: {
      routes: [
        { match: "/a", ttl: "10s" },
        { match: "/b", ttl: "10s", defaultTtl: "1h" },
      ],
    },
    origin: {
      "/a": [{ ...kept, fields: { "cache-control": "max-age=600" } }],
      "/b": [{ fields: { "cache-control": "private, max-age=60" }, body: "v1" }],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 9_999 },
      { get: "/a", expect: { xCache: "HIT" } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
      { get: "/b", expect: { xCache: "MISS", cacheStatus: /detail=private/ } },
      { get: "/b", expect: { xCache: "MISS" } },
    ],
  },
  {
    name: "a route's default lifetime applies by status, and only where the origin gives none",
    source: "docs/design.md#the-site",
    site: {
      routes: [
        { match: "/one", defaultTtl: "1h" },
        { match: "/*", defaultTtl: { 200: "1h", 404: "5s" } },
      ],
    },
    origin: { "/a": [{ body: "v1" }], "/short": [kept], "/none": [{ status: 404, body: "nothing" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/none", expect: { xCache: "MISS", status: 404 } },
      { get: "/short", expect: { xCache: "MISS" } },
      { get: "/none", expect: { xCache: "HIT", status: 404 } },
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 60 } },
      { get: "/none", expect: { xCache: "EXPIRED", status: 404 } },
      { get: "/one", expect: { xCache: "MISS", status: 404 } },
      { get: "/one", expect: { xCache: "MISS", status: 404 } },
      { get: "/short", expect: { xCache: "EXPIRED" } },
    ],
  },
  {
    name: "spellings of one path are one entry: escapes of plain characters, letter case of escapes, an empty query",
    source: "RFC 3986 §6.2.2",
    origin: { "/caf%C3%A9": [kept] },
    steps: [
      { get: "/caf%c3%a9", expect: { xCache: "MISS" } },
      { get: "/%63af%C3%A9", expect: { xCache: "HIT" } },
      { get: "/caf%C3%A9?", expect: { xCache: "HIT" } },
    ],
  },
  {
    name: "forms that an origin could tell apart are kept apart",
    source: "docs/design.md#key",
    origin: {
      "/a": [kept],
      "/a/": [{ ...kept, body: "slash" }],
      "//a": [{ ...kept, body: "two" }],
      "/A": [{ ...kept, body: "upper" }],
      "/a;x": [{ ...kept, body: "semi" }],
      "/a%2Fb": [{ ...kept, body: "encoded" }],
      "/a/b": [{ ...kept, body: "plain" }],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { get: "/a/", expect: { xCache: "MISS", body: "slash" } },
      { get: "//a", expect: { xCache: "MISS", body: "two" } },
      { get: "/A", expect: { xCache: "MISS", body: "upper" } },
      { get: "/a;x", expect: { xCache: "MISS", body: "semi" } },
      { get: "/a%2fb", expect: { xCache: "MISS", body: "encoded" } },
      { get: "/a/b", expect: { xCache: "MISS", body: "plain" } },
    ],
  },
  {
    name: "an encoded dot segment cannot smuggle a path past its route",
    source: "docs/design.md#key",
    site: { routes: [{ match: "/admin/*", pass: true }] },
    origin: { "/admin/x": [kept] },
    steps: [
      { get: "/public/%2e%2e/admin/x", expect: { xCache: "BYPASS", body: "v1" } },
      { get: "/public/%2E%2E/admin/x", expect: { xCache: "BYPASS" } },
    ],
  },
  {
    name: "a malformed escape or an encoded control character is refused, and nothing is asked",
    source: "docs/design.md#key",
    steps: [
      { get: "/a%zz", expect: { status: 400, xCache: null } },
      { get: "/%5Ftidemark/stats", expect: { status: 400 } },
      { get: "/a%00b", expect: { status: 400 } },
      { get: "/a%0d%0ab", expect: { status: 400 } },
      { originSaw: { "/a%zz": 0, "/a%00b": 0 } },
    ],
  },
  {
    name: "the public address stands in for the one that the edge was reached under",
    source: "docs/design.md#the-site",
    site: { publicUrl: "https://www.example.test" },
    origin: { "/a": [{ fields: { "cache-control": "max-age=60" }, body: "v1" }] },
    steps: [
      { send: { path: "/a", host: "localhost:8787" }, expect: { xCache: "MISS" } },
      { originLastSaw: "/a", fields: { "x-forwarded-host": "www.example.test", "x-forwarded-proto": "https" } },
      { purge: { urls: ["https://www.example.test/a"] } },
      { send: { path: "/a", host: "localhost:8787" }, expect: { xCache: "MISS" } },
      { purge: { urls: ["https://localhost:8787/a"] }, expect: { status: 400 } },
    ],
  },
  {
    name: "the control plane cannot be reached, nor the origin be shown its path, under another spelling",
    source: "docs/design.md#key",
    only: { engine: "runtime", because: "the requests of Node resolve dot segments before the edge sees them" },
    steps: [
      { get: "/x/%2e%2e/_tidemark/health", expect: { status: 400, xCache: null } },
      { originSaw: { "/_tidemark/health": 0 } },
    ],
  },
];
