import type { Scenario } from "../../engine/scenario.ts";
import { CONNECTIONS, LOST_LOG, SHARED_VIEWS } from "../not-on-every-engine.ts";
import { page } from "../page.ts";
import { v1 } from "./openings.ts";

const v2 = page("max-age=3600", "v2", { etag: '"2"' });
/** Fetched in the second of its `Last-Modified`. */
const young = page("max-age=3600", "v1", { "last-modified": "Thu, 01 Jan 2026 12:00:00 GMT" });
const unchanged = { status: 304, fields: { "cache-control": "max-age=3600", etag: '"1"' } };
const soft = "docs/protocol.md#soft-purges";
function cacheable(cacheControl: string, body = "v1") {
  return { fields: { "cache-control": cacheControl }, body };
}

/** A soft purge makes pages stale instead of unusable, for a bounded time. */
export const scenarios: readonly Scenario[] = [
  {
    id: "purging/soft-serves-while-refetching",
    name: "after a soft purge, a page with stale-while-revalidate is served once more while it is refetched",
    source: soft,
    origin: { "/a": [cacheable("max-age=3600, stale-while-revalidate=60"), v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      {
        get: "/a",
        expect: { xCache: "UPDATING", body: "v1", cacheStatus: "tidemark; hit; ttl=0; detail=soft-purge" },
      },
      { originSees: "/a", count: 2 },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "purging/soft-ends-with-window",
    name: "after a soft purge, a page without a replacement is usable only as long as stale-while-revalidate says",
    source: soft,
    origin: { "/a": [cacheable("max-age=3600, stale-while-revalidate=10")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { origin: "down" },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 9_999 },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 502 } },
    ],
  },
  {
    id: "purging/soft-window-of-site",
    name: "if a response does not say how long it may be used after a soft purge, the site's setting applies",
    source: soft,
    site: { purge: { softForMs: 5_000 } },
    origin: { "/a": [v1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { origin: "down" },
      { advanceMs: 4_999 },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 502 } },
    ],
  },
  ...[
    ["soft-ends-while-idle", "an isolate that was asked for nothing meanwhile", "a", "a", "b"],
    ["soft-ends-for-a-newcomer", "an isolate that starts later", "a", "c", "b"],
    ["soft-ends-far-away", "a PoP that was asked for nothing meanwhile", "far/a", "far/a", "far/b"],
  ].map(
    ([id, who, filled, asked, early]): Scenario => ({
      id: `purging/${id}`,
      name: `the time that a page may be used after a soft purge is over for ${who}, too`,
      source: soft,
      site: { purge: { softForMs: 60_000 } },
      origin: { "/a": [cacheable("max-age=86400")] },
      steps: [
        { send: { path: "/a", isolate: filled! }, expect: { xCache: "MISS" } },
        { work: "finished" },
        { purge: { urls: ["/a"], mode: "soft" }, isolate: "other" },
        { origin: "down" },
        { advanceMs: 58_000 },
        { send: { path: "/a", isolate: early! }, expect: { xCache: "UPDATING", body: "v1" } },
        { advanceMs: 3_000 },
        { origin: "up" },
        { reply: { "/a": [cacheable("max-age=86400", "v2")] } },
        { send: { path: "/a", isolate: asked! }, expect: { xCache: "EXPIRED", body: "v2" } },
      ],
      only: { on: ["memory"], because: "only there several PoPs and isolates have names" },
    }),
  ),
  {
    id: "purging/soft-ends-in-a-shared-view",
    name: "the time that a page may be used after a soft purge is over for an isolate that learns of it from another one",
    source: soft,
    site: { purge: { softForMs: 60_000 } },
    origin: { "/a": [cacheable("max-age=86400"), v2], "/b": [v1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" }, isolate: "c" },
      { advanceMs: 61_000 },
      { send: { path: "/b", isolate: "b" }, expect: { xCache: "MISS" } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
    ],
    only: SHARED_VIEWS,
  },
  {
    id: "purging/soft-ends-before-a-late-push",
    name: "the time that a page may be used after a soft purge is over when a push comes that was long under way",
    source: soft,
    site: { purge: { softForMs: 60_000, push: true, keepViewMs: 500 } },
    origin: { "/a": [cacheable("max-age=86400"), v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS" } },
      { holdNext: "push of the log", until: "late" },
      { purge: { urls: ["/a"], mode: "soft" } },
      { advanceMs: 61_000 },
      { release: "late" },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "EXPIRED", body: "v2" } },
    ],
    only: CONNECTIONS,
  },
  {
    id: "purging/soft-never-lengthens",
    name: "story 30: neither a soft purge nor a restart extends the time that a page may be used",
    source: `${soft}; docs/protocol.md#r10-modes`,
    site: { purge: { softForMs: 3_600_000 } },
    origin: { "/a": [cacheable("max-age=60")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { origin: "down" },
      { advanceMs: 30_000 },
      { restart: "isolate" },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 29_999 },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 502 } },
    ],
  },
  {
    id: "purging/soft-without-stale-use",
    name: "if neither response nor site allows stale use, a softly purged page is validated before use",
    source: soft,
    origin: { "/a": [v1, unchanged] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      {
        get: "/a",
        expect: {
          xCache: "REVALIDATED",
          body: "v1",
          cacheStatus: /fwd=stale; fwd-status=304; stored; detail=soft-purge/,
        },
      },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
    ],
  },
  {
    id: "purging/soft-within-a-second",
    name: "a softly purged page that was fetched in the second of its Last-Modified is fetched in full",
    source: `${soft}; RFC 9110 §8.8.2.2`,
    origin: { "/a": [young, { ...young, body: "v2" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
      { originLastSaw: "/a", fields: { "if-modified-since": null } },
    ],
  },
  {
    id: "purging/soft-within-a-second-and-head",
    name: "a HEAD does not confirm a softly purged page that was fetched in the second of its Last-Modified",
    source: `${soft}; RFC 9111 §4.3.5; RFC 9110 §8.8.2.2`,
    origin: { "/a": [young, young, { ...young, body: "v2" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { send: { method: "HEAD", path: "/a" }, expect: { xCache: "EXPIRED" } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    id: "purging/soft-and-must-revalidate",
    name: "after a soft purge, a page with must-revalidate is validated before use",
    source: soft,
    site: { purge: { softForMs: 60_000 } },
    origin: { "/a": [{ ...v1, fields: { ...v1.fields, "cache-control": "max-age=3600, must-revalidate" } }, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    id: "purging/soft-and-token",
    name: "story 4: after a soft purge, a request with its token is served nothing stale",
    source: "docs/protocol.md#r9-token; docs/protocol.md#r10-modes",
    origin: { "/a": [cacheable("max-age=3600, stale-while-revalidate=60"), v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { get: "/a", fields: { "tidemark-after": "$token" }, expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    id: "purging/soft-after-hard",
    name: "story 11: a soft purge after a hard purge of the same page does not bring it back",
    source: "docs/protocol.md#r10-modes",
    origin: { "/a": [cacheable("max-age=3600, stale-while-revalidate=60"), v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"] } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { get: "/a", expect: { xCache: "MISS", body: "v2", cacheStatus: /detail=purged/ } },
    ],
  },
  {
    id: "purging/soft-and-stale-if-error",
    name: "after a soft purge, a page may replace a failed origin for as long as stale-if-error says, counted from the purge",
    source: "docs/protocol.md#r18-on-error; docs/protocol.md#soft-purges",
    origin: { "/a": [cacheable("max-age=3600, stale-if-error=10")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { origin: "down" },
      { advanceMs: 9_999 },
      { get: "/a", expect: { xCache: "STALE", body: "v1" } },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 502 } },
    ],
  },
  {
    id: "purging/soft-counts-from-the-latest",
    name: "the window of a soft purge counts from the latest one, whichever key it names",
    source: soft,
    site: { purge: { softForMs: 10_000 } },
    origin: { "/a": [page("max-age=3600", "v1", { "cache-tag": "t" })] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { advanceMs: 9_000 },
      { purge: { tags: ["t"], mode: "soft" } },
      { origin: "down" },
      { advanceMs: 5_000 },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
    ],
  },
  {
    id: "purging/soft-while-log-silent",
    name: "while the log is silent, a softly purged page is validated before use, because a hard purge may have followed",
    source: "docs/protocol.md#r8-unknown; docs/protocol.md#r10-modes",
    only: LOST_LOG,
    origin: { "/a": [cacheable("max-age=3600, stale-while-revalidate=60"), v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { log: "down" },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    id: "purging/soft-with-refresh",
    name: "after a soft purge with a refresh, the new page is served at once",
    source: "docs/protocol.md#r20-refresh-and-repeat",
    origin: { "/a": [cacheable("max-age=3600, stale-while-revalidate=60"), v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], mode: "soft", refresh: true } },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
];
