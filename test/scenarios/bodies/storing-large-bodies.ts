import type { Scenario } from "../../engine/scenario.ts";
import { page } from "../page.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz";
const UPPER = ALPHABET.toUpperCase();
const large = page("max-age=60", ALPHABET);
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

/** Bodies above `limits.storeBytes` are stored in two steps, beside their header section. */
export const scenarios: readonly Scenario[] = [
  {
    id: "bodies/stored-in-two-steps",
    name: "a large body of known length is stored in two steps, and the second request gets it from store",
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
    id: "bodies/found-after-restart",
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
    id: "bodies/limits-by-size",
    name: "a body of up to storeBytes is kept in memory, one of up to largeBytes apart, and a larger one not at all",
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
    id: "bodies/large-without-length",
    name: "a large body without an announced length is streamed through and not stored",
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
    id: "bodies/large-head-miss",
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
    id: "bodies/large-cut-off",
    name: "a large body that is cut off reaches the client as a cut and is never a hit",
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
    id: "bodies/while-being-stored",
    name: "while a large body is being stored, other requests for the page are passed on, and then it is a hit",
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
    id: "bodies/stalled-fill",
    name: "a fill of a large body that has stood still for half a minute does not keep another from beginning",
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
    id: "bodies/purge-during-fill",
    name: "a purge overtakes the fill of a large body that began before it",
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
    id: "bodies/purge-during-anothers-fill",
    name: "the fill of a large body that another isolate began before a purge is refused by all isolates",
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
    id: "bodies/variants-with-large-bodies",
    name: "each variant of a page may have a large body of its own",
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
    id: "bodies/browser-ttl",
    name: "browsers are told the owner's lifetime of a large page from the first answer on",
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
    id: "bodies/client-304-while-storing",
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
