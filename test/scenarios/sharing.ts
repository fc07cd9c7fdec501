import type { Scenario } from "../engine/scenario.ts";

const v1 = { fields: { "cache-control": "max-age=3600", "cache-tag": "song:42" }, body: "v1" };
const v2 = { ...v1, body: "v2" };

/** A route that a purge may reach late. */
const late = { routes: [{ match: "/late", purge: { maxViewAge: "60s" } }] } as const;

const inSeveralIsolates: readonly Scenario[] = [
  {
    name: "what one isolate of a PoP has read of the purge log, the others take",
    source: "docs/protocol.md#r22-no-herd",
    origin: { "/a": [v1] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS" } },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "a" }, expect: { xCache: "HIT" } },
      { send: { path: "/a", isolate: "a" }, expect: { xCache: "HIT" } },
      { stats: { "log.reads": 0, "log.shared": 1 } },
    ],
  },
  {
    name: "when its lease is over, an isolate knows of a purge by what another one has read, also while the log is silent",
    source: "docs/protocol.md#r22-no-herd; docs/protocol.md#r20-refresh-and-repeat",
    origin: { "/a": [v1, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 1000 },
      { purge: { urls: ["/a"] } },
      { log: "down" },
      {
        send: { path: "/a", isolate: "b" },
        expect: {
          xCache: "MISS",
          body: "v2",
          cacheStatus: "tidemark; fwd=stale; fwd-status=200; stored; detail=purged",
        },
      },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    name: "the age of what another isolate has read counts: it is used to the end of the lease that it began, and no longer",
    source: "docs/protocol.md#r22-no-herd; docs/protocol.md#r6-the-log-grants-the-lease",
    origin: { "/a": [v1, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 600 },
      { send: { path: "/a", isolate: "c" }, expect: { xCache: "HIT", body: "v1" } },
      { purge: { tags: ["song:42"] } },
      { log: "down" },
      { advanceMs: 399 },
      { send: { path: "/a", isolate: "c" }, expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "c" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "where a route lets a purge come late, the old page is served, and the log is asked behind the answer",
    source: "docs/protocol.md#r6-the-log-grants-the-lease",
    site: late,
    origin: { "/late": [v1, v2] },
    steps: [
      { send: { path: "/late", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 2000 },
      { purge: { urls: ["/late"] } },
      { advanceMs: 2000 },
      { send: { path: "/late", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 1 },
      { send: { path: "/late", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "who carries the receipt's token does not get the old page of a route that lets a purge come late",
    source: "docs/protocol.md#r9-token; docs/protocol.md#r6-the-log-grants-the-lease",
    site: late,
    origin: { "/late": [v1, v2] },
    steps: [
      { send: { path: "/late", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 2000 },
      { purge: { urls: ["/late"] } },
      { send: { path: "/late", isolate: "b", fields: { "tidemark-after": "$token" } }, expect: { body: "v2" } },
      { send: { path: "/late", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    name: "while the log is silent, a route that lets a purge come late is served for so long after the last news, and no longer",
    source: "docs/protocol.md#r6-the-log-grants-the-lease; docs/protocol.md#r8-unknown",
    site: late,
    origin: { "/late": [v1, v2], "/a": [v1, v2] },
    steps: [
      { send: { path: "/late", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { log: "down" },
      { advanceMs: 59_999 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
      { send: { path: "/late", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 1 },
      { send: { path: "/late", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
      { advanceMs: 59_999 },
      { send: { path: "/late", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } },
      { advanceMs: 1 },
      { send: { path: "/late", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "what the origin calls immutable may be reached late by a purge where the site says so, and nothing else may",
    source: "docs/protocol.md#r6-the-log-grants-the-lease",
    site: { purge: { maxViewAgeImmutable: "60s" } },
    origin: {
      "/app.js": [{ ...v1, fields: { "cache-control": "max-age=3600, immutable" } }, v2],
      "/a": [v1, v2],
    },
    steps: [
      { send: { path: "/app.js", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { log: "down" },
      { advanceMs: 1000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
      { send: { path: "/app.js", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
    ],
  },
];

/** One copy of the view for the isolates of a PoP, and purges that may come late. Rules R6 and R22 stand in docs/protocol.md. */
export const sharing: readonly Scenario[] = [
  {
    name: "a receipt counts with the longest time in which any route lets a purge come late",
    source: "docs/protocol.md#r6-the-log-grants-the-lease",
    site: { routes: [...late.routes, { match: "/later", purge: { maxViewAge: "90s" } }] },
    steps: [{ purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":90250,/ } }],
  },
  {
    name: "a receipt counts with what immutable pages may wait for a purge, where the site lets them",
    source: "docs/protocol.md#r6-the-log-grants-the-lease",
    site: { purge: { maxViewAgeImmutable: "60s" } },
    steps: [{ purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":60250,/ } }],
  },
  ...inSeveralIsolates.map((scenario): Scenario => {
    return { ...scenario, only: { engine: "memory", because: "one worker of the runtime is one isolate" } };
  }),
];
