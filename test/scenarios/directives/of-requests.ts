import type { Scenario, Step } from "../../engine/scenario.ts";
import { page } from "../page.ts";
import { saying } from "./openings.ts";

const asked = [
  { id: "obeyed-no-cache-refetches", fields: { "cache-control": "no-cache" } },
  { id: "obeyed-max-age-zero-refetches", fields: { "cache-control": "max-age=0" } },
  { id: "obeyed-min-fresh-refetches", fields: { "cache-control": "min-fresh=3600" } },
  { id: "obeyed-pragma-refetches", fields: { pragma: "no-cache" } },
];

/** Cache-Control and Pragma of requests, RFC 9111 §5.2.1. */
const WINDOWS = ", stale-if-error=600, stale-while-revalidate=600";

export const scenarios: readonly Scenario[] = [
  {
    id: "directives/request-no-store",
    name: "the response to a request with no-store is not stored, and stored pages stay",
    source: "RFC 9111 §5.2.1.5",
    origin: { "/a": [page("max-age=60")] },
    steps: [
      {
        get: "/a",
        fields: { "cache-control": "no-store" },
        expect: { xCache: "MISS", cacheStatus: /detail=request-no-store/ },
      },
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/a", fields: { "cache-control": "no-cache, no-store" }, expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "directives/reload-is-a-hit",
    name: "a reload with no-cache, max-age, min-fresh or Pragma is answered from the store, so visitors do not decide when the origin is asked",
    source: "RFC 9111 §5.2.1, §5.4",
    origin: { "/a": [saying("max-age=60")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 1_000 },
      ...asked.map(({ fields }): Step => ({ get: "/a", fields, expect: { xCache: "HIT", body: "v1" } })),
      { originSaw: { "/a": 1 } },
    ],
  },
  ...asked.map(
    ({ id, fields }): Scenario => ({
      id: `directives/${id}`,
      name: `on a route that obeys request directives, ${Object.entries(fields)
        .map(([name, value]) => `${name}: ${value}`)
        .join()} asks the origin, and the answer is stored for all`,
      source: "RFC 9111 §5.2.1, §5.4",
      site: { routes: [{ match: "/*", requestDirectives: "all" }] },
      origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        { advanceMs: 1_000 },
        {
          get: "/a",
          fields,
          expect: {
            xCache: "MISS",
            body: "v2",
            cacheStatus: "tidemark; fwd=request; fwd-status=200; stored; detail=request-directive",
          },
        },
        { get: "/a", expect: { xCache: "HIT", body: "v2" } },
      ],
    }),
  ),
  {
    id: "directives/obeyed-no-cache-validates",
    name: "on a route that obeys request directives, no-cache asks the origin to confirm what is stored",
    source: "RFC 9111 §5.2.1.4, §4.3.1",
    site: { routes: [{ match: "/*", requestDirectives: "all" }] },
    origin: {
      "/a": [
        saying("max-age=60", { etag: '"1"' }),
        { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"' } },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      {
        get: "/a",
        fields: { "cache-control": "NO-CACHE" },
        expect: {
          status: 200,
          xCache: "REVALIDATED",
          body: "v1",
          cacheStatus: "tidemark; fwd=request; fwd-status=304; stored; detail=request-directive",
        },
      },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
    ],
  },
  {
    id: "directives/obeyed-max-age",
    name: "on a route that obeys request directives, max-age is the greatest age that the client accepts",
    source: "RFC 9111 §5.2.1.1",
    site: { routes: [{ match: "/*", requestDirectives: "all" }] },
    origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 10_000 },
      { get: "/a", fields: { "cache-control": "max-age=10" }, expect: { xCache: "HIT" } },
      { advanceMs: 1 },
      { get: "/a", fields: { "cache-control": "max-age=x" }, expect: { xCache: "HIT" } },
      { get: "/a", fields: { "cache-control": "max-age=11", pragma: "no-cache" }, expect: { xCache: "HIT" } },
      { get: "/a", fields: { "cache-control": "max-age=3600, max-age=10" }, expect: { body: "v2" } },
    ],
  },
  {
    id: "directives/obeyed-min-fresh",
    name: "on a route that obeys request directives, min-fresh is how long the answer must stay fresh",
    source: "RFC 9111 §5.2.1.3",
    site: { routes: [{ match: "/*", requestDirectives: "all" }] },
    origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 50_000 },
      { get: "/a", fields: { "cache-control": "min-fresh=10" }, expect: { xCache: "HIT" } },
      { advanceMs: 1 },
      { get: "/a", fields: { "cache-control": "min-fresh" }, expect: { xCache: "HIT" } },
      { get: "/a", fields: { "cache-control": "min-fresh=5, min-fresh=10" }, expect: { body: "v2" } },
    ],
  },
  {
    id: "directives/only-if-cached",
    name: "a request with only-if-cached is answered from the store or with 504, and never reaches the origin",
    source: "RFC 9111 §5.2.1.7",
    origin: { "/a": [saying("max-age=60")] },
    steps: [
      {
        get: "/a",
        fields: { "cache-control": "only-if-cached" },
        expect: {
          status: 504,
          xCache: null,
          cacheStatus: "tidemark; detail=only-if-cached",
          fields: { "cache-control": "no-store" },
        },
      },
      {
        send: { method: "HEAD", path: "/a", fields: { "cache-control": "only-if-cached" } },
        expect: { status: 504 },
      },
      { originSaw: { "/a": 0 } },
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 59_999 },
      { get: "/a", fields: { "cache-control": "Only-If-Cached" }, expect: { status: 200, xCache: "HIT" } },
      { work: "finished" },
      { restart: "isolate" },
      { get: "/a", fields: { "cache-control": "only-if-cached" }, expect: { status: 200, xCache: "HIT" } },
      { advanceMs: 1 },
      { get: "/a", fields: { "cache-control": "only-if-cached" }, expect: { status: 504 } },
      {
        get: "/a",
        fields: { "cache-control": "only-if-cached, max-stale=1" },
        expect: { status: 200, xCache: "STALE" },
      },
      { purge: { urls: ["/a"] } },
      { get: "/a", fields: { "cache-control": "only-if-cached, max-stale" }, expect: { status: 504 } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "directives/max-stale",
    name: "max-stale accepts an answer that has been stale for at most that long",
    source: "RFC 9111 §5.2.1.2, §4.2.4",
    origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 69_999 },
      {
        get: "/a",
        fields: { "cache-control": "max-stale=10" },
        expect: { xCache: "STALE", body: "v1", ageSeconds: 69, cacheStatus: "tidemark; hit; ttl=-9; detail=max-stale" },
      },
      { advanceMs: 1 },
      { get: "/a", fields: { "cache-control": "max-stale" }, expect: { xCache: "STALE", body: "v1" } },
      { originSaw: { "/a": 1 } },
      { get: "/a", fields: { "cache-control": "max-stale=3600, max-stale=10" }, expect: { body: "v2" } },
    ],
  },
  {
    id: "directives/malformed-max-stale",
    name: "a max-stale that is not a number accepts nothing stale",
    source: "RFC 9111 §5.2.1.2, §1.2.2",
    origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      { get: "/a", fields: { "cache-control": "max-stale=x" }, expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  ...(
    [
      ["must-revalidate-never-stale", "max-age=60, must-revalidate"],
      ["proxy-revalidate-never-stale", "max-age=60, proxy-revalidate"],
      ["s-maxage-never-stale", "s-maxage=60"],
      ["no-cache-never-stale", "no-cache, max-age=60"],
    ] as const
  ).map(
    ([id, directives]): Scenario => ({
      id: `directives/${id}`,
      name: `Cache-Control: ${directives} is never served stale, whatever visitors and the owner accept`,
      source: "RFC 9111 §4.2.4, §5.2.2.2, §5.2.2.4, §5.2.2.8, §5.2.2.10",
      site: { stale: { ifError: "1h" } },
      origin: {
        "/a": [saying(`${directives}${id === "s-maxage-never-stale" ? "" : WINDOWS}`, { etag: '"1"' })],
      },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        { advanceMs: 60_000 },
        { origin: "down" },
        { get: "/a", fields: { "cache-control": "max-stale, stale-if-error=600" }, expect: { status: 502 } },
      ],
    }),
  ),
  {
    id: "directives/purged-despite-max-stale",
    name: "a purged page is not served as stale, whatever a visitor accepts",
    source: "docs/protocol.md#promise-2-purged-is-purged",
    origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"] } },
      { get: "/a", fields: { "cache-control": "max-stale" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "directives/request-stale-if-error",
    name: "when the origin fails, a request's stale-if-error accepts an answer that has been stale for at most that long",
    source: "RFC 5861 §4",
    origin: { "/a": [saying("max-age=60"), { status: 503, body: "down" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 69_999 },
      { get: "/a", expect: { status: 503, body: "down" } },
      { get: "/a", fields: { "cache-control": "stale-if-error=x" }, expect: { status: 503 } },
      {
        get: "/a",
        fields: { "cache-control": "stale-if-error=10" },
        expect: {
          status: 200,
          xCache: "STALE",
          body: "v1",
          cacheStatus: "tidemark; fwd=stale; fwd-status=503; detail=stale-if-error",
        },
      },
      { advanceMs: 1 },
      { get: "/a", fields: { "cache-control": "stale-if-error=10" }, expect: { status: 503 } },
    ],
  },
  {
    id: "directives/malformed-request-cache-control",
    name: "an unreadable Cache-Control in a request counts as no-store, and stored pages stay",
    source: "RFC 9111 §5.2.1.5",
    origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
    steps: [
      { get: "/a", fields: { "cache-control": 'x="' }, expect: { cacheStatus: /detail=request-no-store$/ } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { get: "/a", fields: { "cache-control": 'x="' }, expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "directives/no-store-and-validation",
    name: "a 304 that answers a request with no-store is not stored",
    source: "RFC 9111 §5.2.1.5",
    origin: {
      "/a": [
        saying("max-age=60", { etag: '"1"' }),
        { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"' } },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      {
        get: "/a",
        fields: { "cache-control": "no-store" },
        expect: {
          xCache: "REVALIDATED",
          body: "v1",
          cacheStatus: "tidemark; fwd=stale; fwd-status=304; detail=request-no-store",
        },
      },
      { get: "/a", expect: { xCache: "REVALIDATED", cacheStatus: "tidemark; fwd=stale; fwd-status=304; stored" } },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "directives/no-store-and-background-refresh",
    name: "a request with no-store does not start the background refresh; the next request does",
    source: "RFC 5861 §3; RFC 9111 §5.2.1.5",
    origin: {
      "/a": [saying("max-age=60, stale-while-revalidate=60"), saying("max-age=60", {}, "v2")],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      { get: "/a", fields: { "cache-control": "no-store" }, expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 1 },
      { originSaw: { "/a": 1 } },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { originSees: "/a", count: 2 },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
];
