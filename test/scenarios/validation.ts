import type { Reply } from "../../cdn/scripted-origin.ts";
import type { Scenario, Step } from "../engine/scenario.ts";

const MODIFIED = "Thu, 01 Jan 2026 10:00:00 GMT";

/** A page with a tag, and the 304 that confirms it. */
const v1 = { fields: { "cache-control": "max-age=60", etag: '"1"' }, body: "v1" };
const v2 = { fields: { "cache-control": "max-age=60", etag: '"2"' }, body: "v2" };
const stillV1 = { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"' } };

/** Stored, and just out of date. */
const storedAndStale: readonly Step[] = [
  { get: "/a", expect: { status: 200, xCache: "MISS", body: "v1" } },
  { advanceMs: 60_000 },
];

const orderIsOurs = { engine: "memory", because: "what goes on behind an answer ends unseen in the runtime" } as const;
const severalIsolates = { engine: "memory", because: "one worker of the runtime is one isolate" } as const;
const logIsOurs = { engine: "memory", because: "one instance of the runtime cannot lose its own log" } as const;

/** What the origin is asked. RFC 9111 §4.3.1. */
const asking: readonly Scenario[] = [
  {
    name: "a stale page is confirmed by the origin in place of being fetched, and is fresh again",
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
      ["a weak tag", { etag: 'W/"1"' }, { "if-none-match": 'W/"1"', "if-modified-since": null }],
      ["a date alone", { "last-modified": MODIFIED }, { "if-none-match": null, "if-modified-since": MODIFIED }],
      [
        "a tag and a date",
        { etag: '"1"', "last-modified": MODIFIED },
        { "if-none-match": '"1"', "if-modified-since": MODIFIED },
      ],
      [
        "a tag that is none and a date",
        { etag: "1", "last-modified": MODIFIED },
        { "if-none-match": null, "if-modified-since": MODIFIED },
      ],
      [
        "a tag and a date that is none",
        { etag: '"1"', "last-modified": "yesterday" },
        { "if-none-match": '"1"', "if-modified-since": null },
      ],
    ] as const
  ).map(
    ([what, validators, conditions]): Scenario => ({
      name: `a stale page with ${what} is validated by what is valid of it, as it came`,
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
      ["no validator", {}],
      ["a tag that is none", { etag: "1" }],
      ["a date that is none", { "last-modified": "0" }],
    ] as const
  ).map(
    ([what, validators]): Scenario => ({
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
    name: "a page that has changed comes in full when it is validated, and takes the place of the stale one",
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
      ["no-cache", { "cache-control": "no-cache, max-age=60" }],
      ["max-age=0", { "cache-control": "max-age=0" }],
      ["an Expires in the past", { expires: "0" }],
    ] as const
  ).map(
    ([what, fields]): Scenario => ({
      name: `a page with ${what} and a tag is stored, and the origin confirms it each time`,
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
    name: "what was purged is fetched in full, not confirmed",
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
    name: "while the log is silent, a stored page is confirmed by the origin, and is served for one lease more",
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
];

/** What a 304 does to what is stored. RFC 9111 §3.2, §4.3.4. */
const freshening: readonly Scenario[] = [
  {
    name: "a 304 replaces the fields that it names, all lines of each, and leaves the others",
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
    name: "a 304 never changes the fields by which the stored bytes are read",
    source: "RFC 9111 §3.2",
    origin: {
      "/a": [
        { ...v1, fields: { ...v1.fields, "content-encoding": "gzip" } },
        {
          status: 304,
          fields: { etag: '"1"', "content-encoding": "br", "content-range": "bytes 0-0/9" },
        },
      ],
    },
    steps: [
      { get: "/a", fields: { "accept-encoding": "gzip, br" }, expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 60_000 },
      ...["REVALIDATED", "HIT"].map((xCache) => ({
        get: "/a",
        fields: { "accept-encoding": "gzip, br" },
        expect: { xCache, body: "v1", fields: { "content-encoding": "gzip", "content-range": null } },
      })),
    ],
  },
  {
    name: "a 304's hop-by-hop fields, and those that its Connection names, are not taken over",
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
    name: "a 304 gives the page the lifetime that it names, counted from the validation",
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
    name: "a 304 that names no lifetime gives the page its old one again",
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
    name: "the age that a 304 brings counts, and the age that the page once brought counts no more",
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
    name: "the time that a validation takes is part of the page's age",
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
    name: "a 304 that names no validator confirms the one page that was asked for",
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
      ["another tag", { etag: '"9"' }],
      ["another date", { "last-modified": "Thu, 01 Jan 2026 11:00:00 GMT" }],
      ["a strong tag for a weak one", { etag: '"weak"' }],
    ] as const
  ).map(
    ([what, named]): Scenario => ({
      name: `a 304 with ${what} confirms nothing: the page is asked for again, in full`,
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
    name: "a cookie on a 304 goes to the one whose request brought it, and is not stored",
    source: "RFC 9111 §7.3",
    only: orderIsOurs,
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
  ...["private", "no-store"].map(
    (directive): Scenario => ({
      name: `a 304 that says ${directive} goes to the one who asked, and what was stored is not used again`,
      source: "RFC 9111 §4.3.4, §5.2.2; docs/design.md#promise-1",
      only: orderIsOurs,
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
            cacheStatus: `tidemark; fwd=stale; fwd-status=304; detail=${directive}`,
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
    name: "a 304 that may not be kept for what the visitor brought leaves the stored page to all others",
    source: "docs/design.md#identity; RFC 9111 §5.2.1.5",
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
      ["the tag that it came with", { "cache-tag": "new" }, "old"],
      ["a tag that the 304 brought", { "cache-tag": "new" }, "new"],
      ["the tag that it came with, also if the 304 brought none", {}, "old"],
    ] as const
  ).map(
    ([what, fields, tag]): Scenario => ({
      name: `a page that was confirmed is purged by ${what}`,
      source: "docs/protocol.md#r17-tags-on-304; docs/protocol.md#the-stories",
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
    name: "a page whose tags outgrow the limit by a 304 is passed on and not kept so",
    source: "docs/design.md#limits; docs/protocol.md#r17-tags-on-304",
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
    name: "a page that is stored in two steps is confirmed without being fetched again",
    source: "RFC 9111 §4.3.4; docs/design.md#bodies",
    only: orderIsOurs,
    site: { limits: { storeBytes: 4 } },
    origin: { "/a": [{ ...v1, body: "0123456789" }, stillV1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "0123456789" } },
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "REVALIDATED", body: "0123456789" } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "HIT", body: "0123456789" } },
      { originSaw: { "/a": 2 } },
    ],
  },
];

/** Who else is answered with what was confirmed, and when it must not be. */
const sharing: readonly Scenario[] = [
  {
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
    name: "a page that one isolate had confirmed is fresh in the others, though they hold the stale one",
    source: "docs/design.md#tiers",
    only: severalIsolates,
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
    name: "200 requests at once for a stale page are one validation",
    source: "RFC 9111 §4; docs/design.md#collapsing",
    origin: { "/a": [v1, stillV1] },
    steps: [
      ...storedAndStale,
      { sendMany: 200, request: { path: "/a" }, expectEach: { status: 200, body: "v1" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "who came after a validation had begun is not answered with a no-cache page that it confirmed",
    source: "RFC 9111 §5.2.2.4",
    only: orderIsOurs,
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
    name: "who came after a fetch had begun is not answered with a page that is stale when it is there",
    source: "RFC 9111 §4, §4.2.4",
    only: orderIsOurs,
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
    name: "story 9: a purge while a validation is under way ends what the 304 confirms",
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
    name: "what an isolate had confirmed while it did not know of a purge is refused by the others",
    source: "docs/protocol.md#r2-validation-is-a-fetch",
    only: severalIsolates,
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

/** A client's own conditions. RFC 9111 §4.3.2; RFC 9110 §13. */
const clients: readonly Scenario[] = [
  {
    name: "a client's If-None-Match is compared weakly with the stored tag, and outranks If-Modified-Since",
    source: "RFC 9110 §13.1.2, §13.2.2",
    origin: {
      "/a": [{ ...v1, fields: { ...v1.fields, "last-modified": MODIFIED } }],
      "/weak": [{ ...v1, fields: { ...v1.fields, etag: 'W/"1"' } }],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/weak", expect: { xCache: "MISS" } },
      ...(
        [
          ['"1"', 304],
          ['W/"1"', 304],
          ['"0", "1"', 304],
          ['"0",W/"1" , "2"', 304],
          ["*", 304],
          ['"0"', 200],
          ['"0, 1"', 200],
          ["1", 200],
        ] as const
      ).map(([held, status]) => ({
        get: "/a",
        fields: { "if-none-match": held, "if-modified-since": MODIFIED },
        expect: { status, xCache: "HIT", body: status === 304 ? "" : "v1" },
      })),
      { get: "/weak", fields: { "if-none-match": '"1"' }, expect: { status: 304, fields: { etag: 'W/"1"' } } },
      { originSaw: { "/a": 1, "/weak": 1 } },
    ],
  },
  {
    name: "a client that holds the page of the stored date or a later one gets a 304, with the date where there is no tag",
    source: "RFC 9110 §13.1.3, §15.4.5; RFC 9111 §4.3.2",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60", "last-modified": MODIFIED }, body: "v1" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      ...(
        [
          ["Thu, 01 Jan 2026 09:59:59 GMT", 200],
          [MODIFIED, 304],
          ["Thu, 01 Jan 2026 10:00:01 GMT", 304],
          ["Thu Jan  1 10:00:00 2026", 304],
          ["2026-01-01T10:00:00Z", 200],
        ] as const
      ).map(([since, status]) => ({
        get: "/a",
        fields: { "if-modified-since": since },
        expect: { status, xCache: "HIT", body: status === 304 ? "" : "v1", fields: { "last-modified": MODIFIED } },
      })),
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "the date of the answer stands in for a date of change that the origin does not tell",
    source: "RFC 9111 §4.3.2",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60" }, body: "v1" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 30_000 },
      { get: "/a", fields: { "if-modified-since": "Thu, 01 Jan 2026 11:59:59 GMT" }, expect: { status: 200 } },
      { get: "/a", fields: { "if-modified-since": "Thu, 01 Jan 2026 12:00:00 GMT" }, expect: { status: 304 } },
    ],
  },
  {
    name: "a client that holds a stale page gets its 304 after the origin has confirmed the stored one",
    source: "RFC 9111 §4.3.2, §4.3.3",
    origin: { "/a": [v1, stillV1, v2] },
    steps: [
      ...storedAndStale,
      {
        get: "/a",
        fields: { "if-none-match": '"1"' },
        expect: { status: 304, xCache: "REVALIDATED", body: "", fields: { etag: '"1"' } },
      },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
      { get: "/a", expect: { status: 200, xCache: "HIT", body: "v1" } },
      { advanceMs: 60_000 },
      { get: "/a", fields: { "if-none-match": '"2"' }, expect: { status: 304, xCache: "EXPIRED", body: "" } },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
      { get: "/a", expect: { status: 200, body: "v2" } },
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    name: "a client that holds another page than the stale one gets the one that the origin confirms",
    source: "RFC 9111 §4.3.2",
    origin: { "/a": [v1, stillV1] },
    steps: [
      ...storedAndStale,
      { get: "/a", fields: { "if-none-match": '"0"' }, expect: { status: 200, xCache: "REVALIDATED", body: "v1" } },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
    ],
  },
  {
    name: "a condition on the origin's own state is asked of the origin also where a fresh page is stored",
    source: "RFC 9110 §13.1.1, §13.1.4; RFC 9111 §4.3.2",
    origin: { "/a": [v1, { status: 412, body: "changed" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/a", fields: { "if-match": '"0"' }, expect: { status: 412, xCache: "BYPASS", body: "changed" } },
      { originLastSaw: "/a", fields: { "if-match": '"0"' } },
      { get: "/a", fields: { "if-unmodified-since": MODIFIED }, expect: { status: 412, xCache: "BYPASS" } },
      { get: "/a", expect: { status: 200, xCache: "HIT", body: "v1" } },
    ],
  },
];

function headOf(reply: Reply, expect: object): Step[] {
  return [{ reply: { "/a": [reply, v2] } }, { send: { method: "HEAD", path: "/a" }, expect }, { advanceMs: 1 }];
}

/** What HEAD tells of a stored GET. RFC 9111 §4.3.5. */
const heads: readonly Scenario[] = [
  ...(
    [
      ["tag", { etag: '"1"' }],
      ["tag, weakly compared,", { etag: 'W/"1"' }],
      ["date", { "last-modified": MODIFIED }],
    ] as const
  ).map(
    ([what, validators]): Scenario => ({
      name: `a HEAD that brings the stored page's ${what} makes it fresh again`,
      source: "RFC 9111 §4.3.5",
      only: orderIsOurs,
      origin: { "/a": [{ ...v1, fields: { ...v1.fields, "last-modified": MODIFIED } }] },
      steps: [
        ...storedAndStale,
        ...headOf(
          { fields: { "cache-control": "max-age=30", ...validators, "x-new": "1" }, body: "v1" },
          { status: 200, xCache: "EXPIRED", body: "" },
        ),
        { originLastSaw: "/a", fields: { "if-none-match": null, "if-modified-since": null } },
        { get: "/a", expect: { xCache: "HIT", body: "v1", ageSeconds: 0, fields: { "x-new": "1" } } },
        { advanceMs: 29_998 },
        { get: "/a", expect: { xCache: "HIT", body: "v1", ageSeconds: 29 } },
        { advanceMs: 1 },
        { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
      ],
    }),
  ),
  ...(
    [
      ["another tag", { etag: '"2"' }, "v1"],
      ["another date", { etag: '"1"', "last-modified": "Thu, 01 Jan 2026 11:00:00 GMT" }, "v1"],
      ["another length", { etag: '"1"' }, "longer"],
      ["the tag and says private", { etag: '"1"', "cache-control": "private" }, "v1"],
    ] as const
  ).map(
    ([what, validators, body]): Scenario => ({
      name: `a HEAD that brings ${what} ends the stored page: it is fetched in full`,
      source: "RFC 9111 §4.3.5",
      only: orderIsOurs,
      origin: { "/a": [{ ...v1, fields: { ...v1.fields, "last-modified": MODIFIED } }] },
      steps: [
        ...storedAndStale,
        ...headOf({ fields: { "cache-control": "max-age=60", ...validators }, body }, { status: 200, body: "" }),
        { get: "/a", expect: { xCache: "MISS", body: "v2" } },
        { originLastSaw: "/a", fields: { "if-none-match": null } },
      ],
    }),
  ),
  ...(
    [
      ["brings no validator", {}, { fields: { "cache-control": "max-age=60" }, body: "v1" }],
      ["is answered with an error", {}, { status: 404, fields: { "cache-control": "max-age=60", etag: '"2"' } }],
      ["may be for the one visitor alone", { cookie: "session=1" }, { ...v2, body: "mine" }],
    ] as const
  ).map(
    ([what, fields, reply]): Scenario => ({
      name: `a HEAD that ${what} says nothing about the stored page`,
      source: "RFC 9111 §4.3.5; docs/design.md#identity",
      only: orderIsOurs,
      origin: { "/a": [v1] },
      steps: [
        ...storedAndStale,
        { reply: { "/a": [reply, stillV1] } },
        { send: { method: "HEAD", path: "/a", fields }, expect: { body: "" } },
        { advanceMs: 1 },
        { get: "/a", expect: { xCache: "REVALIDATED", body: "v1" } },
        { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
      ],
    }),
  ),
  {
    name: "a purge while a HEAD is under way ends what the HEAD confirms",
    source: "docs/protocol.md#r2-validation-is-a-fetch",
    origin: { "/a": [v1, { ...v1, hold: "slow" }, v2] },
    steps: [
      ...storedAndStale,
      { begin: "head", send: { method: "HEAD", path: "/a" } },
      { originSees: "/a", count: 2 },
      { purge: { urls: ["/a"] } },
      { release: "slow" },
      { finish: "head", expect: { status: 200 } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "a HEAD that is answered by a stored page after the origin failed has its length and no body",
    source: "RFC 5861 §4; RFC 9110 §9.3.2",
    origin: {
      "/a": [{ ...v1, fields: { ...v1.fields, "cache-control": "max-age=60, stale-if-error=60" } }, { status: 503 }],
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
];

/** Validation: the origin confirms what is stored, clients ask whether they hold it. */
export const validation: readonly Scenario[] = [...asking, ...freshening, ...sharing, ...clients, ...heads];
