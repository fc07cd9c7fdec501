import type { Scenario } from "../engine/scenario.ts";

const v1 = { fields: { "cache-control": "max-age=3600", "cache-tag": "songs" }, body: "v1" };
const v2 = { ...v1, body: "v2" };

/** What a PoP of the simulated CDN can do, too. */
const madeAnew: readonly Scenario[] = [
  {
    name: "story 5: the token of a new log is not honoured by a view of the old one, though that one's number is higher",
    source: "docs/protocol.md#r9-token; docs/protocol.md#the-stories",
    only: { engine: "memory", because: "one worker of the runtime is one isolate" },
    origin: { "/a": [v1, v2] },
    steps: [
      { purge: { tags: ["unrelated"] } },
      { purge: { tags: ["unrelated"] } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { log: "made anew" },
      { purge: { urls: ["/a"] } },
      {
        send: { path: "/a", isolate: "b", fields: { "tidemark-after": "$token" } },
        expect: { xCache: "MISS", body: "v2" },
      },
    ],
  },
  {
    name: "story 23: a page that was found fresh is checked anew when another log has come to the same number",
    source: "docs/protocol.md#r16-skip; docs/protocol.md#the-stories",
    only: { engine: "memory", because: "one instance of the runtime cannot lose its own log; the simulated CDN will" },
    origin: { "/a": [v1, v2] },
    steps: [
      { purge: { tags: ["unrelated"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      { log: "made anew" },
      { purge: { urls: ["/a"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
];

/** What happens to the log itself, or on the way to it. */
const beneath: readonly Scenario[] = [
  {
    name: "story 14: who has read a new log does not fall back to a late copy of the old one",
    source: "docs/protocol.md#r11-views-only-grow; docs/protocol.md#the-stories",
    origin: { "/a": [v1, v2], "/b": [v1, v2], "/other": [v1] },
    steps: [
      { clockOf: "c", aheadMs: 200 },
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { send: { path: "/b", isolate: "b" }, expect: { body: "v1" } },
      { advanceMs: 1_000 },
      { holdNext: "shared copy", until: "late" },
      { send: { path: "/other", isolate: "c" }, expect: { xCache: "MISS" } }, // it reads the old log
      { log: "made anew" },
      { purge: { tags: ["songs"] }, isolate: "far/a" },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } }, // it reads the new one
      { release: "late" },
      { advanceMs: 700 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } }, // it renews its view behind that
      { advanceMs: 1 },
      { send: { path: "/b", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "story 16: when the log's storage goes back and a number is used twice, the second purge is heard of, too",
    source: "docs/protocol.md#r13-one-log; docs/protocol.md#the-stories",
    origin: { "/a": [v1, v2] },
    steps: [
      { log: "saved" },
      { purge: { tags: ["unrelated"] }, isolate: "far/a", expect: { status: 200, body: /"seq":1,/ } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { log: "set back" },
      { purge: { urls: ["/a"] }, isolate: "far/a", expect: { status: 200, body: /"seq":1,/ } },
      { advanceMs: 1_250 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "story 17: an object of the log that does not know that another took its place tells what that one was told",
    source: "docs/protocol.md#r14-read-from-storage; docs/protocol.md#the-stories",
    origin: { "/a": [v1, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { log: "taken over" },
      { purge: { urls: ["/a"] }, isolate: "far/a" },
      { advanceMs: 1_250 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "story 28: once the log is renamed, isolates of the old version show what is purged until they end, and no others",
    source: "docs/protocol.md#r13-one-log; docs/protocol.md#the-stories",
    origin: { "/a": [v1, v1, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { log: "renamed" },
      { send: { path: "/a", isolate: "c" }, expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"] }, isolate: "c" },
      { send: { path: "/a", isolate: "c" }, expect: { xCache: "MISS", body: "v2" } },
      { advanceMs: 1_250 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { restart: "isolate" },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } },
    ],
  },
];

/** The stories of docs/protocol.md in which the log is another one than before, or seems to be the same. */
export const storiesOfTheLog: readonly Scenario[] = [
  ...madeAnew,
  ...beneath.map((scenario): Scenario => {
    return { only: { engine: "memory", because: "what happens beneath the isolates is ours in memory" }, ...scenario };
  }),
];
