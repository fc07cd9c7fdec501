import type { Scenario } from "../engine/scenario.ts";

const v1 = { fields: { "cache-control": "max-age=3600" }, body: "v1" };
const v2 = { ...v1, body: "v2" };

/** What happens beneath the isolates. */
const beneath: readonly Scenario[] = [
  {
    name: "story 3: what a look-up finds that outlasts the lease is judged by a view of then, and not of before",
    source: "docs/protocol.md#r4-judge-last; docs/protocol.md#the-stories",
    origin: { "/a": [v1, v2], "/other": [v1] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { work: "finished" },
      { send: { path: "/other", isolate: "c" }, expect: { body: "v1" } }, // by what b has read
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
    name: "story 8: who has lost the log serves what was just fetched, but not what he knew to be purged",
    source: "docs/protocol.md#r8-unknown; docs/protocol.md#the-stories",
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
      { advanceMs: 450 }, // the lease is over, and it is less than a lease since both were fetched
      { send: { path: "/b", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "story 18: after a deployment that shortens the lease, a receipt waits for isolates that still hold the longer one",
    source: "docs/protocol.md#r6-the-log-grants-the-lease; docs/protocol.md#the-stories",
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
    name: "story 19: while clocks of a PoP differ by no more than the allowance, a receipt waits long enough",
    source: "docs/protocol.md#r7-allowance; docs/protocol.md#the-stories",
    origin: { "/a": [v1, v2], "/other": [v1] },
    steps: [
      { clockOf: "c", aheadMs: 250 },
      { send: { path: "/other", isolate: "c" }, expect: { body: "v1" } },
      { work: "finished" },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } }, // by what c has read
      { purge: { urls: ["/a"] }, isolate: "far/a", expect: { status: 200, body: /"settlesInMs":1250,/ } },
      { advanceMs: 1_249 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "story 19: where clocks of a PoP differ by more than the allowance, a purged page is served for so much longer, at most",
    source: "docs/protocol.md#r7-allowance; docs/protocol.md#the-stories",
    origin: { "/a": [v1, v2], "/other": [v1] },
    steps: [
      { clockOf: "c", aheadMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { send: { path: "/other", isolate: "c" }, expect: { body: "v1" } },
      { purge: { urls: ["/a"] }, isolate: "far/a", expect: { status: 200, body: /"settlesInMs":1250,/ } },
      { advanceMs: 1_300 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } }, // by what c has read
      { advanceMs: 700 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "story 31: when the request that renews the view is cancelled, those who wait for it go on after a lease, and renew it",
    source: "docs/protocol.md#r21-waiting; docs/protocol.md#the-stories",
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
    name: "story 32: where the log takes more than a lease to answer, one who waits for it is enough",
    source: "docs/protocol.md#r21-waiting; docs/protocol.md#the-stories",
    origin: { "/a": [v1, v2], "/other": [v1] },
    steps: [
      { get: "/other", expect: { xCache: "MISS" } },
      { advanceMs: 1_000 },
      { logTakesMs: 1_002 },
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { begin: "waiting", send: { path: "/a" } },
      { advanceMs: 1_000 },
      { finish: "waiting", expect: { xCache: "MISS", body: "v2" } },
      { advanceMs: 2 }, // the answer comes, and its lease is over
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
];

/** The stories of docs/protocol.md about who may go by which view, and for how long. */
export const storiesOfTheLease: readonly Scenario[] = [
  {
    name: "story 6: while the log is silent, what was just fetched is for everybody but the bearer of a purge's token",
    source: "docs/protocol.md#r9-token; docs/protocol.md#the-stories",
    only: { engine: "memory", because: "one worker of the runtime is one isolate" },
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
  ...beneath.map((scenario): Scenario => {
    return { only: { engine: "memory", because: "what happens beneath the isolates is ours in memory" }, ...scenario };
  }),
];
