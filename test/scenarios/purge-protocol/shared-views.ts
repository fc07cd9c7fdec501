import type { Scenario } from "../../engine/scenario.ts";
import { BENEATH_THE_ISOLATES, SEVERAL_ISOLATES, SHARED_VIEWS } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

const v1 = page("max-age=3600", "v1", { "cache-tag": "song:42" });
const v2 = { ...v1, body: "v2" };

/** A route that a purge may reach late. */
const late = { routes: [{ match: "/late", purge: { maxViewAge: "60s" } }] } as const;

const songsV1 = page("max-age=3600", "v1", { "cache-tag": "songs" });
const songsV2 = { ...songsV1, body: "v2" };

/** More tags than isolates of a PoP share with each other. */
const manyTags = Array.from({ length: 5_000 }, (_, index) => `unrelated:${index}`);

/** Isolates of a PoP share their views, and routes may let purges come late. */
export const scenarios: readonly Scenario[] = [
  {
    id: "purge-protocol/view-shared-in-pop",
    name: "the isolates of a PoP share what one of them has read of the purge log",
    source: "docs/protocol.md#r22-no-herd",
    only: SHARED_VIEWS,
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
    id: "purge-protocol/purge-known-by-sharing",
    name: "when its lease ends, an isolate learns of a purge from another isolate's read, even while the log is silent",
    source: "docs/protocol.md#r22-no-herd; docs/protocol.md#r20-refresh-and-repeat",
    only: SHARED_VIEWS,
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
    id: "purge-protocol/shared-view-keeps-its-age",
    name: "a view that another isolate has read is used only until the end of the lease that the read began",
    source: "docs/protocol.md#r22-no-herd; docs/protocol.md#r6-the-log-grants-the-lease",
    only: SHARED_VIEWS,
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
    id: "purge-protocol/late-route",
    name: "if a route lets purges arrive late, the old page is served, and the log is read after the answer",
    source: "docs/protocol.md#r6-the-log-grants-the-lease",
    only: SEVERAL_ISOLATES,
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
    id: "purge-protocol/late-route-token",
    name: "a request with the receipt's token does not get the old page, even on a route that lets purges arrive late",
    source: "docs/protocol.md#r9-token; docs/protocol.md#r6-the-log-grants-the-lease",
    only: SEVERAL_ISOLATES,
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
    id: "purge-protocol/late-route-log-silent",
    name: "while the log is silent, a route that lets purges arrive late serves its pages for at most that long after the last read",
    source: "docs/protocol.md#r6-the-log-grants-the-lease; docs/protocol.md#r8-unknown",
    only: SEVERAL_ISOLATES,
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
    id: "purge-protocol/late-immutable-pages",
    name: "if the site says so, purges may arrive late at immutable pages, and at no others",
    source: "docs/protocol.md#r6-the-log-grants-the-lease",
    only: SEVERAL_ISOLATES,
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
  {
    id: "purge-protocol/receipt-and-late-routes",
    name: "a receipt includes the longest delay that any route allows for purges",
    source: "docs/protocol.md#r6-the-log-grants-the-lease",
    site: { routes: [...late.routes, { match: "/later", purge: { maxViewAge: "90s" } }] },
    steps: [{ purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":90250,/ } }],
  },
  {
    id: "purge-protocol/receipt-and-immutable-pages",
    name: "a receipt includes the delay that the site allows for purges of immutable pages",
    source: "docs/protocol.md#r6-the-log-grants-the-lease",
    site: { purge: { maxViewAgeImmutable: "60s" } },
    steps: [{ purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":60250,/ } }],
  },
  {
    id: "purge-protocol/gap-in-shared-view",
    name: "story 12: an isolate that has missed a purge reads the log itself instead of relying on a later read by another isolate",
    source: "docs/protocol.md#r12-no-gaps",
    only: SEVERAL_ISOLATES,
    orders: 4,
    origin: { "/a": [songsV1, songsV2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 500 },
      { purge: { urls: ["/a"] } },
      { purge: { tags: manyTags } },
      { advanceMs: 500 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/late-reply-of-log",
    name: "story 13: an old reply of the log that arrives late does not undo newer knowledge",
    source: "docs/protocol.md#r11-views-only-grow",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [songsV1, songsV2], "/b": [songsV1, songsV2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { get: "/b", expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 900 },
      { holdNext: "reply of the log", until: "late" },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } }, // the log is read behind it
      { advanceMs: 1 },
      { purge: { tags: ["songs"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { release: "late" },
      { advanceMs: 1 },
      { get: "/b", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/late-shared-view",
    name: "story 13: an old shared view that arrives late does not undo newer knowledge, even if its reader's clock is ahead",
    source: "docs/protocol.md#r11-views-only-grow",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [songsV1, songsV2], "/b": [songsV1, songsV2], "/other": [songsV1] },
    steps: [
      { clockOf: "c", aheadMs: 200 },
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { send: { path: "/b", isolate: "b" }, expect: { body: "v1" } },
      { advanceMs: 1_000 },
      { holdNext: "shared copy", until: "late" },
      { send: { path: "/other", isolate: "c" }, expect: { xCache: "MISS" } }, // it reads the log
      { purge: { tags: ["songs"] }, isolate: "far/a" },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } }, // it reads the log anew
      { release: "late" },
      { advanceMs: 700 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } }, // it takes the shared view behind the answer
      { advanceMs: 1 },
      { send: { path: "/b", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
];
