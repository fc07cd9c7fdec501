import type { Scenario } from "../engine/scenario.ts";

const v1 = { fields: { "cache-control": "max-age=3600", "cache-tag": "songs" }, body: "v1" };
const v2 = { ...v1, body: "v2" };

/** More than isolates of a PoP pass on to each other. */
const manyTags = Array.from({ length: 5_000 }, (_, index) => `unrelated:${index}`);

/** The stories of docs/protocol.md about what a page is filed under, and who hears that it was purged. */
export const storiesOfPages: readonly Scenario[] = [
  {
    name: "story 12: who has missed a purge does not go by what another isolate was told after it, but asks the log",
    source: "docs/protocol.md#r12-no-gaps; docs/protocol.md#the-stories",
    only: { engine: "memory", because: "one worker of the runtime is one isolate" },
    orders: 4,
    origin: { "/a": [v1, v2] },
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
    name: "story 13: an old reply of the log that lands late takes nothing back of what is known by then",
    source: "docs/protocol.md#r11-views-only-grow; docs/protocol.md#the-stories",
    only: { engine: "memory", because: "what happens beneath the isolates is ours in memory" },
    origin: { "/a": [v1, v2], "/b": [v1, v2] },
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
    name: "story 13: an old copy that lands late takes nothing back either, though the clock of who read it is ahead",
    source: "docs/protocol.md#r11-views-only-grow; docs/protocol.md#the-stories",
    only: { engine: "memory", because: "what happens beneath the isolates is ours in memory" },
    origin: { "/a": [v1, v2], "/b": [v1, v2], "/other": [v1] },
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
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } }, // it takes the copy behind that
      { advanceMs: 1 },
      { send: { path: "/b", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "story 15: what a new isolate began to fetch before it had a view is not kept under the first one that comes",
    source: "docs/protocol.md#r1-stamp; docs/protocol.md#the-stories",
    only: { engine: "memory", because: "one instance of the runtime cannot lose its own log; the simulated CDN will" },
    origin: { "/a": [{ ...v1, hold: "slow" }, v2] },
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
    name: "story 22: what an isolate finds in the shared tier keeps the number under which it was fetched",
    source: "docs/protocol.md#r3-same-bytes; docs/protocol.md#the-stories",
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { work: "finished" },
      { restart: "isolate" },
      { purge: { urls: ["/a"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "story 27: an answer that is for one visitor alone has everybody ask for himself for five seconds, and no longer",
    source: "docs/protocol.md#r19-markers; docs/protocol.md#the-stories",
    origin: { "/a": [{ fields: { "cache-control": "private" }, body: "for one" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "for one" } },
      { advanceMs: 4_999 },
      { sendMany: 20, request: { path: "/a" }, expectEach: { xCache: "MISS", body: "for one" } },
      { originSaw: { "/a": 21 } },
      { reply: { "/a": [v1] } },
      { advanceMs: 1 },
      { sendMany: 20, request: { path: "/a" }, expectEach: { status: 200, body: "v1" } },
      { originSaw: { "/a": 22 } },
    ],
  },
  {
    name: "story 29: what a purge fetches anew is of use in the whole PoP, and not fetched once more",
    source: "docs/protocol.md#r20-refresh-and-repeat; docs/protocol.md#the-stories",
    only: { engine: "memory", because: "one worker of the runtime is one isolate" },
    origin: { "/a": [v1, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], refresh: true } },
      { work: "finished" },
      { advanceMs: 1_250 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "story 30: a purge with an id is repeated all the same, and sent again it is still the first one",
    source: "docs/protocol.md#r20-refresh-and-repeat; docs/protocol.md#the-stories",
    origin: { "/a": [v1, v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], repeatAfterMs: 5_000, id: "once" } },
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 5_000 },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { purge: { urls: ["/a"], repeatAfterMs: 5_000, id: "once" }, expect: { status: 200, body: /"replayed":true/ } },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
];
