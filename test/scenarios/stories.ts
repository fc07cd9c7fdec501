import type { Scenario } from "../engine/scenario.ts";

const fields = { "cache-control": "max-age=1", "cache-tag": "song:42" };
const v1 = { fields: { ...fields, etag: '"1"' }, body: "v1" };
const v2 = { fields: { ...fields, etag: '"2"' }, body: "v2" };
const stillV1 = { status: 304, fields: v1.fields };
const stillV2 = { status: 304, fields: v2.fields };

const lasting = { "cache-control": "max-age=3600" };
const old = { fields: lasting, body: "v1" };
const changed = { fields: lasting, body: "v2" };
const done = { status: 204 };

/** Stale after a second, and then it may stand in for a failed origin. */
const standIn = { fields: { "cache-control": "max-age=1, stale-if-error=600" }, body: "v1" };
const standInPaths = { "/a": [standIn, { status: 503, body: "overloaded", hold: "slow" }] };

const inGerman = { fields: { "cache-control": "max-age=3600", vary: "accept-language", etag: '"de"' }, body: "hallo" };
const inEnglish = { fields: { ...inGerman.fields, etag: '"en"' }, body: "hello" };

/** What another isolate of the PoP does, which has not heard of it yet. */
const inTwoIsolates: readonly Scenario[] = [
  {
    name: "story 10: a 304 freshens what its validator named, and not an older copy in memory",
    source: "docs/protocol.md#r3-same-bytes; docs/protocol.md#the-stories",
    origin: { "/a": [v1, v2, stillV2] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { advanceMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "EXPIRED", body: "v2" } },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "REVALIDATED", body: "v2" } },
      { originLastSaw: "/a", fields: { "if-none-match": '"2"' } },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    name: "while the log is silent, one lease of a validated page is counted from when its validation was sent off",
    source: "docs/protocol.md#r2-validation-is-a-fetch; docs/protocol.md#r8-unknown",
    origin: { "/a": [v1, { ...stillV1, fields: { ...v1.fields, "cache-control": "max-age=60" }, hold: "slow" }, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { advanceMs: 1_000 },
      { begin: "early", send: { path: "/a", isolate: "b" } },
      { originSees: "/a", count: 2 },
      { log: "down" },
      { advanceMs: 900 },
      { release: "slow" },
      { finish: "early", expect: { xCache: "REVALIDATED", body: "v1" } },
      { advanceMs: 99 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "while the log is silent, a page that has just been validated is served for one lease",
    source: "docs/protocol.md#r2-validation-is-a-fetch; docs/protocol.md#r8-unknown",
    origin: { "/a": [v1, { ...stillV1, fields: { ...v1.fields, "cache-control": "max-age=60" } }] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { log: "down" },
      { advanceMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "REVALIDATED", body: "v1" } },
      { advanceMs: 999 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "REVALIDATED", body: "v1" } },
    ],
  },
  {
    name: "story 20: a page that was fetched while a POST was under way is out of date a lease after the POST",
    source: "docs/protocol.md#r15-unsafe-methods; docs/protocol.md#the-stories",
    origin: { "/a": [{ ...done, hold: "post" }, old, changed] },
    steps: [
      { begin: "post", send: { method: "POST", path: "/a", body: "new" } },
      { originSees: "/a", count: 1 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 1 },
      { release: "post" },
      { finish: "post", expect: { status: 204 } },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 999 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    name: "story 21: a POST whose answer is lost may have changed its page, so all copies go",
    source: "docs/protocol.md#r15-unsafe-methods; docs/protocol.md#the-stories",
    origin: { "/a": [old, { ...done, hold: "post" }, changed] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { begin: "post", send: { method: "POST", path: "/a", body: "new" } },
      { originSees: "/a", count: 2 },
      { origin: "down" },
      { finish: "post", expect: { status: 502 } },
      { origin: "up" },
      { advanceMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    name: "who asks after a POST does not wait for a fetch that began before it, though the log is silent",
    source: "docs/protocol.md#r15-unsafe-methods; docs/protocol.md#r5-followers",
    origin: { "/a": [{ ...old, hold: "slow" }, done, changed] },
    steps: [
      { begin: "early", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { log: "down" },
      { send: { method: "POST", path: "/a", body: "new" }, expect: { status: 204 } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { release: "slow" },
      { finish: "early", expect: { body: "v1" } },
    ],
  },
  {
    name: "a purge that comes while the origin fails keeps a stale page from standing in",
    source: "docs/protocol.md#r18-on-error",
    origin: standInPaths,
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { advanceMs: 1_500 },
      { begin: "asked", send: { path: "/a", isolate: "b" } },
      { originSees: "/a", count: 2 },
      { purge: { urls: ["/a"] } },
      { advanceMs: 1_000 },
      { release: "slow" },
      { finish: "asked", expect: { status: 503, body: "overloaded" } },
    ],
  },
  {
    name: "story 25: while log and origin are both down, what the isolate has not heard of may stand in, as the owner likes",
    source: "docs/protocol.md#r18-on-error; docs/protocol.md#the-stories",
    origin: { "/a": [standIn] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { purge: { urls: ["/a"] } },
      { log: "down" },
      { origin: "down" },
      { advanceMs: 1_500 },
      { send: { path: "/a", isolate: "b" }, expect: { status: 200, xCache: "STALE", body: "v1" } },
      { advanceMs: 200 }, // that of b no longer counts as a read that is under way
      { get: "/a", expect: { status: 502 } },
    ],
  },
  {
    name: "an owner can forbid that a stale page stands in while nobody knows whether it was purged",
    source: "docs/protocol.md#r18-on-error",
    site: { stale: { ifErrorWhileLogSilent: false } },
    origin: { "/a": [standIn] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { log: "down" },
      { origin: "down" },
      { advanceMs: 1_500 },
      { send: { path: "/a", isolate: "b" }, expect: { status: 502 } },
      { log: "up" },
      { advanceMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { status: 200, xCache: "STALE", body: "v1" } },
    ],
  },
];

/** What the edge does a lease later, on its own. */
const aLeaseLater: readonly Scenario[] = [
  {
    name: "a second POST within a lease is told to the log when the lease is over",
    source: "docs/protocol.md#r15-unsafe-methods",
    origin: { "/a": [done, old, done, changed] },
    steps: [
      { send: { method: "POST", path: "/a", body: "new" }, expect: { status: 204 } },
      { advanceMs: 500 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { send: { method: "POST", path: "/a", body: "newer" }, expect: { status: 204 } },
      { advanceMs: 1_500 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    name: "a POST while the log is silent is told to the log when it speaks again",
    source: "docs/protocol.md#r15-unsafe-methods",
    origin: { "/a": [old, done, changed] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { log: "down" },
      { send: { method: "POST", path: "/a", body: "new" }, expect: { status: 204 } },
      { advanceMs: 3_999 },
      { log: "up" },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
];

/** What docs/protocol.md tells of validation, unsafe methods, stale answers and variants. */
export const stories: readonly Scenario[] = [
  {
    name: "story 9: a page that was purged while it was validated goes to who asked in time, and is not kept",
    source: "docs/protocol.md#r2-validation-is-a-fetch; docs/protocol.md#the-stories",
    origin: { "/a": [v1, { ...stillV1, hold: "slow" }, v2] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { advanceMs: 1_000 },
      { begin: "early", send: { path: "/a" } },
      { originSees: "/a", count: 2 },
      { purge: { urls: ["/a"] } },
      { release: "slow" },
      { finish: "early", expect: { xCache: "REVALIDATED", body: "v1" } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "a page that was purged while a HEAD confirmed it is not kept",
    source: "docs/protocol.md#r2-validation-is-a-fetch; RFC 9111 §4.3.5",
    origin: { "/a": [v1, { ...v1, hold: "slow" }, v2] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { advanceMs: 1_000 },
      { begin: "early", send: { method: "HEAD", path: "/a" } },
      { originSees: "/a", count: 2 },
      { purge: { urls: ["/a"] } },
      { release: "slow" },
      { finish: "early", expect: { status: 200, body: "" } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "a purge ends a page that was validated before it",
    source: "docs/protocol.md#r2-validation-is-a-fetch",
    origin: { "/a": [v1, stillV1, v2] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "REVALIDATED" } },
      { get: "/a", expect: { xCache: "HIT" } },
      { purge: { urls: ["/a"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "an earlier purge of something else does not end a page that was validated after it",
    source: "docs/protocol.md#r2-validation-is-a-fetch",
    origin: { "/a": [v1, stillV1] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { purge: { tags: ["unrelated"] } },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "REVALIDATED" } },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    name: "a 304 that names one of several variants freshens that one",
    source: "docs/protocol.md#r3-same-bytes; RFC 9111 §4.3.4",
    origin: { "/a": [inGerman, inEnglish, { ...inGerman, status: 304 }] },
    steps: [
      { get: "/a", fields: { "accept-language": "en" }, expect: { body: "hallo" } },
      { get: "/a", fields: { "accept-language": "de" }, expect: { body: "hello" } },
      { get: "/a", fields: { "accept-language": "fr" }, expect: { xCache: "REVALIDATED", body: "hallo" } },
      { get: "/a", fields: { "accept-language": "fr" }, expect: { xCache: "HIT", body: "hallo" } },
    ],
  },
  {
    name: "story 24: a 304 without tags does not make a page lose those that it has",
    source: "docs/protocol.md#r17-tags-on-304; docs/protocol.md#the-stories",
    origin: { "/a": [v1, { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"' } }, v2] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "REVALIDATED" } },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      { purge: { tags: ["song:42"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "a tag that a 304 brings is one of the page's from then on",
    source: "docs/protocol.md#r17-tags-on-304",
    origin: { "/a": [v1, { ...stillV1, fields: { ...v1.fields, "cache-tag": "song:43" } }, v2] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "REVALIDATED" } },
      { advanceMs: 1 },
      { purge: { tags: ["song:43"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "the origin is not asked to confirm what was purged: it is fetched in full",
    source: "docs/protocol.md#r10-modes",
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { purge: { urls: ["/a"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { originLastSaw: "/a", fields: { "if-none-match": null } },
    ],
  },
  {
    name: "who carries a receipt's token is shown nothing stale",
    source: "docs/protocol.md#r9-token; RFC 5861 §3",
    origin: { "/a": [{ ...old, fields: { "cache-control": "max-age=1, stale-while-revalidate=60" } }, changed] },
    steps: [
      { purge: { tags: ["unrelated"] } },
      { get: "/a", expect: { body: "v1" } },
      { advanceMs: 1_000 },
      { get: "/a", fields: { "tidemark-after": "$token" }, expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    name: "who carries a receipt's token is shown nothing stale when the origin fails",
    source: "docs/protocol.md#r9-token; docs/protocol.md#r18-on-error",
    origin: { "/a": [standIn] },
    steps: [
      { purge: { tags: ["unrelated"] } },
      { get: "/a", expect: { body: "v1" } },
      { origin: "down" },
      { advanceMs: 1_000 },
      { get: "/a", fields: { "tidemark-after": "$token" }, expect: { status: 502 } },
      { get: "/a", expect: { xCache: "STALE", body: "v1" } },
    ],
  },
  {
    name: "a POST takes the page out of its own PoP at once",
    source: "docs/protocol.md#r15-unsafe-methods",
    origin: { "/a": [old, done, changed] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { advanceMs: 1 },
      { send: { method: "POST", path: "/a", body: "new" }, expect: { status: 204 } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "story 26: a purge reaches every variant of a page, and each visitor gets his own anew",
    source: "docs/protocol.md#r19-markers; docs/protocol.md#the-stories",
    origin: { "/a": [inGerman, inEnglish, { ...inGerman, body: "tag" }, { ...inEnglish, body: "hi" }] },
    steps: [
      { get: "/a", fields: { "accept-language": "de" }, expect: { xCache: "MISS", body: "hallo" } },
      { get: "/a", fields: { "accept-language": "en" }, expect: { xCache: "MISS", body: "hello" } },
      { get: "/a", fields: { "accept-language": "de" }, expect: { xCache: "HIT", body: "hallo" } },
      { purge: { urls: ["/a"] } },
      { get: "/a", fields: { "accept-language": "de" }, expect: { xCache: "MISS", body: "tag" } },
      { get: "/a", fields: { "accept-language": "en" }, expect: { xCache: "MISS", body: "hi" } },
      { get: "/a", fields: { "accept-language": "de" }, expect: { xCache: "HIT", body: "tag" } },
    ],
  },
  {
    name: "who waits for another one's fetch does not get a variant that is not his",
    source: "docs/protocol.md#r19-markers; RFC 9111 §4.1",
    origin: { "/a": [{ ...inGerman, hold: "slow" }, inEnglish] },
    steps: [
      { begin: "german", send: { path: "/a", fields: { "accept-language": "de" } } },
      { originSees: "/a", count: 1 },
      { begin: "english", send: { path: "/a", fields: { "accept-language": "en" } } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "german", expect: { body: "hallo" } },
      { finish: "english", expect: { body: "hello" } },
    ],
  },
  ...inTwoIsolates.map((scenario): Scenario => {
    return { ...scenario, only: { engine: "memory", because: "one worker of the runtime is one isolate" } };
  }),
  ...aLeaseLater.map((scenario): Scenario => {
    return { ...scenario, only: { engine: "memory", because: "what waits in the runtime waits for real time" } };
  }),
];
