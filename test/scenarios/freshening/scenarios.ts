import type { Scenario } from "../../engine/scenario.ts";
import { BACKGROUND_WORK, SEVERAL_ISOLATES } from "../not-on-every-engine.ts";
import { briefV1, briefV2, MODIFIED, stillBriefV1, stillV1, storedAndStale, v1, v2 } from "../validation/openings.ts";

const stillBriefV2 = { status: 304, fields: briefV2.fields };

/** What a 304 changes in the stored page, RFC 9111 §3.2 and §4.3.4. */
export const scenarios: readonly Scenario[] = [
  {
    id: "freshening/304-and-older-copy",
    name: "story 10: a 304 freshens the entry that has its validator, not an older copy in memory",
    source: "docs/protocol.md#r3-same-bytes",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [briefV1, briefV2, stillBriefV2] },
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
    id: "freshening/304-without-tags",
    name: "story 24: a 304 without tags leaves a page's tags",
    source: "docs/protocol.md#r17-tags-on-304",
    origin: { "/a": [briefV1, { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"' } }, briefV2] },
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
    id: "freshening/304-adds-a-tag",
    name: "a tag that a 304 adds belongs to the page from then on",
    source: "docs/protocol.md#r17-tags-on-304",
    origin: { "/a": [briefV1, { ...stillBriefV1, fields: { ...briefV1.fields, "cache-tag": "song:43" } }, briefV2] },
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
    id: "freshening/fields-are-replaced",
    name: "a 304 replaces the fields that it has, all lines of each, and leaves the others",
    source: "RFC 9111 §3.2, §4.3.4",
    origin: {
      "/a": [
        {
          fields: {
            "cache-control": "max-age=60",
            etag: '"1"',
            "content-type": "text/plain",
            link: ["</a>", "</b>"],
            "x-old": "stays",
          },
          body: "v1",
        },
        {
          status: 304,
          fields: { etag: '"1"', "content-type": "text/html", link: ["</c>", "</d>"], "x-new": "came" },
        },
      ],
    },
    steps: [
      ...storedAndStale,
      ...["REVALIDATED", "HIT"].map((xCache) => ({
        get: "/a",
        expect: {
          xCache,
          body: "v1",
          fields: { "content-type": "text/html", link: "</c>, </d>", "x-old": "stays", "x-new": "came" },
        },
      })),
    ],
  },
  {
    id: "freshening/content-fields-stay",
    name: "a 304 never changes the fields that describe the stored bytes",
    source: "RFC 9111 §3.2; RFC 9530 §3",
    origin: {
      "/a": [
        {
          ...v1,
          fields: {
            ...v1.fields,
            "content-encoding": "gzip",
            "content-digest": "sha-256=:v1:",
            "repr-digest": "sha-256=:v1:",
          },
        },
        {
          status: 304,
          fields: {
            etag: '"1"',
            "content-encoding": "br",
            "content-range": "bytes 0-0/9",
            "content-digest": "sha-256=:of nothing:",
            "repr-digest": "sha-256=:of the form in br:",
            digest: "SHA-256=of the form in br",
          },
        },
      ],
    },
    steps: [
      { get: "/a", fields: { "accept-encoding": "gzip, br" }, expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 60_000 },
      ...["REVALIDATED", "HIT"].map((xCache) => ({
        get: "/a",
        fields: { "accept-encoding": "gzip, br" },
        expect: {
          xCache,
          body: "v1",
          fields: {
            "content-encoding": "gzip",
            "content-range": null,
            "content-digest": "sha-256=:v1:",
            "repr-digest": "sha-256=:v1:",
            digest: null,
          },
        },
      })),
    ],
  },
  {
    id: "freshening/hop-by-hop-fields",
    name: "a 304's hop-by-hop fields, and those that its Connection names, are not stored",
    source: "RFC 9111 §3.1, §3.2; RFC 9110 §7.6.1",
    origin: {
      "/a": [
        { ...v1, fields: { ...v1.fields, "x-hop": "end to end" } },
        {
          status: 304,
          fields: { etag: '"1"', connection: "X-Hop", "x-hop": "one hop", "proxy-authenticate": "Basic" },
        },
      ],
    },
    steps: [
      ...storedAndStale,
      ...["REVALIDATED", "HIT"].map((xCache) => ({
        get: "/a",
        expect: { xCache, body: "v1", fields: { "x-hop": "end to end", "proxy-authenticate": null } },
      })),
    ],
  },
  {
    id: "freshening/lifetime-of-304",
    name: "a 304 with a lifetime gives it to the page, counted from the validation",
    source: "RFC 9111 §4.3.4, §4.2.1",
    origin: { "/a": [v1, { ...stillV1, fields: { ...stillV1.fields, "cache-control": "max-age=10" } }] },
    steps: [
      ...storedAndStale,
      { get: "/a", expect: { xCache: "REVALIDATED", ageSeconds: 0, fields: { "cache-control": "max-age=10" } } },
      { advanceMs: 9_999 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 9, cacheStatus: "tidemark; hit; ttl=1" } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "REVALIDATED" } },
    ],
  },
  {
    id: "freshening/304-without-lifetime",
    name: "a 304 without a lifetime gives the page its old lifetime again",
    source: "RFC 9111 §4.3.4",
    origin: { "/a": [v1, { status: 304, fields: { etag: '"1"' } }] },
    steps: [
      ...storedAndStale,
      { get: "/a", expect: { xCache: "REVALIDATED", ageSeconds: 0 } },
      { advanceMs: 59_999 },
      { get: "/a", expect: { xCache: "HIT" } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "REVALIDATED" } },
    ],
  },
  {
    id: "freshening/age-of-304",
    name: "the Age of a 304 replaces the Age that the page first came with",
    source: "RFC 9111 §4.2.3, §4.3.4",
    origin: {
      "/a": [
        { ...v1, fields: { ...v1.fields, age: "50" } },
        { ...stillV1, fields: { ...stillV1.fields, age: "20" } },
        stillV1,
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", ageSeconds: 50 } },
      { advanceMs: 10_000 },
      { get: "/a", expect: { xCache: "REVALIDATED", ageSeconds: 20 } },
      { advanceMs: 39_999 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 59 } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "REVALIDATED", ageSeconds: 0 } },
    ],
  },
  {
    id: "freshening/304-without-date",
    name: "a 304 without a Date is dated by its arrival",
    source: "RFC 9110 §6.6.1",
    origin: { "/a": [v1, { ...stillV1, fields: { ...stillV1.fields, date: [] } }] },
    steps: [
      ...storedAndStale,
      {
        get: "/a",
        expect: { xCache: "REVALIDATED", ageSeconds: 0, fields: { date: "Thu, 01 Jan 2026 12:01:00 GMT" } },
      },
      { advanceMs: 59_999 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 59 } },
    ],
  },
  {
    id: "freshening/validation-delay-counts",
    name: "the duration of a validation is part of the page's age",
    source: "RFC 9111 §4.2.3",
    origin: { "/a": [v1, { ...stillV1, hold: "slow" }, stillV1] },
    steps: [
      ...storedAndStale,
      { begin: "validation", send: { path: "/a" } },
      { originSees: "/a", count: 2 },
      { advanceMs: 10_000 },
      { release: "slow" },
      { finish: "validation", expect: { xCache: "REVALIDATED", ageSeconds: 10 } },
      { advanceMs: 49_999 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 59 } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "REVALIDATED", ageSeconds: 0 } },
    ],
  },
  {
    id: "freshening/304-without-validator",
    name: "a 304 without a validator confirms the one page that the edge asked about",
    source: "RFC 9111 §4.3.4",
    origin: { "/a": [v1, { status: 304, fields: { "cache-control": "max-age=60" } }] },
    steps: [
      ...storedAndStale,
      { get: "/a", expect: { xCache: "REVALIDATED", body: "v1", fields: { etag: '"1"' } } },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  ...(
    [
      ["304-with-another-tag", "another entity tag", { etag: '"9"' }],
      ["304-with-another-date", "another Last-Modified", { "last-modified": "Thu, 01 Jan 2026 11:00:00 GMT" }],
    ] as const
  ).map(
    ([id, what, named]): Scenario => ({
      id: `freshening/${id}`,
      name: `a 304 with ${what} confirms nothing: the page is requested again, in full`,
      source: "RFC 9111 §4.3.4",
      origin: {
        "/a": [
          { ...v1, fields: { ...v1.fields, etag: 'W/"weak"', "last-modified": MODIFIED } },
          { status: 304, fields: { "cache-control": "max-age=60", ...named } },
          v2,
        ],
      },
      steps: [
        ...storedAndStale,
        { get: "/a", expect: { status: 200, xCache: "EXPIRED", body: "v2" } },
        { originLastSaw: "/a", fields: { "if-none-match": null, "if-modified-since": null } },
        { get: "/a", expect: { xCache: "HIT", body: "v2" } },
        { originSaw: { "/a": 3 } },
      ],
    }),
  ),
  {
    id: "freshening/304-strong-for-weak",
    name: "a 304 with the strong form of a page's weak entity tag confirms the page, which keeps the weak one",
    source: "RFC 9111 §4.3.4; docs/decisions/0054-a-304-may-name-the-strong-form-of-a-weak-tag.md",
    origin: {
      "/a": [
        { ...v1, fields: { ...v1.fields, etag: 'W/"1"' } },
        { ...stillV1, fields: { ...stillV1.fields, etag: '"1"' } },
      ],
    },
    steps: [
      ...storedAndStale,
      { get: "/a", expect: { xCache: "REVALIDATED", body: "v1", fields: { etag: 'W/"1"' } } },
      { originLastSaw: "/a", fields: { "if-none-match": 'W/"1"' } },
      { get: "/a", expect: { xCache: "HIT", body: "v1", fields: { etag: 'W/"1"' } } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "freshening/304-with-cookie",
    name: "a cookie on a 304 goes to the client whose request brought it, and is not stored",
    source: "RFC 9111 §7.3",
    only: BACKGROUND_WORK,
    origin: {
      "/a": [v1, { ...stillV1, fields: { ...stillV1.fields, "set-cookie": "session=1" }, hold: "slow" }],
    },
    steps: [
      ...storedAndStale,
      { begin: "one", send: { path: "/a" } },
      { originSees: "/a", count: 2 },
      { begin: "another", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "one", expect: { xCache: "REVALIDATED", body: "v1", fields: { "set-cookie": "session=1" } } },
      { finish: "another", expect: { body: "v1", cacheStatus: /; collapsed/, fields: { "set-cookie": null } } },
      { get: "/a", expect: { xCache: "HIT", fields: { "set-cookie": null } } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "freshening/304-with-vary-of-everything",
    name: "a 304 with Vary: * goes to the client that asked, and the stored page is not used again, not even stale",
    source: "RFC 9111 §4.3.4, §4.1",
    only: BACKGROUND_WORK,
    origin: {
      "/a": [
        { ...v1, fields: { ...v1.fields, "cache-control": "max-age=60, stale-while-revalidate=600" } },
        { ...stillV1, fields: { ...stillV1.fields, "cache-control": "max-age=60", vary: "*" } },
        v2,
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { originLastSaw: "/a", fields: { "if-none-match": null } },
    ],
  },
  ...(
    [
      ["private", "private", "private"],
      ["no-store", "no-store", "no-store"],
      ["unreadable-cache-control", "private; x", '"unreadable-cache-control:private; x"'],
    ] as const
  ).map(
    ([id, directive, detail]): Scenario => ({
      id: `freshening/304-with-${id}`,
      name: `a 304 with ${directive} goes to the client that asked, and the stored page is not used again`,
      source: "RFC 9111 §4.3.4, §5.2.2; docs/protocol.md#promise-1-private-stays-private",
      only: BACKGROUND_WORK,
      origin: {
        "/a": [
          { ...v1, fields: { ...v1.fields, "cache-control": "max-age=60, stale-while-revalidate=600" } },
          {
            ...stillV1,
            fields: { ...stillV1.fields, "cache-control": `${directive}, max-age=60`, "cache-tag": "secret" },
          },
          v2,
        ],
        "/b": [
          v1,
          { ...stillV1, fields: { ...stillV1.fields, "cache-control": directive, "cache-tag": "secret" } },
          v2,
        ],
      },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        { get: "/b", expect: { xCache: "MISS" } },
        { advanceMs: 60_000 },
        { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
        { advanceMs: 1 },
        { get: "/a", expect: { xCache: "MISS", body: "v2" } },
        { originLastSaw: "/a", fields: { "if-none-match": null } },
        {
          get: "/b",
          expect: {
            xCache: "REVALIDATED",
            body: "v1",
            ageSeconds: 0,
            cacheStatus: `tidemark; fwd=stale; fwd-status=304; detail=${detail}`,
            fields: { "cache-control": directive, "cache-tag": null },
          },
        },
        { advanceMs: 1 },
        { get: "/b", expect: { xCache: "MISS", body: "v2" } },
        { originLastSaw: "/b", fields: { "if-none-match": null } },
      ],
    }),
  ),
  {
    id: "freshening/304-for-one-visitor",
    name: "if a 304 may not be stored because of its request, the stored page stays for others",
    source: "docs/http.md#cookies-sessions-and-authorization; RFC 9111 §5.2.1.5",
    origin: {
      "/a": [v1, { ...stillV1, fields: { ...stillV1.fields, "cache-control": "private" } }, stillV1],
    },
    steps: [
      ...storedAndStale,
      { get: "/a", fields: { cookie: "session=1" }, expect: { xCache: "REVALIDATED", cacheStatus: /detail=private$/ } },
      { advanceMs: 1 },
      { get: "/a", fields: { cookie: "session=1" }, expect: { xCache: "REVALIDATED", cacheStatus: /detail=cookie$/ } },
      {
        get: "/a",
        fields: { "cache-control": "no-store" },
        expect: { xCache: "REVALIDATED", cacheStatus: /detail=request-no-store$/ },
      },
      { get: "/a", expect: { xCache: "REVALIDATED", body: "v1", cacheStatus: /; stored$/ } },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  ...(
    [
      ["purged-by-first-tag", "the tag that it came with", { "cache-tag": "new" }, "old"],
      ["purged-by-added-tag", "a tag that the 304 brought", { "cache-tag": "new" }, "new"],
      ["purged-by-kept-tag", "the tag that it came with, also if the 304 brought none", {}, "old"],
    ] as const
  ).map(
    ([id, what, fields, tag]): Scenario => ({
      id: `freshening/${id}`,
      name: `a page that was confirmed is purged by ${what}`,
      source: "docs/protocol.md#r17-tags-on-304",
      origin: {
        "/a": [
          { ...v1, fields: { ...v1.fields, "cache-tag": "old" } },
          { ...stillV1, fields: { ...stillV1.fields, ...fields } },
          v2,
        ],
      },
      steps: [
        ...storedAndStale,
        { get: "/a", expect: { xCache: "REVALIDATED", fields: { "cache-tag": null } } },
        { advanceMs: 1 },
        { get: "/a", expect: { xCache: "HIT" } },
        { purge: { tags: [tag] } },
        { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      ],
    }),
  ),
  {
    id: "freshening/304-with-many-tags",
    name: "a 304 that would give a page too many tags is passed on and not stored",
    source: "docs/http.md#limits; docs/protocol.md#r17-tags-on-304",
    site: { limits: { tags: 2 } },
    origin: {
      "/fits": [
        { ...v1, fields: { ...v1.fields, "cache-tag": "a" } },
        { ...stillV1, fields: { ...stillV1.fields, "cache-tag": "b" } },
      ],
      "/outgrows": [
        { ...v1, fields: { ...v1.fields, "cache-tag": "a" } },
        { ...stillV1, fields: { ...stillV1.fields, "cache-tag": "b, c" } },
      ],
    },
    steps: [
      { get: "/fits", expect: { xCache: "MISS" } },
      { get: "/outgrows", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      { get: "/fits", expect: { xCache: "REVALIDATED", cacheStatus: /; stored$/ } },
      { get: "/fits", expect: { xCache: "HIT" } },
      { get: "/outgrows", expect: { xCache: "REVALIDATED", body: "v1", cacheStatus: /detail=too-many-tags$/ } },
      { get: "/outgrows", expect: { xCache: "REVALIDATED", body: "v1" } },
    ],
  },
  {
    id: "freshening/large-page-is-confirmed",
    name: "a page that is stored in two steps is confirmed without being refetched",
    source: "RFC 9111 §4.3.4; docs/http.md#bodies-and-ranges",
    only: BACKGROUND_WORK,
    site: { limits: { storeBytes: 4 } },
    origin: { "/a": [{ ...v1, body: "0123456789" }, stillV1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "0123456789" } },
      { work: "finished" },
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "REVALIDATED", body: "0123456789" } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "HIT", body: "0123456789" } },
      { originSaw: { "/a": 2 } },
    ],
  },
];
