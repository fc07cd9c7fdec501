import type { Scenario } from "../../engine/scenario.ts";
import { LOST_LOG, SEVERAL_ISOLATES, WAITING_REQUESTS } from "../not-on-every-engine.ts";
import { page } from "../page.ts";
import { NOT_FRESH, TOKEN_FIELD } from "../stale-if-error/openings.ts";

const lastingFields = { "cache-control": "max-age=3600" };
const lastingV1 = { fields: lastingFields, body: "v1" };
const lastingV2 = { fields: lastingFields, body: "v2" };

/** Fresh for a minute, then usable for 30 seconds while it is refetched. */
const v1 = page("max-age=60, stale-while-revalidate=30");

const v2 = { ...v1, body: "v2" };
const v3 = { ...v1, body: "v3" };

/** A stale page is served while it is refetched, RFC 5861 §3. */
export const scenarios: readonly Scenario[] = [
  {
    id: "stale-while-revalidate/with-earlier-token",
    name: "a request with the token of an earlier receipt is served nothing stale",
    source: "docs/protocol.md#r9-token; RFC 5861 §3",
    origin: {
      "/a": [{ ...lastingV1, fields: { "cache-control": "max-age=1, stale-while-revalidate=60" } }, lastingV2],
    },
    steps: [
      { purge: { tags: ["unrelated"] } },
      { get: "/a", expect: { body: "v1" } },
      { advanceMs: 1_000 },
      { get: "/a", fields: { "tidemark-after": "$token" }, expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    id: "stale-while-revalidate/refreshed-once",
    name: "a stale page is answered at once and refetched once, however many requests come; then the new one is a hit",
    source: "RFC 5861 §3",
    origin: { "/a": [v1, { ...v2, hold: "slow" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 61_000 },
      {
        get: "/a",
        expect: {
          status: 200,
          xCache: "UPDATING",
          body: "v1",
          ageSeconds: 61,
          cacheStatus: "tidemark; hit; ttl=-1; detail=stale-while-revalidate",
        },
      },
      { originSees: "/a", count: 2 },
      { sendMany: 20, request: { path: "/a" }, expectEach: { xCache: "UPDATING", body: "v1" } },
      { release: "slow" },
      { work: "finished" },
      { get: "/a", expect: { xCache: "HIT", body: "v2", ageSeconds: 0 } },
      { originSaw: { "/a": 2 } },
      { stats: { "answers.UPDATING": 21, "answers.EXPIRED": 0, "store.stored": 2 } },
    ],
  },
  {
    id: "stale-while-revalidate/within-its-window",
    name: "stale-while-revalidate begins when freshness ends, and ends with its own window",
    source: "RFC 5861 §3",
    origin: { "/a": [v1, { status: 503, body: "down" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 59_999 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 59 } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "UPDATING", ageSeconds: 60, cacheStatus: /ttl=0;/ } },
      { work: "finished" },
      { advanceMs: 29_999 },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1", ageSeconds: 89 } },
      { work: "finished" },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 503, xCache: "EXPIRED", body: "down" } },
      { originSaw: { "/a": 4 } },
    ],
  },
  {
    id: "stale-while-revalidate/refresh-finds-no-origin",
    name: "a refresh that finds no origin leaves the stale page as it is, and the next request starts the next one",
    source: "RFC 5861 §3",
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { origin: "down" },
      { get: "/a", expect: { status: 200, xCache: "UPDATING", body: "v1" } },
      { work: "finished" },
      { origin: "up" },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { work: "finished" },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
      { stats: { "answeredByEdge.origin-unreachable": 0, "origin.failed": 1 } },
    ],
  },
  {
    id: "stale-while-revalidate/refresh-not-storable",
    name: "a page of which a refresh shows that it may no longer be stored is not served again",
    source: "RFC 9111 §4.3.3; docs/design.md#promise-1",
    origin: { "/a": [v1, page("private", "for one")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { work: "finished" },
      { get: "/a", expect: { xCache: "MISS", body: "for one", cacheStatus: /fwd=uri-miss;.* detail=private/ } },
      { stats: { "store.stored": 1 } },
    ],
  },
  {
    id: "stale-while-revalidate/refresh-is-conditional",
    name: "a refresh asks the origin to confirm the stale page, and a 304 makes it fresh",
    source: "RFC 5861 §3; RFC 9111 §4.3.4",
    origin: {
      "/a": [
        { ...v1, fields: { ...v1.fields, etag: '"1"' } },
        { status: 304, fields: { ...v1.fields, etag: '"1"' } },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { work: "finished" },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
      { get: "/a", expect: { xCache: "HIT", body: "v1", ageSeconds: 0 } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "stale-while-revalidate/stale-on-arrival",
    name: "a response that is stale on arrival is stored if it may be used while it is refetched",
    source: "RFC 5861 §3; RFC 9111 §4.2",
    origin: {
      "/within": [{ ...v1, fields: { ...v1.fields, age: "89" } }, v2],
      "/beyond": [{ ...v1, fields: { ...v1.fields, age: "90" } }, v2],
      "/forbidden": [page("max-age=60, stale-while-revalidate=30, must-revalidate", "v1", { age: "60" })],
    },
    steps: [
      { get: "/within", expect: { xCache: "MISS", ageSeconds: 89 } },
      { get: "/within", expect: { xCache: "UPDATING", body: "v1", ageSeconds: 89 } },
      { get: "/beyond", expect: { xCache: "MISS", cacheStatus: /detail=stale-on-arrival/ } },
      { get: "/beyond", expect: { xCache: "MISS", body: "v2" } },
      { get: "/forbidden", expect: { xCache: "MISS", cacheStatus: /detail=stale-on-arrival/ } },
    ],
  },
  {
    id: "stale-while-revalidate/head-of-stale-page",
    name: "a HEAD of a stale page is answered at once, and the page is refetched with a GET",
    source: "RFC 5861 §3; RFC 9110 §9.3.2",
    origin: { "/a": [v1, { ...v2, body: "version 2" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      {
        send: { method: "HEAD", path: "/a" },
        expect: { status: 200, xCache: "UPDATING", body: "", fields: { "content-length": "2" } },
      },
      { work: "finished" },
      { get: "/a", expect: { xCache: "HIT", body: "version 2" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "stale-while-revalidate/part-of-stale-page",
    name: "a part of a stale page is answered at once, and the whole page is refetched",
    source: "RFC 5861 §3; RFC 9110 §14.2",
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      {
        get: "/a",
        fields: { range: "bytes=1-" },
        expect: { status: 206, xCache: "UPDATING", body: "1", fields: { "content-range": "bytes 1-1/2" } },
      },
      { work: "finished" },
      { originLastSaw: "/a", fields: { range: null } },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "stale-while-revalidate/client-304-at-once",
    name: "a client that holds the stale page gets its 304 at once, and the page is refetched",
    source: "RFC 5861 §3; RFC 9111 §4.3.2",
    origin: {
      "/a": [
        { ...v1, fields: { ...v1.fields, etag: '"1"' } },
        { ...v2, fields: { ...v2.fields, etag: '"2"' } },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { get: "/a", fields: { "if-none-match": '"1"' }, expect: { status: 304, xCache: "UPDATING", ageSeconds: 60 } },
      { work: "finished" },
      { get: "/a", fields: { "if-none-match": '"1"' }, expect: { status: 200, xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "stale-while-revalidate/refresh-with-cookies",
    name: "a refresh behind an answer to a request with cookies is stored only if the origin says that it is shared",
    source: "RFC 5861 §3; docs/design.md#identity",
    origin: { "/a": [v1, { ...v2, body: "for the cookie" }, v3] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { get: "/a", fields: { cookie: "session=1" }, expect: { xCache: "UPDATING", body: "v1" } },
      { work: "finished" },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { work: "finished" },
      { get: "/a", expect: { xCache: "HIT", body: "v3" } },
    ],
  },
  {
    id: "stale-while-revalidate/no-wait-for-cookie-refresh",
    name: "a request without cookies does not wait for a refresh that was begun for one with cookies",
    source: "RFC 5861 §3; docs/design.md#collapsing",
    origin: {
      "/a": [page("max-age=60, stale-while-revalidate=5"), { ...v2, body: "for the cookie", hold: "slow" }, v3],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { get: "/a", fields: { cookie: "session=1" }, expect: { xCache: "UPDATING", body: "v1" } },
      { originSees: "/a", count: 2 },
      { advanceMs: 5_000 },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v3" } },
      { release: "slow" },
      { work: "finished" },
      { get: "/a", expect: { xCache: "HIT", body: "v3" } },
    ],
  },
  {
    id: "stale-while-revalidate/with-authorization",
    name: "a request with Authorization is not answered stale",
    source: "RFC 9111 §3.5; RFC 5861 §3",
    origin: {
      "/a": [page("public, max-age=60, stale-while-revalidate=30"), page("public, max-age=60", "for the account")],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { get: "/a", fields: { authorization: "Basic x" }, expect: { xCache: "EXPIRED", body: "for the account" } },
    ],
  },
  {
    id: "stale-while-revalidate/purged-page",
    name: "a purged page is not answered stale",
    source: "docs/protocol.md#what-a-purge-promises; RFC 5861 §3",
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { purge: { urls: ["/a"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v2", cacheStatus: /detail=purged/ } },
    ],
  },
  {
    id: "stale-while-revalidate/purge-during-refresh",
    name: "a refresh that began before a purge is not stored",
    source: "docs/protocol.md#r1-stamp; RFC 5861 §3",
    origin: { "/a": [v1, { ...v2, hold: "slow" }, v3] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { originSees: "/a", count: 2 },
      { purge: { urls: ["/a"] } },
      { release: "slow" },
      { work: "finished" },
      { get: "/a", expect: { xCache: "MISS", body: "v3" } },
      { stats: { "store.discarded.purged": 1 } },
    ],
  },
  {
    id: "stale-while-revalidate/with-receipt-token",
    name: "a request with a receipt's token is not answered stale",
    source: "docs/protocol.md#r9-token; RFC 5861 §3",
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { purge: { tags: ["unrelated"] } },
      { get: "/a", fields: TOKEN_FIELD, expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    id: "stale-while-revalidate/log-is-silent",
    name: "while the log is silent, nothing stale is answered unless the origin was asked",
    source: "docs/protocol.md#r8-unknown; RFC 5861 §3",
    only: LOST_LOG,
    origin: { "/a": [page("max-age=0, stale-while-revalidate=30"), v2], "/b": [v1] },
    steps: [
      { get: "/b", expect: { xCache: "MISS" } },
      { log: "down" },
      { advanceMs: 900 },
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 100 },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    id: "stale-while-revalidate/across-isolates",
    name: "a stale page that another isolate stored is answered at once, and all isolates find its replacement",
    source: "RFC 5861 §3; docs/design.md#tiers",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [v1, v2] },
    steps: [
      { send: { path: "/a", isolate: "a" }, expect: { xCache: "MISS" } },
      { work: "finished" },
      NOT_FRESH,
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "UPDATING", body: "v1", ageSeconds: 60 } },
      { work: "finished" },
      { send: { path: "/a", isolate: "c" }, expect: { xCache: "HIT", body: "v2" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "stale-while-revalidate/after-restart",
    name: "a stale page is answered at once after a restart as well",
    source: "RFC 5861 §3; docs/design.md#tiers",
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { work: "finished" },
      NOT_FRESH,
      { restart: "isolate" },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { work: "finished" },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "stale-while-revalidate/late-request-waits",
    name: "a request after the window waits for the refresh that is under way",
    source: "RFC 5861 §3; docs/design.md#collapsing",
    only: WAITING_REQUESTS,
    origin: { "/a": [page("max-age=60, stale-while-revalidate=5"), { ...v2, hold: "slow" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 5_000 },
      { begin: "late", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "late", expect: { xCache: "EXPIRED", body: "v2", cacheStatus: /collapsed/ } },
      { originSaw: { "/a": 2 } },
    ],
  },
];
