import type { Scenario } from "../../engine/scenario.ts";
import { BENEATH_THE_ISOLATES, LOST_LOG, SEVERAL_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

const v1 = page("max-age=3600");
const v2 = { ...v1, body: "v2" };
const songsV1 = page("max-age=3600", "v1", { "cache-tag": "songs" });
const songsV2 = { ...songsV1, body: "v2" };

/** Leases, clocks, and what an isolate may serve at their ends. */
export const scenarios: readonly Scenario[] = [
  {
    id: "purge-protocol/look-up-outlasts-lease",
    name: "story 3: if a look-up outlasts the lease, the view at the end of the look-up judges the entry",
    source: "docs/protocol.md#r4-judge-last",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [v1, v2], "/other": [v1] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { work: "finished" },
      { send: { path: "/other", isolate: "c" }, expect: { body: "v1" } }, // from the view that b has read
      { advanceMs: 400 },
      { holdNext: "look-up", until: "found" },
      { begin: "early", send: { path: "/a", isolate: "c" } },
      { advanceMs: 1 },
      { purge: { urls: ["/a"] }, isolate: "far/a" },
      { advanceMs: 1_250 },
      { release: "found" },
      { finish: "early", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/log-lost-after-purge",
    name: "story 8: an isolate that has lost the log serves a page that it just fetched, but not one that it knows to be purged",
    source: "docs/protocol.md#r8-unknown",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [v1, v2], "/b": [v1, v2], "/other": [v1] },
    steps: [
      { send: { path: "/other", isolate: "b" }, expect: { xCache: "MISS" } },
      { advanceMs: 1_000 },
      { logTakesMs: 600 },
      { send: { path: "/other?1", isolate: "b" }, expect: { status: 404 } }, // the log is read behind it
      { advanceMs: 100 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { send: { path: "/b", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { logTakesMs: 0 },
      { purge: { urls: ["/a"] }, isolate: "far/a" },
      { advanceMs: 500 },
      { log: "down" },
      { advanceMs: 450 }, // the lease has ended, but both were fetched less than a lease ago
      { send: { path: "/b", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/deployment-shortens-lease",
    name: "story 18: after a deployment that shortens the lease, a receipt waits for isolates that still hold the longer one",
    source: "docs/protocol.md#r6-the-log-grants-the-lease",
    only: BENEATH_THE_ISOLATES,
    site: { purge: { leaseMs: 5_000 } },
    origin: { "/a": [v1, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { deploy: { purge: { leaseMs: 1_000 } } },
      { purge: { urls: ["/a"] }, isolate: "c", expect: { status: 200, body: /"settlesInMs":5250,/ } },
      { advanceMs: 4_999 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/clocks-within-allowance",
    name: "story 19: while the clocks of a PoP differ by no more than the allowance, a receipt waits long enough",
    source: "docs/protocol.md#r7-allowance",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [v1, v2], "/other": [v1] },
    steps: [
      { clockOf: "c", aheadMs: 250 },
      { send: { path: "/other", isolate: "c" }, expect: { body: "v1" } },
      { work: "finished" },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } }, // from the view that c has read
      { purge: { urls: ["/a"] }, isolate: "far/a", expect: { status: 200, body: /"settlesInMs":1250,/ } },
      { advanceMs: 1_249 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/clocks-beyond-allowance",
    name: "story 19: if the clocks of a PoP differ by more than the allowance, a purged page is served longer by at most the excess",
    source: "docs/protocol.md#r7-allowance",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [v1, v2], "/other": [v1] },
    steps: [
      { clockOf: "c", aheadMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { send: { path: "/other", isolate: "c" }, expect: { body: "v1" } },
      { purge: { urls: ["/a"] }, isolate: "far/a", expect: { status: 200, body: /"settlesInMs":1250,/ } },
      { advanceMs: 1_300 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } }, // from the view that c has read
      { advanceMs: 700 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/cancelled-renewal",
    name: "story 31: if the request that renews the view is cancelled, the requests that wait for it renew the view after a lease",
    source: "docs/protocol.md#r21-waiting",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 1_000 },
      { holdNext: "reply of the log", until: "reply" },
      { begin: "cancelled", send: { path: "/a" } },
      { advanceMs: 1 },
      { begin: "waiting", send: { path: "/a" } },
      { advanceMs: 1 },
      { cancel: "cancelled" },
      { release: "reply" },
      { advanceMs: 999 },
      { finish: "waiting", expect: { xCache: "MISS", body: "v2" } },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/log-slower-than-lease",
    name: "story 32: if the log takes more than a lease to answer, only one request waits for it",
    source: "docs/protocol.md#r21-waiting; docs/protocol.md#r6-the-log-grants-the-lease",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [v1, v2], "/other": [v1] },
    steps: [
      { get: "/other", expect: { xCache: "MISS" } },
      { advanceMs: 1_000 },
      { logTakesMs: 1_002 },
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { begin: "waiting", send: { path: "/a" } },
      { advanceMs: 1_000 },
      { finish: "waiting", expect: { xCache: "MISS", body: "v2" } },
      { advanceMs: 2 }, // the answer arrives, and its lease is over
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/silent-log-token-bearer",
    name: "story 6: while the log is silent, a page that was just fetched serves everybody except requests with a purge's token",
    source: "docs/protocol.md#r9-token; docs/protocol.md#r8-unknown",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [v1, v2], "/other": [v1] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"] } },
      { log: "down" },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { send: { path: "/other", isolate: "b", fields: { "tidemark-after": "$token" } }, expect: { xCache: "MISS" } },
      {
        send: { path: "/a", isolate: "b", fields: { "tidemark-after": "$token" } },
        expect: { xCache: "MISS", body: "v2" },
      },
    ],
  },
  {
    id: "purge-protocol/fetch-before-first-view",
    name: "story 15: if a new isolate began a fetch before it had a view, the page is not stored under the first view that arrives",
    source: "docs/protocol.md#r1-stamp",
    only: LOST_LOG,
    origin: { "/a": [{ ...songsV1, hold: "slow" }, songsV2] },
    steps: [
      { log: "down" },
      { begin: "early", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { log: "up" },
      { purge: { urls: ["/a"] } },
      { release: "slow" },
      { finish: "early", expect: { xCache: "MISS", body: "v1" } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/entry-keeps-its-stamp",
    name: "story 22: an entry found in the shared tier keeps the sequence number under which it was fetched",
    source: "docs/protocol.md#r3-same-bytes",
    origin: { "/a": [songsV1, songsV2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { work: "finished" },
      { restart: "isolate" },
      { purge: { urls: ["/a"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
];
