import type { Scenario } from "../engine/scenario.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz";
const UPPER = ALPHABET.toUpperCase();

const large = { fields: { "cache-control": "max-age=60" }, body: ALPHABET };
const larger = { ...large, body: UPPER };
const tagged = { ...large, fields: { "cache-control": "max-age=60", etag: '"1"' } };

/** A body of more than ten bytes is a large one here. */
const SITE = { limits: { storeBytes: 10 } };
const ALL_DONE = { work: "finished" } as const;

const COUNTS_BYTES = { engine: "memory", because: "only the tier in memory counts what is read of it" } as const;
const HELD_WRITES = {
  engine: "memory",
  because: "the simulated CDN lets writes end before a request, and here one is held back",
} as const;

const storing: readonly Scenario[] = [
  {
    name: "a large body of known length is stored in two steps, and the second visitor gets it from store",
    source: "docs/design.md#bodies",
    site: SITE,
    origin: { "/a": [large] },
    steps: [
      {
        get: "/a",
        expect: {
          status: 200,
          xCache: "MISS",
          body: ALPHABET,
          cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored",
        },
      },
      ALL_DONE,
      { advanceMs: 10_000 },
      {
        get: "/a",
        expect: {
          status: 200,
          xCache: "HIT",
          body: ALPHABET,
          ageSeconds: 10,
          cacheStatus: "tidemark; hit; ttl=50",
        },
      },
      { originSaw: { "/a": 1 } },
      { stats: { "store.stored": 1, "store.storedBytes": 26 } },
    ],
  },
  {
    name: "a large body is found after a restart of the isolate",
    source: "docs/design.md#bodies; docs/design.md#tiers",
    site: SITE,
    origin: { "/a": [large] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      ALL_DONE,
      { restart: "isolate" },
      { get: "/a", expect: { xCache: "HIT", body: ALPHABET } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "a body of up to storeBytes is kept in memory, one of up to largeBytes apart, a larger one not at all",
    source: "docs/design.md#limits",
    only: COUNTS_BYTES,
    site: { limits: { storeBytes: 10, largeBytes: 26 } },
    origin: {
      "/ten": [{ ...large, body: "0123456789" }],
      "/eleven": [{ ...large, body: "0123456789a" }],
      "/26": [large],
      "/27": [{ ...large, body: `${ALPHABET}!` }],
    },
    steps: [
      ...["/ten", "/eleven", "/26"].map((path) => ({
        get: path,
        expect: { xCache: "MISS", cacheStatus: /; stored$/ },
      })),
      {
        get: "/27",
        expect: { xCache: "MISS", body: `${ALPHABET}!`, cacheStatus: /fwd-status=200; detail=too-large$/ },
      },
      ALL_DONE,
      { get: "/ten", expect: { xCache: "HIT", body: "0123456789" } },
      { bodyBytesRead: 0 },
      { get: "/eleven", expect: { xCache: "HIT", body: "0123456789a" } },
      { bodyBytesRead: 11 },
      { get: "/26", expect: { xCache: "HIT", body: ALPHABET } },
      { bodyBytesRead: 37 },
      { get: "/27", expect: { xCache: "MISS" } },
      { stats: { "store.stored": 3 } },
    ],
  },
  {
    name: "a large body without an announced length streams past and is not stored",
    source: "docs/design.md#bodies",
    site: SITE,
    origin: { "/a": [{ ...large, framing: "chunked" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: ALPHABET } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "MISS", body: ALPHABET } },
      { stats: { "store.stored": 0, "store.discarded.too-large": 2 } },
    ],
  },
  {
    name: "a HEAD of a large page that misses stores nothing",
    source: "RFC 9111 §3",
    site: SITE,
    origin: { "/a": [large] },
    steps: [
      {
        send: { method: "HEAD", path: "/a" },
        expect: { status: 200, xCache: "MISS", body: "", fields: { "content-length": "26" } },
      },
      ALL_DONE,
      { get: "/a", expect: { xCache: "MISS", body: ALPHABET } },
    ],
  },
  {
    name: "a large body that is cut off reaches the client as a cut, and is never a hit",
    source: "RFC 9112 §8; docs/design.md#promise-4",
    site: SITE,
    origin: { "/a": [{ ...large, cutAfterBytes: 13 }, larger] },
    steps: [
      { get: "/a", expect: { status: 200, xCache: "MISS", cutOff: true } },
      ALL_DONE,
      { stats: { "store.stored": 0, "store.discarded.cut-off": 1 } },
      { get: "/a", expect: { xCache: "MISS", body: UPPER, cutOff: false } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT", body: UPPER } },
    ],
  },
  {
    name: "while a large body is being stored, others for the same page are passed on, and then it is a hit",
    source: "docs/design.md#bodies",
    only: HELD_WRITES,
    site: SITE,
    origin: { "/a": [{ ...large, hold: "slow", bytesBeforeHold: 5 }, larger] },
    steps: [
      { begin: "first", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      {
        get: "/a",
        expect: {
          xCache: "MISS",
          body: UPPER,
          cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; detail=being-stored",
        },
      },
      { release: "slow" },
      { finish: "first", expect: { body: ALPHABET } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT", body: ALPHABET } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "a fill of a large body that has stood still for half a minute keeps no other from beginning",
    source: "docs/design.md#bodies",
    only: HELD_WRITES,
    site: SITE,
    origin: { "/a": [{ ...large, hold: "for ever", bytesBeforeHold: 5 }, larger] },
    steps: [
      { begin: "first", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { advanceMs: 30_000 },
      { get: "/a", expect: { xCache: "MISS", cacheStatus: /detail=being-stored/ } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "HIT", body: UPPER } },
      { release: "for ever" },
      { finish: "first", expect: { body: ALPHABET } },
    ],
  },
  {
    name: "a purge wins over the fill of a large body that began before it",
    source: "docs/protocol.md#r1-stamp; docs/protocol.md#r23-no-waste",
    site: SITE,
    origin: { "/a": [{ ...large, hold: "slow", bytesBeforeHold: 5 }, larger] },
    steps: [
      { begin: "early", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { purge: { urls: ["/a"] } },
      { release: "slow" },
      { finish: "early", expect: { xCache: "MISS", body: ALPHABET } },
      ALL_DONE,
      { stats: { "store.stored": 0, "store.discarded.purged": 1 } },
      { get: "/a", expect: { xCache: "MISS", body: UPPER } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT", body: UPPER } },
    ],
  },
  {
    name: "the fill of a large body that another isolate began before a purge is refused by all",
    source: "docs/protocol.md#r1-stamp; docs/protocol.md#r4-judge-last",
    only: HELD_WRITES,
    site: SITE,
    origin: { "/a": [{ ...large, hold: "slow", bytesBeforeHold: 5 }, larger] },
    steps: [
      { begin: "early", send: { path: "/a", isolate: "b" } },
      { originSees: "/a", count: 1 },
      { purge: { urls: ["/a"] } },
      { release: "slow" },
      { finish: "early", expect: { body: ALPHABET } },
      { advanceMs: 1_250 },
      { send: { path: "/a", isolate: "c" }, expect: { xCache: "MISS", body: UPPER } },
    ],
  },
  {
    name: "variants of a page may have large bodies, each its own",
    source: "RFC 9111 §4.1; docs/design.md#bodies",
    site: SITE,
    origin: {
      "/a": [
        { ...large, fields: { ...large.fields, vary: "accept-language" } },
        { ...larger, fields: { ...large.fields, vary: "accept-language" } },
      ],
    },
    steps: [
      { get: "/a", fields: { "accept-language": "de" }, expect: { xCache: "MISS", body: ALPHABET } },
      ALL_DONE,
      { get: "/a", fields: { "accept-language": "en" }, expect: { xCache: "MISS", body: UPPER } },
      ALL_DONE,
      { get: "/a", fields: { "accept-language": "de" }, expect: { xCache: "HIT", body: ALPHABET } },
      { get: "/a", fields: { "accept-language": "en" }, expect: { xCache: "HIT", body: UPPER } },
    ],
  },
  {
    name: "what browsers are told to keep a large page for, they are told from the first answer on",
    source: "docs/design.md#what-clients-see",
    site: { ...SITE, routes: [{ match: "/*", browserTtl: "5s" }] },
    origin: { "/a": [large] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { "cache-control": "max-age=5" } } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT", fields: { "cache-control": "max-age=5" } } },
    ],
  },
  {
    name: "a client that holds a large page gets a 304 while the page is stored for others",
    source: "RFC 9111 §4.3.2; docs/design.md#bodies",
    site: SITE,
    origin: { "/a": [tagged] },
    steps: [
      { get: "/a", fields: { "if-none-match": '"1"' }, expect: { status: 304, xCache: "MISS", body: "" } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT", body: ALPHABET } },
      { originSaw: { "/a": 1 } },
    ],
  },
];

const parts: readonly Scenario[] = [
  {
    name: "the length of a large body, and of its parts, is announced",
    source: "RFC 9112 §6.3; RFC 9110 §8.6",
    only: { engine: "runtime", because: "a length is announced on the wire alone" },
    site: SITE,
    origin: { "/a": [large] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { "content-length": "26", "transfer-encoding": null } } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT", fields: { "content-length": "26", "transfer-encoding": null } } },
      { get: "/a", fields: { range: "bytes=2-4" }, expect: { status: 206, fields: { "content-length": "3" } } },
    ],
  },
  {
    name: "of a large body only the bytes that are asked for are read",
    source: "RFC 9110 §14.2; docs/design.md#bodies",
    only: COUNTS_BYTES,
    site: SITE,
    origin: { "/a": [tagged] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      ALL_DONE,
      { send: { method: "HEAD", path: "/a" }, expect: { xCache: "HIT", fields: { "content-length": "26" } } },
      { get: "/a", fields: { "if-none-match": '"1"' }, expect: { status: 304, xCache: "HIT" } },
      {
        get: "/a",
        fields: { range: "bytes=26-" },
        expect: { status: 416, xCache: "HIT", body: "", fields: { "content-range": "bytes */26" } },
      },
      { bodyBytesRead: 0 },
      { get: "/a", fields: { range: "bytes=2-4" }, expect: { status: 206, xCache: "HIT", body: "cde" } },
      { bodyBytesRead: 3 },
      { get: "/a", fields: { range: "bytes=-2" }, expect: { status: 206, body: "yz" } },
      { bodyBytesRead: 5 },
      { get: "/a", fields: { range: "bytes=0-0, 24-99" }, expect: { status: 206, body: /a\r\n[\s\S]*yz\r\n/ } },
      { bodyBytesRead: 8 },
      { get: "/a", expect: { status: 200, body: ALPHABET } },
      { bodyBytesRead: 34 },
    ],
  },
  {
    name: "parts of a large body are cut from the stored one: single, open, suffix, several, and none that is beyond it",
    source: "RFC 9110 §14.2, §15.3.7, §15.5.17",
    site: SITE,
    origin: { "/a": [{ ...tagged, fields: { ...tagged.fields, "content-type": "text/plain" } }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      ALL_DONE,
      {
        get: "/a",
        fields: { range: "bytes=2-4" },
        expect: {
          status: 206,
          xCache: "HIT",
          body: "cde",
          fields: { "content-range": "bytes 2-4/26" },
        },
      },
      { get: "/a", fields: { range: "bytes=24-" }, expect: { status: 206, body: "yz" } },
      {
        get: "/a",
        fields: { range: "bytes=-1" },
        expect: { status: 206, body: "z", fields: { "content-range": "bytes 25-25/26" } },
      },
      {
        get: "/a",
        fields: { range: "bytes=0-1, 24-25" },
        expect: {
          status: 206,
          xCache: "HIT",
          body: /content-range: bytes 0-1\/26\r\n\r\nab\r\n[\s\S]*content-range: bytes 24-25\/26\r\n\r\nyz\r\n--[^\r]*--/i,
        },
      },
      {
        get: "/a",
        fields: { range: "bytes=26-" },
        expect: { status: 416, fields: { "content-range": "bytes */26" } },
      },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "If-Range decides whether a part of a large body is sent, or all of it",
    source: "RFC 9110 §13.1.5",
    site: SITE,
    origin: { "/a": [tagged] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      ALL_DONE,
      { get: "/a", fields: { range: "bytes=0-1", "if-range": '"1"' }, expect: { status: 206, body: "ab" } },
      { get: "/a", fields: { range: "bytes=0-1", "if-range": '"2"' }, expect: { status: 200, body: ALPHABET } },
      { get: "/a", fields: { range: "bytes=0-1", "if-range": 'W/"1"' }, expect: { status: 200, body: ALPHABET } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "a part of a large page that is not stored is asked of the origin alone",
    source: "RFC 9111 §3.3",
    site: { limits: { storeBytes: 10, fetchWholeBytes: 10 } },
    origin: { "/a": [large, { status: 206, fields: { "content-range": "bytes 0-1/26" }, body: "ab" }, large] },
    steps: [
      { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 206, xCache: "MISS", body: "ab" } },
      ALL_DONE,
      { originLastSaw: "/a", fields: { range: "bytes=0-1" } },
      { get: "/a", expect: { xCache: "MISS", body: ALPHABET } },
    ],
  },
];

const losing: readonly Scenario[] = [
  {
    name: "a large body that has been evicted is a miss, and is stored again",
    source: "docs/design.md#promise-6",
    site: SITE,
    origin: { "/a": [large, larger] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT", body: ALPHABET } },
      { sharedTier: "emptied" },
      {
        get: "/a",
        expect: {
          status: 200,
          xCache: "MISS",
          body: UPPER,
          cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored; detail=body-gone",
        },
      },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT", body: UPPER } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "a part of a large body that has been evicted is asked of the origin",
    source: "docs/design.md#promise-6; RFC 9111 §3.3",
    site: SITE,
    origin: { "/a": [large, { status: 206, fields: { "content-range": "bytes 0-1/26" }, body: "AB" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      ALL_DONE,
      { sharedTier: "emptied" },
      { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 206, xCache: "MISS", body: "AB" } },
      { originLastSaw: "/a", fields: { range: "bytes=0-1" } },
    ],
  },
  {
    name: "a large body that has been evicted stands in for no origin that fails",
    source: "RFC 5861 §4; docs/design.md#bodies",
    site: { ...SITE, stale: { ifError: "1h" } },
    origin: { "/a": [large] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      ALL_DONE,
      { advanceMs: 60_000 },
      { origin: "down" },
      { get: "/a", expect: { status: 200, xCache: "STALE", body: ALPHABET } },
      { sharedTier: "emptied" },
      { get: "/a", expect: { status: 502 } },
    ],
  },
];

const freshening: readonly Scenario[] = [
  {
    name: "a 304 keeps the body of a large page, and the origin sends it once",
    source: "RFC 9111 §4.3.4; docs/design.md#bodies",
    site: SITE,
    origin: { "/a": [tagged, { status: 304, fields: { ...tagged.fields, "x-own": "new" } }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      ALL_DONE,
      { advanceMs: 60_000 },
      { get: "/a", expect: { status: 200, xCache: "REVALIDATED", body: ALPHABET, fields: { "x-own": "new" } } },
      ALL_DONE,
      { restart: "isolate" },
      { get: "/a", expect: { xCache: "HIT", body: ALPHABET, ageSeconds: 0 } },
      { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 206, xCache: "HIT", body: "ab" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "a 304 for a large page whose body has been evicted is asked again without conditions",
    source: "RFC 9111 §4.3.3; docs/design.md#promise-6",
    site: SITE,
    origin: { "/a": [tagged, { status: 304, fields: tagged.fields }, { ...tagged, body: UPPER }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      ALL_DONE,
      { advanceMs: 60_000 },
      { sharedTier: "emptied" },
      { get: "/a", expect: { status: 200, xCache: "EXPIRED", body: UPPER } },
      { originLastSaw: "/a", fields: { "if-none-match": null } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT", body: UPPER } },
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    name: "a large stale page is answered at once, and the new one is stored behind the answer",
    source: "RFC 5861 §3; docs/design.md#bodies",
    site: SITE,
    origin: {
      "/a": [{ ...large, fields: { "cache-control": "max-age=60, stale-while-revalidate=30" } }, larger],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      ALL_DONE,
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "UPDATING", body: ALPHABET } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT", body: UPPER } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "a POST puts a large page out of date",
    source: "RFC 9111 §4.4",
    site: SITE,
    origin: { "/a": [large, { body: "done" }, larger] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      ALL_DONE,
      { send: { method: "POST", path: "/a", body: "x" }, expect: { body: "done" } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "MISS", body: UPPER } },
    ],
  },
];

/** Bodies that are stored apart from their heads: bytes first, and then the entry that points to them. */
export const largeBodies: readonly Scenario[] = [...storing, ...parts, ...losing, ...freshening];
