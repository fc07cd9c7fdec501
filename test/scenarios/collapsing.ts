import type { Scenario } from "../engine/scenario.ts";

const kept = { fields: { "cache-control": "max-age=60" }, body: "v1" };

/** Collapsed forwarding: one fetch for many, and nobody gets what was made for another. */
export const collapsing: readonly Scenario[] = [
  {
    name: "200 requests at once for one page are one request to the origin",
    source: "docs/design.md#collapsing",
    origin: { "/a": [kept] },
    steps: [
      { sendMany: 200, request: { path: "/a" }, expectEach: { status: 200, body: "v1" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "20 visitors with cookies of their own at once each get their own uncacheable page",
    source: "docs/design.md#promise-1",
    origin: {
      "/me": Array.from({ length: 20 }, (_, index) => ({
        fields: { "cache-control": "private" },
        body: `page ${index}`,
      })),
    },
    steps: [
      ...Array.from({ length: 20 }, (_, index) => ({
        begin: `${index}`,
        send: { path: "/me", fields: { cookie: `session=${index}` } },
      })),
      ...Array.from({ length: 20 }, (_, index) => ({
        finish: `${index}`,
        expect: { status: 200, xCache: "MISS", body: /^page/ },
      })),
      { originSaw: { "/me": 20 } },
    ],
  },
  {
    name: "followers of a page that turns out not storable do not wait for its body",
    source: "docs/design.md#collapsing; docs/protocol.md#r19-markers",
    origin: {
      "/a": [
        { fields: { "cache-control": "no-store" }, body: "one for the leader", hold: "slow", bytesBeforeHold: 3 },
        { fields: { "cache-control": "no-store" }, body: "own" },
      ],
    },
    steps: [
      { begin: "leader", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { get: "/a", expect: { body: "own" } },
      { release: "slow" },
      { finish: "leader", expect: { body: "one for the leader" } },
    ],
  },
  {
    name: "a leader that fails sets its followers free",
    source: "docs/design.md#collapsing",
    origin: { "/a": [{ ...kept, body: "0123456789", cutAfterBytes: 5, hold: "slow", bytesBeforeHold: 2 }, kept] },
    steps: [
      { begin: "leader", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { begin: "follower", send: { path: "/a" } },
      { release: "slow" },
      { finish: "leader", expect: { cutOff: true } },
      { finish: "follower", expect: { status: 200, body: "v1", cutOff: false } },
    ],
  },
  {
    name: "a visitor with a cookie may take an anonymous visitor's fetch, but not the other way round",
    source: "docs/design.md#identity",
    origin: {
      "/a": [{ ...kept, hold: "slow" }],
      "/b": [
        { ...kept, body: "for the cookie", hold: "slow-b" },
        { ...kept, body: "for all" },
      ],
    },
    steps: [
      { begin: "anonymous", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { begin: "cookie", send: { path: "/a", fields: { cookie: "session=1" } } },
      { release: "slow" },
      { finish: "anonymous", expect: { body: "v1" } },
      { finish: "cookie", expect: { body: "v1" } },
      { originSaw: { "/a": 1 } },
      { begin: "cookie", send: { path: "/b", fields: { cookie: "session=1" } } },
      { originSees: "/b", count: 1 },
      { get: "/b", expect: { body: "for all", xCache: "MISS" } },
      { release: "slow-b" },
      { finish: "cookie", expect: { body: "for the cookie" } },
      { get: "/b", expect: { xCache: "HIT", body: "for all" } },
    ],
  },
  {
    name: "who waited for another one's fetch is told so",
    source: "RFC 9211 §2.6",
    only: {
      engine: "memory",
      because: "that a request has begun to wait shows only where the order of events is ours",
    },
    origin: { "/a": [{ ...kept, hold: "slow" }] },
    steps: [
      { begin: "leader", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { begin: "follower", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "leader", expect: { cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored" } },
      {
        finish: "follower",
        expect: { xCache: "MISS", cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; collapsed" },
      },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "a follower does not wait for a leader longer than the site allows",
    source: "docs/design.md#collapsing",
    only: { engine: "memory", because: "waiting for other requests is on real time in the runtime" },
    site: { limits: { followTimeout: "5s" } },
    origin: {
      "/a": [
        { ...kept, hold: "for ever" },
        { ...kept, body: "v2" },
      ],
    },
    steps: [
      { begin: "leader", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { begin: "follower", send: { path: "/a" } },
      { advanceMs: 4_999 },
      { originSaw: { "/a": 1 } },
      { advanceMs: 1 },
      { finish: "follower", expect: { body: "v2", xCache: "MISS" } },
      { release: "for ever" },
      { finish: "leader", expect: { body: "v1" } },
    ],
  },
  {
    name: "one visitor's Cache-Control: no-store makes nobody else wait less or fetch more",
    source: "docs/protocol.md#r19-markers",
    origin: { "/a": [kept] },
    steps: [
      { get: "/a", fields: { "cache-control": "no-store" }, expect: { xCache: "MISS", body: "v1" } },
      { sendMany: 50, request: { path: "/a" }, expectEach: { status: 200, body: "v1" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "a leader that never ends is waited for once, and not again by the next visitor",
    source: "docs/design.md#collapsing",
    only: { engine: "memory", because: "waiting for other requests is on real time in the runtime" },
    site: { limits: { followTimeout: "5s" } },
    origin: {
      "/a": [
        { ...kept, hold: "for ever" },
        { ...kept, body: "v2" },
        { ...kept, body: "v3" },
      ],
    },
    steps: [
      { begin: "leader", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { begin: "follower", send: { path: "/a" } },
      { advanceMs: 5_000 },
      { finish: "follower", expect: { body: "v2" } },
      { purge: { urls: ["/a"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v3" } },
      { release: "for ever" },
      { finish: "leader", expect: { body: "v1" } },
      { get: "/a", expect: { xCache: "HIT", body: "v3" } },
    ],
  },
  {
    name: "nobody waits for a body that has turned out too large to keep",
    source: "docs/design.md#bodies",
    site: { limits: { storeBytes: 4 } },
    origin: {
      "/a": [
        { ...kept, body: "0123456789", framing: "chunked", hold: "slow", bytesBeforeHold: 6 },
        { ...kept, body: "own" },
      ],
    },
    steps: [
      { begin: "leader", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { get: "/a", expect: { body: "own" } },
      { release: "slow" },
      { finish: "leader", expect: { body: "0123456789" } },
      { stats: { "store.discarded.too-large": 1 } },
    ],
  },
  {
    name: "one request that provokes an error does not make everybody else ask for themselves",
    source: "docs/protocol.md#r19-markers; docs/protocol.md#the-stories",
    origin: { "/a": [{ status: 400, body: "odd", hold: "slow" }, kept] },
    steps: [
      { begin: "odd", send: { path: "/a", fields: { "x-odd": "1" } } },
      { originSees: "/a", count: 1 },
      ...Array.from({ length: 20 }, (_, index) => ({ begin: `${index}`, send: { path: "/a" } })),
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "odd", expect: { status: 400, body: "odd" } },
      ...Array.from({ length: 20 }, (_, index) => ({ finish: `${index}`, expect: { status: 200, body: "v1" } })),
      { originSaw: { "/a": 2 } },
    ],
  },
];
