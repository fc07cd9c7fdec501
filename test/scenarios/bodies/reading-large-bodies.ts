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

/** Large bodies that are stored: parts of them, eviction, and validation. */
export const scenarios: readonly Scenario[] = [
  {
    id: "bodies/announced-length",
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
    id: "bodies/only-requested-bytes",
    name: "only the requested bytes of a large body are read",
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
    id: "bodies/parts-of-large-body",
    name: "parts of a large body are cut from the stored one: single, open, suffix, several, and none beyond its end",
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
    id: "bodies/if-range-of-large-body",
    name: "If-Range decides whether a part of a large body is sent or all of it",
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
    id: "bodies/part-of-missing-page",
    name: "of a large page that is not stored, only the requested part is fetched from the origin",
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
  {
    id: "bodies/evicted-is-miss",
    name: "a large body that was evicted is a miss, and is stored again",
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
    id: "bodies/part-of-evicted-body",
    name: "a part of a large body that was evicted is requested from the origin",
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
    id: "bodies/evicted-and-stale-if-error",
    name: "a large body that was evicted does not replace a failed origin's answer",
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
  {
    id: "bodies/kept-by-304",
    name: "a 304 keeps the body of a large page, so the origin sends it once",
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
    id: "bodies/304-for-evicted-body",
    name: "after a 304 for a large page whose body was evicted, the origin is asked again without conditions",
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
    id: "bodies/large-stale-while-revalidate",
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
    id: "bodies/post-invalidates-large-page",
    name: "a POST invalidates a large page",
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
