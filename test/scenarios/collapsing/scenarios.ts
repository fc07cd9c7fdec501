import type { Scenario } from "../../engine/scenario.ts";
import { WAITING_REQUESTS } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

const songsV1 = page("max-age=3600", "v1", { "cache-tag": "songs" });
const kept = page("max-age=60");

/** Simultaneous requests for one page are one request to the origin. */
export const scenarios: readonly Scenario[] = [
  {
    id: "collapsing/answer-for-one-visitor",
    name: "story 27: an answer for only one visitor stops collapsing for five seconds, and no longer",
    source: "docs/protocol.md#r19-markers",
    origin: { "/a": [page("private", "for one")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "for one" } },
      { advanceMs: 4_999 },
      { sendMany: 20, request: { path: "/a" }, expectEach: { xCache: "MISS", body: "for one" } },
      { originSaw: { "/a": 21 } },
      { reply: { "/a": [songsV1] } },
      { advanceMs: 1 },
      { sendMany: 20, request: { path: "/a" }, expectEach: { status: 200, body: "v1" } },
      { originSaw: { "/a": 22 } },
    ],
  },
  {
    id: "collapsing/one-fetch-for-many",
    name: "200 requests at once for one page are one request to the origin",
    source: "docs/http.md#collapsed-requests",
    origin: { "/a": [kept] },
    steps: [
      { sendMany: 200, request: { path: "/a" }, expectEach: { status: 200, body: "v1" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "collapsing/visitors-with-own-cookies",
    name: "20 simultaneous visitors with different cookies each get their own uncacheable page",
    source: "docs/protocol.md#promise-1-private-stays-private",
    origin: {
      "/me": Array.from({ length: 20 }, (_, index) => page("private", `page ${index}`)),
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
    id: "collapsing/not-storable-frees-followers",
    name: "if the fetched page proves not storable, followers do not wait for its body",
    source: "docs/http.md#collapsed-requests; docs/protocol.md#r19-markers",
    origin: {
      "/a": [
        { fields: { "cache-control": "no-store" }, body: "one for the leader", hold: "slow", bytesBeforeHold: 3 },
        page("no-store", "own"),
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
    id: "collapsing/leader-fails",
    name: "if a leader fails, its followers make their own fetches",
    source: "docs/http.md#collapsed-requests",
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
    id: "collapsing/cookie-follows-anonymous",
    name: "a request with a cookie may use an anonymous request's fetch, but not the other way round",
    source: "docs/http.md#cookies-sessions-and-authorization",
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
    id: "collapsing/follower-is-reported",
    name: "a request that waited for another's fetch is reported as collapsed",
    source: "RFC 9211 §2.6",
    only: WAITING_REQUESTS,
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
    id: "collapsing/wait-is-limited",
    name: "a follower waits for its leader no longer than the site allows",
    source: "docs/http.md#collapsed-requests",
    only: { on: ["memory", "server"], because: "waiting for other requests is on real time in the runtime" },
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
    id: "collapsing/no-store-of-one-visitor",
    name: "one visitor's Cache-Control: no-store does not stop other requests from collapsing",
    source: "docs/protocol.md#r19-markers",
    origin: { "/a": [kept] },
    steps: [
      { get: "/a", fields: { "cache-control": "no-store" }, expect: { xCache: "MISS", body: "v1" } },
      { sendMany: 50, request: { path: "/a" }, expectEach: { status: 200, body: "v1" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "collapsing/leader-never-ends",
    name: "after one visitor waited in vain for a fetch that never ends, the next visitor does not wait for it",
    source: "docs/http.md#collapsed-requests",
    only: { on: ["memory", "server"], because: "waiting for other requests is on real time in the runtime" },
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
    id: "collapsing/body-too-large",
    name: "no request waits for a body that proved too large to store",
    source: "docs/http.md#bodies-and-ranges",
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
    id: "collapsing/error-of-one-request",
    name: "a request that provokes an error does not stop other requests from collapsing",
    source: "docs/protocol.md#r19-markers",
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
