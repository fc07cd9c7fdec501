import type { Scenario } from "../../engine/scenario.ts";
import { BENEATH_THE_ISOLATES, LOST_LOG, SEVERAL_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

const v1 = page("max-age=3600", "v1", { "cache-tag": "songs" });
const v2 = { ...v1, body: "v2" };

/** The log is replaced, set back, taken over or renamed. */
export const scenarios: readonly Scenario[] = [
  {
    id: "purge-protocol/token-of-new-log",
    name: "story 5: a view of the old log does not satisfy the token of a new log, even if the view's number is higher",
    source: "docs/protocol.md#r9-token",
    only: SEVERAL_ISOLATES,
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
    id: "purge-protocol/new-log-same-number",
    name: "story 23: when another log reaches the same number, a page that was found fresh is checked again",
    source: "docs/protocol.md#r16-skip",
    only: LOST_LOG,
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
  {
    id: "purge-protocol/new-log-and-same-validators",
    name: "a page of which a new log does not know is fetched in full, because it may have been purged",
    source: "docs/protocol.md#r13-one-log; docs/protocol.md#r10-modes",
    only: LOST_LOG,
    origin: { "/a": [{ ...v1, fields: { ...v1.fields, etag: '"1"' } }, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { log: "made anew" },
      { purge: { tags: ["unrelated"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { originLastSaw: "/a", fields: { "if-none-match": null } },
    ],
  },
  {
    id: "purge-protocol/new-log-and-head",
    name: "a HEAD does not confirm a page of which a new log does not know",
    source: "docs/protocol.md#r13-one-log",
    only: LOST_LOG,
    origin: { "/a": [v1, v2, v2].map((each) => ({ ...each, fields: { ...each.fields, etag: '"1"' } })) },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { log: "made anew" },
      { purge: { tags: ["unrelated"] } },
      { send: { method: "HEAD", path: "/a" }, expect: { status: 200 } },
      { work: "finished" },
      { get: "/a", expect: { body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/late-view-of-old-log",
    name: "story 14: an isolate that has read a new log ignores a late copy of the old one",
    source: "docs/protocol.md#r11-views-only-grow",
    only: BENEATH_THE_ISOLATES,
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
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } }, // it reads the new log
      { release: "late" },
      { advanceMs: 700 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } }, // it renews its view behind the answer
      { advanceMs: 1 },
      { send: { path: "/b", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/log-set-back",
    name: "story 16: if the log's storage is set back and a number is used twice, isolates also learn of the second purge",
    source: "docs/protocol.md#r13-one-log",
    only: BENEATH_THE_ISOLATES,
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
    id: "purge-protocol/log-set-back-alone",
    name: "if the log's storage is set back and only pages are ahead of it, a later purge removes them, too",
    source: "docs/protocol.md#r13-one-log",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [v1, v2], "/b": [v1, v2] },
    steps: [
      { log: "saved" },
      { purge: { tags: ["unrelated"] } },
      { purge: { tags: ["unrelated"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { get: "/b", expect: { xCache: "MISS", body: "v1" } },
      { work: "finished" },
      { advanceMs: 1_250 },
      { log: "set back" },
      { restart: "isolate" },
      { purge: { urls: ["/a"] }, expect: { status: 200, body: /"seq":1,/ } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { get: "/b", expect: { xCache: "MISS", body: "v2" } }, // a purge of it may have been lost
      { get: "/b", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/log-taken-over",
    name: "story 17: a log object that does not know that it was replaced reports the purges that its replacement received",
    source: "docs/protocol.md#r14-read-from-storage",
    only: BENEATH_THE_ISOLATES,
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
    id: "purge-protocol/log-renamed",
    name: "story 28: after the log is renamed, only isolates of the old version serve purged pages, until they end",
    source: "docs/protocol.md#r13-one-log",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [v1, v1, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { log: "renamed" },
      { send: { path: "/a", isolate: "c" }, expect: { xCache: "MISS", body: "v1" } },
      { work: "finished" }, // otherwise the old page may be written last
      { purge: { urls: ["/a"] }, isolate: "c" },
      { send: { path: "/a", isolate: "c" }, expect: { xCache: "MISS", body: "v2" } },
      { advanceMs: 1_250 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { restart: "isolate" },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } },
    ],
  },
];
