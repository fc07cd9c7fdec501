import type { Scenario, Step } from "../../engine/scenario.ts";
import { LOST_LOG, SEVERAL_ISOLATES } from "../memory-only.ts";
import { page } from "../page.ts";

/** Stale after a second, and then it may stand in for a failed origin. */
const standIn = page("max-age=1, stale-if-error=600");

const standInPaths = { "/a": [standIn, { status: 503, body: "overloaded", hold: "slow" }] };

/** A page with a tag, and the 304 that confirms it. */
const taggedV1 = page("max-age=60", "v1", { etag: '"1"' });

/** Stored, and just out of date. */
const storedAndStale: readonly Step[] = [
  { get: "/a", expect: { status: 200, xCache: "MISS", body: "v1" } },
  { advanceMs: 60_000 },
];
const withControl = (cacheControl: string, body = "v1") => ({ fields: { "cache-control": cacheControl }, body });

/** Fresh for a minute, and for half a minute more good enough in place of an error. */
const kept = withControl("max-age=60, stale-if-error=30");

const newer = { ...kept, body: "v2" };
const NOT_FRESH = { advanceMs: 60_000 };
const TOKEN_FIELD = { "tidemark-after": "$token" };
const TIME_OUT = { engine: "memory", because: "the wait for the origin is on real time in the runtime" } as const;

/** Who allows and who forbids a stale page in place of an error. */
export const scenarios: readonly Scenario[] = [
  {
    id: "stale-if-error/purged-while-origin-fails",
    name: "a purge that comes while the origin fails keeps a stale page from being served",
    source: "docs/protocol.md#r18-on-error",
    only: SEVERAL_ISOLATES,
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
    id: "stale-if-error/unknown-purge-log-silent",
    name: "story 25: while log and origin are both down, a page whose purge the isolate has not learned of may be served stale, if the owner allows it",
    source: "docs/protocol.md#r18-on-error; docs/protocol.md#the-stories",
    only: SEVERAL_ISOLATES,
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
    id: "stale-if-error/forbidden-while-purge-unknown",
    name: "an owner can forbid stale pages while it is unknown whether they were purged",
    source: "docs/protocol.md#r18-on-error",
    only: SEVERAL_ISOLATES,
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
  {
    id: "stale-if-error/with-earlier-token",
    name: "a request with the token of an earlier receipt is served nothing stale when the origin fails",
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
    id: "stale-if-error/head-of-stale-page",
    name: "a HEAD that gets a stale page because the origin failed has the page's length and no body",
    source: "RFC 5861 §4; RFC 9110 §9.3.2",
    origin: {
      "/a": [
        { ...taggedV1, fields: { ...taggedV1.fields, "cache-control": "max-age=60, stale-if-error=60" } },
        { status: 503 },
      ],
    },
    steps: [
      ...storedAndStale,
      {
        send: { method: "HEAD", path: "/a" },
        expect: { status: 200, xCache: "STALE", body: "", fields: { "content-length": "2", etag: '"1"' } },
      },
      { origin: "down" },
      { send: { method: "HEAD", path: "/a" }, expect: { status: 200, xCache: "STALE" } },
      { advanceMs: 60_000 },
      { send: { method: "HEAD", path: "/a" }, expect: { status: 502, xCache: null } },
    ],
  },
  {
    id: "stale-if-error/allowed-by-site",
    name: "the site may let stale pages replace a failed origin's answers; a route and the origin may say otherwise",
    source: "docs/design.md#stale; RFC 9111 §4.2.4",
    site: {
      stale: { ifError: "30s" },
      routes: [
        { match: "/never", stale: { ifError: "0s" } },
        { match: "/longer", stale: { ifError: "2m" } },
      ],
    },
    origin: {
      "/a": [withControl("max-age=60")],
      "/never": [withControl("max-age=60")],
      "/longer": [withControl("max-age=60")],
      "/refused": [withControl("max-age=60, stale-if-error=0")],
      "/malformed": [withControl("max-age=60, stale-if-error=soon")],
      "/allowed": [withControl("max-age=60, stale-if-error=120")],
      "/forbidden": [withControl("max-age=60, must-revalidate")],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/never", expect: { xCache: "MISS" } },
      { get: "/longer", expect: { xCache: "MISS" } },
      { get: "/refused", expect: { xCache: "MISS" } },
      { get: "/malformed", expect: { xCache: "MISS" } },
      { get: "/allowed", expect: { xCache: "MISS" } },
      { get: "/forbidden", expect: { xCache: "MISS" } },
      { origin: "down" },
      { advanceMs: 89_999 },
      { get: "/a", expect: { xCache: "STALE", body: "v1" } },
      { get: "/never", expect: { status: 502 } },
      { get: "/refused", expect: { status: 502 } },
      { get: "/malformed", expect: { status: 502 } },
      { get: "/forbidden", expect: { status: 502 } },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 502 } },
      { get: "/longer", expect: { xCache: "STALE" } },
      { get: "/allowed", expect: { xCache: "STALE" } },
    ],
  },
  {
    id: "stale-if-error/only-while-origin-fails",
    name: "where the site allows stale pages, one is served only because the origin fails",
    source: "docs/design.md#stale",
    site: { stale: { ifError: "1h" } },
    origin: { "/a": [withControl("max-age=60"), withControl("max-age=60", "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { origin: "down" },
      { get: "/a", expect: { xCache: "STALE", body: "v1", ageSeconds: 60 } },
      { origin: "up" },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "stale-if-error/accepted-by-visitor",
    name: "a visitor may ask for a stale page in place of an error",
    source: "RFC 5861 §4; docs/design.md#stale",
    origin: { "/a": [withControl("max-age=60")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { origin: "down" },
      { advanceMs: 89_999 },
      { get: "/a", expect: { status: 502 } },
      { get: "/a", fields: { "cache-control": "stale-if-error=30" }, expect: { xCache: "STALE", body: "v1" } },
      { advanceMs: 1 },
      { get: "/a", fields: { "cache-control": "stale-if-error=30" }, expect: { status: 502 } },
    ],
  },
  ...["must-revalidate", "proxy-revalidate", "s-maxage=60", "no-cache"].map(
    (directive): Scenario => ({
      id: `stale-if-error/forbidden-by-${directive.split("=")[0]}`,
      name: `${directive} forbids every stale answer`,
      source: "RFC 9111 §4.2.4, §5.2.2",
      site: { stale: { ifError: "1h" } },
      origin: {
        "/a": [
          page(`max-age=60, stale-while-revalidate=600, stale-if-error=600, ${directive}`, "v1", { etag: '"1"' }),
          { status: 503, body: "down" },
        ],
      },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        NOT_FRESH,
        { get: "/a", expect: { status: 503, xCache: "EXPIRED", body: "down" } },
        { origin: "down" },
        { get: "/a", fields: { "cache-control": "max-stale, stale-if-error=600" }, expect: { status: 502 } },
      ],
    }),
  ),
  {
    id: "stale-if-error/no-cache-with-field-names",
    name: "no-cache with field names forbids no stale answer",
    source: "RFC 9111 §5.2.2.4",
    origin: { "/a": [withControl('max-age=60, stale-if-error=30, no-cache="x-own"')] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { origin: "down" },
      { get: "/a", expect: { xCache: "STALE", body: "v1" } },
    ],
  },
  {
    id: "stale-if-error/validated-each-time",
    name: "a page that must be validated each time does not replace a failed origin's answer, fresh or not",
    source: "RFC 9111 §5.2.2.4",
    site: { stale: { ifError: "1h" } },
    origin: { "/a": [page("max-age=60, no-cache", "v1", { etag: '"1"' })] },
    steps: [{ get: "/a", expect: { xCache: "MISS" } }, { origin: "down" }, { get: "/a", expect: { status: 502 } }],
  },
  {
    id: "stale-if-error/storable-error",
    name: "an error that may be stored does not displace the page that may replace it",
    source: "RFC 5861 §4",
    origin: { "/a": [kept, { status: 503, ...withControl("max-age=600", "down") }, newer] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { get: "/a", expect: { status: 200, xCache: "STALE", body: "v1" } },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    id: "stale-if-error/head-part-and-condition",
    name: "a HEAD, a part and a client's condition are answered from the stale page while the origin is down",
    source: "RFC 5861 §4",
    origin: { "/a": [{ ...kept, fields: { ...kept.fields, etag: '"1"' } }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { origin: "down" },
      {
        send: { method: "HEAD", path: "/a" },
        expect: { status: 200, xCache: "STALE", body: "", fields: { "content-length": "2" } },
      },
      { get: "/a", fields: { range: "bytes=1-" }, expect: { status: 206, xCache: "STALE", body: "1" } },
      { get: "/a", fields: { "if-none-match": '"1"' }, expect: { status: 304, xCache: "STALE" } },
      { advanceMs: 30_000 },
      { send: { method: "HEAD", path: "/a" }, expect: { status: 502 } },
    ],
  },
  {
    id: "stale-if-error/after-restart",
    name: "a stale page is found in the shared tier and served after a restart",
    source: "RFC 5861 §4; docs/design.md#tiers",
    origin: { "/a": [kept] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { work: "finished" },
      { restart: "isolate" },
      NOT_FRESH,
      { origin: "down" },
      { get: "/a", expect: { xCache: "STALE", body: "v1", ageSeconds: 60 } },
    ],
  },
  {
    id: "stale-if-error/purged-page",
    name: "a purged page never replaces a failed origin's answer",
    source: "docs/protocol.md#r18-on-error",
    origin: { "/a": [kept], "/b": [kept] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { purge: { urls: ["/a"] } },
      { origin: "down" },
      { get: "/a", expect: { status: 502 } },
      { get: "/b", expect: { xCache: "STALE" } },
    ],
  },
  {
    id: "stale-if-error/purged-by-another-isolate",
    name: "a page that another isolate purges while the origin is awaited is not served stale",
    source: "docs/protocol.md#r18-on-error; docs/protocol.md#r4-judge-last",
    only: TIME_OUT,
    site: { limits: { originTimeout: "5s" } },
    origin: { "/a": [kept, { ...newer, hold: "for ever" }], "/b": [kept, { ...newer, hold: "for ever" }] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS" } },
      { send: { path: "/b", isolate: "b" }, expect: { xCache: "MISS" } },
      NOT_FRESH,
      { begin: "purged", send: { path: "/a", isolate: "b" } },
      { begin: "not purged", send: { path: "/b", isolate: "b" } },
      { originSees: "/a", count: 2 },
      { originSees: "/b", count: 2 },
      { purge: { urls: ["/a"] } },
      { advanceMs: 5_000 },
      { finish: "purged", expect: { status: 504, xCache: null, cacheStatus: "tidemark; detail=origin-timed-out" } },
      { finish: "not purged", expect: { status: 200, xCache: "STALE", body: "v1" } },
    ],
  },
  {
    id: "stale-if-error/with-receipt-token",
    name: "a request with a receipt's token gets the error, not the stale page",
    source: "docs/protocol.md#r9-token; docs/protocol.md#r18-on-error",
    origin: { "/a": [kept] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { purge: { tags: ["unrelated"] } },
      { origin: "down" },
      { get: "/a", fields: TOKEN_FIELD, expect: { status: 502 } },
      { get: "/a", expect: { xCache: "STALE", body: "v1" } },
    ],
  },
  {
    id: "stale-if-error/with-authorization",
    name: "a request with Authorization gets the error, not the stale page",
    source: "RFC 9111 §3.5",
    origin: { "/a": [withControl("public, max-age=60, stale-if-error=30")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/a", fields: { authorization: "Basic x" }, expect: { xCache: "HIT" } },
      NOT_FRESH,
      { origin: "down" },
      { get: "/a", fields: { authorization: "Basic x" }, expect: { status: 502 } },
    ],
  },
  {
    id: "stale-if-error/log-and-origin-silent",
    name: "while log and origin are both silent, a page with stale-if-error is served stale",
    source: "docs/protocol.md#r18-on-error",
    only: LOST_LOG,
    origin: { "/a": [kept], "/b": [withControl("max-age=60")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "MISS" } },
      { log: "down" },
      { origin: "down" },
      { advanceMs: 2_000 },
      { get: "/a", expect: { status: 200, xCache: "STALE", body: "v1", cacheStatus: /detail=stale-if-error/ } },
      { get: "/b", expect: { status: 502 } },
      { advanceMs: 87_999 },
      { get: "/a", expect: { xCache: "STALE", body: "v1" } },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 502 } },
    ],
  },
  {
    id: "stale-if-error/forbidden-while-log-silent",
    name: "the owner may forbid stale pages while the log is silent, for the site or for a route",
    source: "docs/protocol.md#r18-on-error",
    only: LOST_LOG,
    site: {
      stale: { ifErrorWhileLogSilent: false },
      routes: [{ match: "/b", stale: { ifErrorWhileLogSilent: true } }],
    },
    origin: { "/a": [kept], "/b": [kept] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { origin: "down" },
      { get: "/a", expect: { xCache: "STALE" } },
      { log: "down" },
      { advanceMs: 2_000 },
      { get: "/a", expect: { status: 502 } },
      { get: "/b", expect: { xCache: "STALE" } },
    ],
  },
  {
    id: "stale-if-error/known-purge-log-silent",
    name: "a page that the isolate knows to be purged is not served stale, however long the log is silent",
    source: "docs/protocol.md#r18-on-error; docs/protocol.md#r8-unknown",
    only: LOST_LOG,
    origin: { "/a": [kept] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"] } },
      { log: "down" },
      { origin: "down" },
      { get: "/a", expect: { status: 502 } },
      NOT_FRESH,
      { get: "/a", expect: { status: 502 } },
    ],
  },
];
