import type { Scenario, Step } from "../../engine/scenario.ts";
import { BACKGROUND_WORK, SEVERAL_ISOLATES } from "../memory-only.ts";
import { page } from "../page.ts";

const briefFields = { "cache-control": "max-age=1", "cache-tag": "song:42" };
const briefV1 = { fields: { ...briefFields, etag: '"1"' }, body: "v1" };
const briefV2 = { fields: { ...briefFields, etag: '"2"' }, body: "v2" };
const stillBriefV1 = { status: 304, fields: briefV1.fields };
const MODIFIED = "Thu, 01 Jan 2026 10:00:00 GMT";

/** A page with a tag, and the 304 that confirms it. */
const v1 = page("max-age=60", "v1", { etag: '"1"' });

const v2 = page("max-age=60", "v2", { etag: '"2"' });
const stillV1 = { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"' } };

/** Stored, and just out of date. */
const storedAndStale: readonly Step[] = [
  { get: "/a", expect: { status: 200, xCache: "MISS", body: "v1" } },
  { advanceMs: 60_000 },
];
const logIsOurs = { engine: "memory", because: "one instance of the runtime cannot lose its own log" } as const;

/** Stale pages are confirmed by the origin, RFC 9111 §4.3. */
export const scenarios: readonly Scenario[] = [
  {
    id: "validation/silent-log-slow-validation",
    name: "while the log is silent, the one lease of a validated page is counted from when its validation was sent",
    source: "docs/protocol.md#r2-validation-is-a-fetch; docs/protocol.md#r8-unknown",
    only: SEVERAL_ISOLATES,
    origin: {
      "/a": [
        briefV1,
        { ...stillBriefV1, fields: { ...briefV1.fields, "cache-control": "max-age=60" }, hold: "slow" },
        briefV2,
      ],
    },
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
    id: "validation/silent-log-just-validated",
    name: "while the log is silent, a page that was just validated is served for one lease",
    source: "docs/protocol.md#r2-validation-is-a-fetch; docs/protocol.md#r8-unknown",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [briefV1, { ...stillBriefV1, fields: { ...briefV1.fields, "cache-control": "max-age=60" } }] },
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
    id: "validation/purged-while-validated",
    name: "story 9: a page that is purged during its validation goes to the client that asked before the purge, and is not stored",
    source: "docs/protocol.md#r2-validation-is-a-fetch; docs/protocol.md#the-stories",
    origin: { "/a": [briefV1, { ...stillBriefV1, hold: "slow" }, briefV2] },
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
    id: "validation/purge-after-validation",
    name: "a purge ends a page that was validated before it",
    source: "docs/protocol.md#r2-validation-is-a-fetch",
    origin: { "/a": [briefV1, stillBriefV1, briefV2] },
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
    id: "validation/unrelated-earlier-purge",
    name: "an earlier purge of something else does not end a page that was validated after it",
    source: "docs/protocol.md#r2-validation-is-a-fetch",
    origin: { "/a": [briefV1, stillBriefV1] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { purge: { tags: ["unrelated"] } },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "REVALIDATED" } },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "validation/purged-is-fetched-in-full",
    name: "the origin is not asked to confirm a purged page: it is fetched in full",
    source: "docs/protocol.md#r10-modes",
    origin: { "/a": [briefV1, briefV2] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { purge: { urls: ["/a"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { originLastSaw: "/a", fields: { "if-none-match": null } },
    ],
  },
  {
    id: "validation/confirmed-is-fresh-again",
    name: "a stale page is confirmed by the origin instead of being refetched, and is fresh again",
    source: "RFC 9111 §4.3.1, §4.3.3",
    origin: { "/a": [v1, stillV1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 59_999 },
      { get: "/a", expect: { xCache: "HIT" } },
      { originSaw: { "/a": 1 } },
      { advanceMs: 1 },
      {
        get: "/a",
        expect: {
          status: 200,
          xCache: "REVALIDATED",
          body: "v1",
          ageSeconds: 0,
          cacheStatus: "tidemark; fwd=stale; fwd-status=304; stored",
        },
      },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"', "if-modified-since": null } },
      { advanceMs: 59_999 },
      { get: "/a", expect: { xCache: "HIT", body: "v1", ageSeconds: 59 } },
      { originSaw: { "/a": 2 } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "REVALIDATED", body: "v1" } },
    ],
  },
  ...(
    [
      ["by-weak-tag", "a weak entity tag", { etag: 'W/"1"' }, { "if-none-match": 'W/"1"', "if-modified-since": null }],
      [
        "by-date-alone",
        "a Last-Modified alone",
        { "last-modified": MODIFIED },
        { "if-none-match": null, "if-modified-since": MODIFIED },
      ],
      [
        "by-tag-and-date",
        "an entity tag and a Last-Modified",
        { etag: '"1"', "last-modified": MODIFIED },
        { "if-none-match": '"1"', "if-modified-since": MODIFIED },
      ],
      [
        "malformed-tag-and-date",
        "a malformed entity tag and a Last-Modified",
        { etag: "1", "last-modified": MODIFIED },
        { "if-none-match": null, "if-modified-since": MODIFIED },
      ],
      [
        "tag-and-malformed-date",
        "an entity tag and a malformed Last-Modified",
        { etag: '"1"', "last-modified": "yesterday" },
        { "if-none-match": '"1"', "if-modified-since": null },
      ],
    ] as const
  ).map(
    ([id, what, validators, conditions]): Scenario => ({
      id: `validation/${id}`,
      name: `a stale page with ${what} is validated with its valid validators, as they came`,
      source: "RFC 9111 §4.3.1; RFC 9110 §8.8",
      origin: {
        "/a": [
          { fields: { "cache-control": "max-age=60", ...validators }, body: "v1" },
          { status: 304, fields: { ...validators } },
        ],
      },
      steps: [
        ...storedAndStale,
        { get: "/a", expect: { status: 200, xCache: "REVALIDATED", body: "v1" } },
        { originLastSaw: "/a", fields: conditions },
        { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      ],
    }),
  ),
  ...(
    [
      ["no-validator", "no validator", {}],
      ["malformed-tag-alone", "a malformed entity tag", { etag: "1" }],
      ["malformed-date-alone", "a malformed Last-Modified", { "last-modified": "0" }],
    ] as const
  ).map(
    ([id, what, validators]): Scenario => ({
      id: `validation/${id}`,
      name: `a stale page with ${what} is fetched in full`,
      source: "RFC 9111 §4.3.1",
      origin: { "/a": [{ fields: { "cache-control": "max-age=60", ...validators }, body: "v1" }, v2] },
      steps: [
        ...storedAndStale,
        {
          get: "/a",
          expect: { xCache: "EXPIRED", body: "v2", cacheStatus: "tidemark; fwd=stale; fwd-status=200; stored" },
        },
        { originLastSaw: "/a", fields: { "if-none-match": null, "if-modified-since": null } },
        { get: "/a", expect: { xCache: "HIT", body: "v2" } },
      ],
    }),
  ),
  {
    id: "validation/page-has-changed",
    name: "a page that has changed comes in full when it is validated, and replaces the stale one",
    source: "RFC 9111 §4.3.3",
    origin: { "/a": [v1, v2] },
    steps: [
      ...storedAndStale,
      { get: "/a", expect: { status: 200, xCache: "EXPIRED", body: "v2", fields: { etag: '"2"' } } },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
      { get: "/a", expect: { xCache: "HIT", body: "v2", fields: { etag: '"2"' } } },
    ],
  },
  ...(
    [
      ["no-cache-each-time", "no-cache", { "cache-control": "no-cache, max-age=60" }],
      ["max-age-zero-each-time", "max-age=0", { "cache-control": "max-age=0" }],
      ["past-expires-each-time", "an Expires in the past", { expires: "0" }],
    ] as const
  ).map(
    ([id, what, fields]): Scenario => ({
      id: `validation/${id}`,
      name: `a page with ${what} and an entity tag is stored, and the origin confirms it each time`,
      source: "RFC 9111 §5.2.2.4, §4.2.1",
      origin: {
        "/a": [
          { fields: { ...fields, etag: '"1"' }, body: "v1" },
          { status: 304, fields: { etag: '"1"' } },
          { status: 304, fields: { etag: '"1"' } },
          { fields: { ...fields, etag: '"2"' }, body: "v2" },
        ],
      },
      steps: [
        { get: "/a", expect: { xCache: "MISS", body: "v1", cacheStatus: /; stored$/ } },
        { get: "/a", expect: { xCache: "REVALIDATED", body: "v1" } },
        { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
        { get: "/a", expect: { xCache: "REVALIDATED", body: "v1" } },
        { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
        { originSaw: { "/a": 4 } },
      ],
    }),
  ),
  {
    id: "validation/purged-is-not-validated",
    name: "a purged page is fetched in full, not validated",
    source: "docs/protocol.md#what-a-purge-promises",
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"] } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { originLastSaw: "/a", fields: { "if-none-match": null } },
    ],
  },
  {
    id: "validation/silent-log-validates",
    name: "while the log is silent, a stored page is confirmed by the origin, and is served for one more lease",
    source: "docs/protocol.md#r8-unknown",
    only: logIsOurs,
    origin: { "/a": [{ ...v1, fields: { ...v1.fields, "cache-control": "max-age=3600" } }, stillV1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { log: "down" },
      { advanceMs: 1_000 },
      {
        get: "/a",
        expect: {
          xCache: "REVALIDATED",
          body: "v1",
          cacheStatus: "tidemark; fwd=request; fwd-status=304; stored; detail=purge-state-unknown",
        },
      },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
      { advanceMs: 999 },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "REVALIDATED", body: "v1" } },
    ],
  },
  {
    id: "validation/confirmed-after-restart",
    name: "a page that was confirmed is fresh also after the isolate has restarted",
    source: "docs/design.md#tiers",
    origin: { "/a": [v1, stillV1] },
    steps: [
      ...storedAndStale,
      { get: "/a", expect: { xCache: "REVALIDATED" } },
      { restart: "isolate" },
      { advanceMs: 10_000 },
      { get: "/a", expect: { xCache: "HIT", body: "v1", ageSeconds: 10 } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "validation/confirmed-by-another-isolate",
    name: "a page that one isolate had confirmed is fresh in the others, even if they hold the stale one",
    source: "docs/design.md#tiers",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [v1, stillV1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT" } },
      { advanceMs: 59_999 },
      { get: "/a", expect: { xCache: "REVALIDATED" } },
      { advanceMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1", ageSeconds: 1 } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "validation/one-validation-for-many",
    name: "200 simultaneous requests for a stale page are one validation",
    source: "RFC 9111 §4; docs/design.md#collapsing",
    origin: { "/a": [v1, stillV1] },
    steps: [
      ...storedAndStale,
      { sendMany: 200, request: { path: "/a" }, expectEach: { status: 200, body: "v1" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "validation/follower-and-no-cache",
    name: "a request that came after a validation began is not answered with the no-cache page that it confirmed",
    source: "RFC 9111 §5.2.2.4",
    only: BACKGROUND_WORK,
    origin: {
      "/a": [
        { ...v1, fields: { ...v1.fields, "cache-control": "no-cache" } },
        { ...stillV1, fields: { ...stillV1.fields, "cache-control": "no-cache" }, hold: "slow" },
        { ...v2, fields: { ...v2.fields, "cache-control": "no-cache" } },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { begin: "early", send: { path: "/a" } },
      { originSees: "/a", count: 2 },
      { advanceMs: 1 },
      { begin: "late", send: { path: "/a" } },
      { begin: "later", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "early", expect: { xCache: "REVALIDATED", body: "v1" } },
      { finish: "late", expect: { body: "v2" } },
      { finish: "later", expect: { body: "v2" } },
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    id: "validation/follower-and-short-lifetime",
    name: "a request that came after a fetch began is not answered with a page that is stale when it arrives",
    source: "RFC 9111 §4, §4.2.4",
    only: BACKGROUND_WORK,
    origin: {
      "/a": [{ ...v1, fields: { ...v1.fields, "cache-control": "max-age=5" }, hold: "slow" }, v2],
    },
    steps: [
      { begin: "early", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { begin: "late", send: { path: "/a" } },
      { begin: "later", send: { path: "/a" } },
      { advanceMs: 5_000 },
      { release: "slow" },
      { finish: "early", expect: { body: "v1" } },
      { finish: "late", expect: { body: "v2" } },
      { finish: "later", expect: { body: "v2" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "validation/purge-during-validation",
    name: "story 9: a purge during a validation ends the page that the 304 confirms",
    source: "docs/protocol.md#r2-validation-is-a-fetch; docs/protocol.md#the-stories",
    origin: { "/a": [v1, { ...stillV1, hold: "slow" }, v2] },
    steps: [
      ...storedAndStale,
      { begin: "early", send: { path: "/a" } },
      { originSees: "/a", count: 2 },
      { purge: { urls: ["/a"] } },
      { release: "slow" },
      { finish: "early", expect: { xCache: "REVALIDATED", body: "v1" } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { originLastSaw: "/a", fields: { "if-none-match": null } },
    ],
  },
  {
    id: "validation/confirmed-before-purge-known",
    name: "a page that an isolate had confirmed before it learned of a purge is refused by the others",
    source: "docs/protocol.md#r2-validation-is-a-fetch",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [v1, { ...stillV1, hold: "slow" }, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 60_000 },
      { begin: "early", send: { path: "/a", isolate: "b" } },
      { originSees: "/a", count: 2 },
      { purge: { urls: ["/a"] } },
      { advanceMs: 2_000 },
      { release: "slow" },
      { finish: "early", expect: { body: "v1" } },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "c" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
];
