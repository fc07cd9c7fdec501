import type { Scenario } from "../../engine/scenario.ts";
import { BENEATH_THE_ISOLATES, SEVERAL_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

const v1 = page("max-age=3600", "v1", { "cache-tag": "song:42, songs" });
const v2 = { ...v1, body: "v2" };

/** A request with a receipt's token gets nothing that was fetched before the purge. */
export const scenarios: readonly Scenario[] = [
  {
    id: "purge-protocol/token-at-another-isolate",
    name: "a request with the receipt's token gets the new page at once, even from an isolate that has not learned of the purge",
    source: "docs/protocol.md#r9-token",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [v1, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { purge: { urls: ["/a"] } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      {
        send: { path: "/a", isolate: "b", fields: { "tidemark-after": "$token" } },
        expect: { xCache: "MISS", body: "v2" },
      },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/silent-log-token",
    name: "while the log is silent, a request with a token is answered only by a fetch that began after it arrived",
    source: "docs/protocol.md#r9-token",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [v1, v2, { ...v1, body: "v3" }] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { purge: { urls: ["/a"] } },
      { log: "down" },
      { send: { path: "/a", isolate: "b", fields: { "tidemark-after": "$token" } }, expect: { body: "v2" } },
      { send: { path: "/a", isolate: "b", fields: { "tidemark-after": "$token" } }, expect: { body: "v3" } },
    ],
  },
  {
    id: "purge-protocol/silent-log-token-follower",
    name: "while the log is silent, a request with a token does not get the answer of a fetch that began before it arrived",
    source: "docs/protocol.md#r5-followers; docs/protocol.md#r9-token",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [{ ...v1, hold: "slow" }, v2] },
    steps: [
      { begin: "early", send: { path: "/a", isolate: "b" } },
      { originSees: "/a", count: 1 },
      { purge: { urls: ["/a"] } },
      { log: "down" },
      { advanceMs: 1 },
      { begin: "bearer", send: { path: "/a", isolate: "b", fields: { "tidemark-after": "$token" } } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "early", expect: { body: "v1" } },
      { finish: "bearer", expect: { body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/silent-log-late-follower",
    name: "story 2: while the log is silent, a request that arrives a lease after a fetch began does not get its answer",
    source: "docs/protocol.md#r5-followers; docs/protocol.md#r8-unknown",
    only: {
      on: ["memory", "server"],
      because: "in the runtime it is not known that a request has arrived before time advances",
    },
    origin: { "/a": [{ ...v1, hold: "slow" }, v2] },
    steps: [
      { begin: "early", send: { path: "/a", isolate: "b" } },
      { originSees: "/a", count: 1 },
      { purge: { urls: ["/a"] } },
      { log: "down" },
      { advanceMs: 999 },
      { begin: "within", send: { path: "/a", isolate: "b" } },
      { advanceMs: 1 },
      { begin: "after", send: { path: "/a", isolate: "b" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "early", expect: { body: "v1" } },
      { finish: "within", expect: { body: "v1" } },
      { finish: "after", expect: { body: "v2" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "purge-protocol/token-needs-recent-view",
    name: "a request with a receipt's token is answered from a view that includes the purge",
    source: "docs/protocol.md#r9-token",
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"] } },
      { get: "/a", fields: { "tidemark-after": "$token" }, expect: { xCache: "MISS", body: "v2" } },
      { get: "/a", fields: { cookie: "tidemark-after=$token" }, expect: { xCache: "HIT", body: "v2" } },
      { get: "/a", fields: { "tidemark-after": "$token" }, expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/token-ahead-of-log",
    name: "a token that is ahead of the log is ignored, whichever log it names",
    source: "docs/protocol.md#r9-token",
    origin: { "/a": [v1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { tags: ["unrelated"] } },
      { get: "/a", fields: { "tidemark-after": "$token" }, expect: { xCache: "HIT" } },
      { get: "/a", fields: { "tidemark-after": "$token99" }, expect: { xCache: "HIT" } },
      { get: "/a", fields: { "tidemark-after": "another-log.7" }, expect: { xCache: "HIT" } },
      { get: "/a", fields: { "tidemark-after": "nonsense" }, expect: { xCache: "HIT" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "purge-protocol/token-beside-validation",
    name: "a request with a token does not get a purged page that the origin has confirmed for another request",
    source: "docs/protocol.md#r10-modes; docs/protocol.md#r5-followers",
    only: BENEATH_THE_ISOLATES,
    origin: {
      "/a": [
        page("max-age=1", "v1", { etag: '"1"' }),
        { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"' }, hold: "confirmation" },
        page("max-age=60", "v2", { etag: '"1"' }),
      ],
      "/other": [page("max-age=60", "other")],
    },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { advanceMs: 5000 },
      { send: { path: "/other", isolate: "b" }, expect: { body: "other" } },
      { work: "finished" }, // it has read the log before the purge
      { purge: { urls: ["/a"] } },
      { logTakesMs: 100 },
      { begin: "bearer", send: { path: "/a", isolate: "b", fields: { "tidemark-after": "$token" } } },
      { begin: "other", send: { path: "/a", isolate: "b" } },
      { originSees: "/a", count: 2 },
      { advanceMs: 100 },
      { release: "confirmation" },
      { finish: "other", expect: { xCache: "REVALIDATED", body: "v1" } },
      { finish: "bearer", expect: { body: "v2" } },
    ],
  },
];
