import type { Reply } from "../../cdn/scripted-origin.ts";
import type { Scenario, Step } from "../engine/scenario.ts";

/** A page in one of several forms. */
function form(body: string, vary: string | readonly string[], more: Reply["fields"] = {}): Reply {
  return { fields: { "cache-control": "max-age=60", vary, ...more }, body };
}

function encoded(body: string, coding: string, more: Reply["fields"] = { vary: "accept-encoding" }): Reply {
  return { fields: { "cache-control": "max-age=60", "content-encoding": coding, ...more }, body };
}

const plain: Reply = { fields: { "cache-control": "max-age=60" }, body: "plain" };

/** A request of somebody who reads this language. */
function inLanguage(language: string, expect: object, isolate?: string): Step {
  const fields = { "accept-language": language };
  return { send: { path: "/a", fields, ...(isolate && { isolate }) }, expect };
}

/** A request of somebody who sent this `Accept-Encoding`; `null` for none. */
function accepting(codings: string | null, expect: object): Step {
  return { get: "/a", ...(codings !== null && { fields: { "accept-encoding": codings } }), expect };
}

const severalIsolates = { engine: "memory", because: "one worker of the runtime is one isolate" } as const;
const orderIsOurs = {
  engine: "memory",
  because: "that a request has begun to wait shows only where the order of events is ours",
} as const;

/** Which stored response a request selects. RFC 9111 §4.1; RFC 9110 §12.5.5. */
const selecting: readonly Scenario[] = [
  {
    name: "a page that varies has an entry for each choice, also for none, and each gets its own",
    source: "RFC 9111 §4.1; RFC 9211 §2.2",
    origin: {
      "/a": [
        form("English", "accept-language"),
        form("Deutsch", "accept-language"),
        form("default", "accept-language"),
      ],
    },
    steps: [
      inLanguage("en", { xCache: "MISS", cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored" }),
      inLanguage("de", { xCache: "MISS", cacheStatus: "tidemark; fwd=vary-miss; fwd-status=200; stored" }),
      { get: "/a", expect: { xCache: "MISS", body: "default" } },
      inLanguage("en", { xCache: "HIT", body: "English", fields: { vary: "accept-language" } }),
      inLanguage("de", { xCache: "HIT", body: "Deutsch" }),
      { get: "/a", expect: { xCache: "HIT", body: "default" } },
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    name: "a field that is empty is another choice than one that is not sent",
    source: "RFC 9111 §4.1",
    origin: { "/a": [form("none", "x-flavour"), form("empty", "x-flavour")] },
    steps: [
      { get: "/a", expect: { body: "none" } },
      { get: "/a", fields: { "x-flavour": "" }, expect: { xCache: "MISS", body: "empty" } },
      { get: "/a", expect: { xCache: "HIT", body: "none" } },
      { get: "/a", fields: { "x-flavour": "" }, expect: { xCache: "HIT", body: "empty" } },
    ],
  },
  {
    name: "a page may vary by several fields, in any order, case, and number of lines",
    source: "RFC 9110 §12.5.5, §5.3",
    origin: {
      "/a": [
        form("sweet English", "Accept-Language, X-Flavour"),
        form("sour English", ["x-flavour", "ACCEPT-LANGUAGE"]),
        form("sour Deutsch", ", X-FLAVOUR,,accept-language , X-Flavour"),
      ],
    },
    steps: [
      { get: "/a", fields: { "accept-language": "en", "x-flavour": "sweet" }, expect: { xCache: "MISS" } },
      { get: "/a", fields: { "accept-language": "en", "x-flavour": "sour" }, expect: { body: "sour English" } },
      { get: "/a", fields: { "accept-language": "de", "x-flavour": "sour" }, expect: { body: "sour Deutsch" } },
      ...(
        [
          ["en", "sweet", "sweet English"],
          ["en", "sour", "sour English"],
          ["de", "sour", "sour Deutsch"],
        ] as const
      ).map(([language, flavour, body]) => ({
        get: "/a",
        fields: { "x-flavour": flavour, "accept-language": language },
        expect: { xCache: "HIT", body },
      })),
      { get: "/a", fields: { "accept-language": "en" }, expect: { xCache: "MISS" } },
      { originSaw: { "/a": 4 } },
    ],
  },
  {
    name: "choices that mean the same share an entry: spaces, and letter case where it does not count",
    source: "RFC 9111 §4.1; RFC 9110 §12.5",
    origin: {
      "/a": [form("v1", "accept-language"), form("v2", "accept-language")],
      "/b": [form("v1", "x-flavour"), form("v2", "x-flavour"), form("v3", "x-flavour")],
    },
    steps: [
      inLanguage("de-AT,de;q=0.8, en", { xCache: "MISS" }),
      ...["DE-at, de; q=0.8 ,en", "de-at,,de ;q = 0.8,EN"].map((same) => inLanguage(same, { xCache: "HIT" })),
      inLanguage("de-at, en, de;q=0.8", { xCache: "MISS", body: "v2" }),
      { get: "/b", fields: { "x-flavour": "Sweet,sour" }, expect: { xCache: "MISS" } },
      { get: "/b", fields: { "x-flavour": "Sweet , sour" }, expect: { xCache: "HIT", body: "v1" } },
      { get: "/b", fields: { "x-flavour": "sweet,sour" }, expect: { xCache: "MISS", body: "v2" } },
      { get: "/b", fields: { "x-flavour": '"Sweet , sour"' }, expect: { xCache: "MISS", body: "v3" } },
      { get: "/b", fields: { "x-flavour": '"Sweet,sour"' }, expect: { xCache: "MISS", body: "v3" } },
    ],
  },
  ...["*", "accept-language, *", "*, accept-language", "accept language", "x-real-ip", "X_Forwarded_For"].map(
    (vary): Scenario => ({
      name: `Vary: ${vary} names what no second request can be known to share, so nothing is stored`,
      source: "RFC 9111 §4.1; docs/design.md#promise-1",
      origin: { "/a": [form("v1", vary)] },
      steps: [
        { get: "/a", expect: { xCache: "MISS", cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; detail=vary" } },
        { get: "/a", expect: { xCache: "MISS" } },
      ],
    }),
  ),
  {
    name: "a Vary by fields that the origin always gets the same, or that are in the key, makes no variants",
    source: "RFC 9111 §4.1; docs/design.md#what-goes-to-the-origin",
    origin: { "/a": [form("v1", "Host, X-Forwarded-Host, X-Forwarded-Proto, Range, If-None-Match, Connection")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      {
        get: "/a",
        fields: { "x-forwarded-proto": "https", "x-forwarded-host": "evil.example", "if-none-match": '"x"' },
        expect: { xCache: "HIT", body: "v1" },
      },
      { get: "/a", fields: { range: "bytes=0-0" }, expect: { status: 206, xCache: "HIT", body: "v" } },
    ],
  },
  {
    name: "values that select may have 512 characters together, and no more",
    source: "docs/design.md#limits",
    origin: { "/a": [form("v1", "x-one, x-two")] },
    steps: [
      { get: "/a", fields: { "x-one": "1".repeat(500), "x-two": "2".repeat(12) }, expect: { xCache: "MISS" } },
      { get: "/a", fields: { "x-one": "1".repeat(500), "x-two": "2".repeat(12) }, expect: { xCache: "HIT" } },
      {
        get: "/a",
        fields: { "x-one": "1".repeat(500), "x-two": "2".repeat(13) },
        expect: { xCache: "MISS", cacheStatus: /detail=vary-too-long$/ },
      },
      { get: "/a", fields: { "x-one": "1".repeat(500), "x-two": "2".repeat(13) }, expect: { xCache: "MISS" } },
    ],
  },
  {
    name: "a page that begins to vary, and ceases to, is answered as the origin says at the time",
    source: "RFC 9111 §4.1",
    origin: {
      "/a": [
        plain,
        form("English", "accept-language"),
        form("Deutsch", "accept-language"),
        { ...plain, body: "again" },
      ],
    },
    steps: [
      inLanguage("en", { xCache: "MISS", body: "plain" }),
      inLanguage("de", { xCache: "HIT", body: "plain" }),
      { advanceMs: 60_000 },
      inLanguage("en", { xCache: "EXPIRED", body: "English" }),
      { advanceMs: 1 },
      inLanguage("de", { xCache: "MISS", body: "Deutsch" }),
      inLanguage("en", { xCache: "HIT", body: "English" }),
      { advanceMs: 60_000 },
      inLanguage("de", { xCache: "EXPIRED", body: "again" }),
      inLanguage("en", { xCache: "HIT", body: "again" }),
      { get: "/a", expect: { xCache: "HIT", body: "again" } },
    ],
  },
  {
    name: "where the page varies by other fields than before, the latest answer that a request matches counts",
    source: "RFC 9111 §4.1",
    site: { limits: { variants: 2 } },
    origin: { "/a": [form("English", "accept-language"), form("any language", "x-flavour")] },
    steps: [
      inLanguage("en", { xCache: "MISS", body: "English" }),
      { advanceMs: 1 },
      inLanguage("de", { xCache: "MISS", body: "any language" }),
      { advanceMs: 1 },
      inLanguage("en", { xCache: "HIT", body: "any language" }),
      {
        get: "/a",
        fields: { "x-flavour": "sweet", "accept-language": "en" },
        expect: { xCache: "HIT", body: "English" },
      },
      inLanguage("en", { xCache: "HIT", body: "any language" }),
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "a 304 that says what the page varies by makes it an entry for the one choice that asked",
    source: "RFC 9111 §4.3.4, §4.1",
    origin: {
      "/a": [
        { ...plain, fields: { ...plain.fields, etag: '"1"' } },
        { status: 304, fields: { etag: '"1"', vary: "accept-language" } },
        form("Deutsch", "accept-language", { etag: '"2"' }),
      ],
    },
    steps: [
      inLanguage("en", { xCache: "MISS", body: "plain" }),
      { advanceMs: 60_000 },
      inLanguage("en", { xCache: "REVALIDATED", body: "plain" }),
      { advanceMs: 1 },
      inLanguage("de", { xCache: "MISS", body: "Deutsch" }),
      inLanguage("en", { xCache: "HIT", body: "plain" }),
      inLanguage("de", { xCache: "HIT", body: "Deutsch" }),
    ],
  },
];

/** How many there are, and where they are found. */
const keeping: readonly Scenario[] = [
  {
    name: "a page has so many variants at most, and the one that was not used for the longest time goes",
    source: "docs/design.md#limits",
    site: { limits: { variants: 2 } },
    origin: { "/a": [form("v1", "accept-language")] },
    steps: [
      inLanguage("en", { xCache: "MISS" }),
      { advanceMs: 1 },
      inLanguage("de", { xCache: "MISS" }),
      { advanceMs: 1 },
      inLanguage("en", { xCache: "HIT" }),
      inLanguage("fr", { xCache: "MISS" }),
      { advanceMs: 1 },
      inLanguage("en", { xCache: "HIT" }),
      inLanguage("fr", { xCache: "HIT" }),
      inLanguage("de", { xCache: "MISS" }),
      { originSaw: { "/a": 4 } },
    ],
  },
  {
    name: "an isolate that hears of variants from another one keeps no more of them than the limit",
    source: "docs/design.md#limits",
    only: severalIsolates,
    site: { limits: { variants: 1 } },
    origin: { "/a": [form("v1", "accept-language")] },
    steps: [
      inLanguage("en", { xCache: "MISS" }, "b"),
      { advanceMs: 1 },
      inLanguage("de", { xCache: "MISS" }),
      { advanceMs: 1 },
      inLanguage("de", { xCache: "HIT" }, "b"),
      inLanguage("en", { xCache: "MISS" }, "b"),
    ],
  },
  {
    name: "variants are found by an isolate that has restarted",
    source: "docs/design.md#tiers",
    origin: { "/a": [form("English", "accept-language"), form("Deutsch", "accept-language")] },
    steps: [
      inLanguage("en", { xCache: "MISS" }),
      { advanceMs: 1 },
      inLanguage("de", { xCache: "MISS" }),
      { advanceMs: 1 },
      { restart: "isolate" },
      inLanguage("en", { xCache: "HIT", body: "English" }),
      inLanguage("de", { xCache: "HIT", body: "Deutsch" }),
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "variants that another isolate has stored are found",
    source: "docs/design.md#tiers",
    only: severalIsolates,
    origin: { "/a": [form("English", "accept-language"), form("Deutsch", "accept-language")] },
    steps: [
      inLanguage("en", { xCache: "MISS" }),
      { advanceMs: 1 },
      inLanguage("en", { xCache: "HIT" }, "b"),
      inLanguage("de", { xCache: "MISS" }),
      { advanceMs: 1 },
      inLanguage("de", { xCache: "HIT", body: "Deutsch" }, "b"),
      inLanguage("en", { xCache: "HIT", body: "English" }, "b"),
    ],
  },
  ...(
    [
      ["URL", { urls: ["/a"] }],
      ["tag", { tags: ["page"] }],
      ["everything", { everything: true }],
    ] as const
  ).map(
    ([what, purge]): Scenario => ({
      name: `a purge by ${what} reaches every variant, in memory and behind it`,
      source: "docs/protocol.md#r19-markers",
      origin: {
        "/a": [
          form("English", "accept-language", { "cache-tag": "page" }),
          form("Deutsch", "accept-language", { "cache-tag": "page" }),
          form("new", "accept-language", { "cache-tag": "page" }),
        ],
      },
      steps: [
        inLanguage("en", { xCache: "MISS" }),
        inLanguage("de", { xCache: "MISS" }),
        { purge },
        inLanguage("en", { xCache: "MISS", body: "new" }),
        { restart: "isolate" },
        inLanguage("de", { xCache: "MISS", body: "new" }),
      ],
    }),
  ),
  {
    name: "a purge by the tag of one variant leaves the others",
    source: "docs/protocol.md#what-a-purge-promises",
    origin: {
      "/a": [
        form("English", "accept-language", { "cache-tag": "en" }),
        form("Deutsch", "accept-language", { "cache-tag": "de" }),
        form("new", "accept-language"),
      ],
    },
    steps: [
      inLanguage("en", { xCache: "MISS" }),
      inLanguage("de", { xCache: "MISS" }),
      { purge: { tags: ["de"] } },
      inLanguage("en", { xCache: "HIT", body: "English" }),
      inLanguage("de", { xCache: "MISS", body: "new" }),
    ],
  },
];

/** Variants and validation. RFC 9111 §4.3.1, §4.3.4. */
const validating: readonly Scenario[] = [
  {
    name: "the origin may say that another variant in hand is the one: it is answered, and kept for both choices",
    source: "RFC 9111 §4.3.1, §4.3.4",
    origin: {
      "/a": [
        form("English", "accept-language", { etag: '"en"', "last-modified": "Thu, 01 Jan 2026 10:00:00 GMT" }),
        form("Deutsch", "accept-language", { etag: '"de"', "last-modified": "Thu, 01 Jan 2026 09:00:00 GMT" }),
        { status: 304, fields: { etag: '"en"', vary: "accept-language" } },
      ],
    },
    steps: [
      inLanguage("en", { xCache: "MISS" }),
      inLanguage("de", { xCache: "MISS", body: "Deutsch" }),
      {
        originLastSaw: "/a",
        fields: { "if-none-match": '"en"', "if-modified-since": "Thu, 01 Jan 2026 10:00:00 GMT" },
      },
      inLanguage("fr", {
        status: 200,
        xCache: "REVALIDATED",
        body: "English",
        cacheStatus: "tidemark; fwd=vary-miss; fwd-status=304; stored",
      }),
      { originLastSaw: "/a", fields: { "if-none-match": '"de", "en"', "if-modified-since": null } },
      inLanguage("fr", { xCache: "HIT", body: "English" }),
      inLanguage("en", { xCache: "HIT", body: "English" }),
      inLanguage("de", { xCache: "HIT", body: "Deutsch" }),
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    name: "a 304 that does not say which of several variants it confirms is asked for again, in full",
    source: "RFC 9111 §4.3.4",
    origin: {
      "/a": [
        form("English", "accept-language", { etag: '"en"' }),
        form("Deutsch", "accept-language", { etag: '"de"' }),
        { status: 304, fields: { vary: "accept-language" } },
        form("Français", "accept-language", { etag: '"fr"' }),
      ],
    },
    steps: [
      inLanguage("en", { xCache: "MISS" }),
      inLanguage("de", { xCache: "MISS" }),
      inLanguage("fr", { status: 200, xCache: "MISS", body: "Français" }),
      { originLastSaw: "/a", fields: { "if-none-match": null } },
      inLanguage("en", { xCache: "HIT", body: "English" }),
      { originSaw: { "/a": 4 } },
    ],
  },
  {
    name: "a variant that was purged is not offered to the origin for another choice",
    source: "docs/protocol.md#what-a-purge-promises",
    origin: {
      "/a": [
        form("English", "accept-language", { etag: '"en"', "cache-tag": "en" }),
        form("Deutsch", "accept-language", { etag: '"de"' }),
        form("Français", "accept-language", { etag: '"fr"' }),
      ],
    },
    steps: [
      inLanguage("en", { xCache: "MISS" }),
      inLanguage("de", { xCache: "MISS" }),
      { purge: { tags: ["en"] } },
      inLanguage("fr", { xCache: "MISS", body: "Français" }),
      { originLastSaw: "/a", fields: { "if-none-match": '"de"' } },
    ],
  },
  {
    name: "a variant in a coding that the client does not accept is not offered to the origin, whose weak tag may fit both",
    source: "RFC 9110 §12.5.3, §8.8.3.3",
    origin: {
      "/a": [
        encoded("zipped", "gzip", { vary: "accept-encoding", etag: 'W/"1"' }),
        form("plain", "accept-encoding", { etag: 'W/"1"' }),
      ],
    },
    steps: [
      accepting("gzip", { xCache: "MISS" }),
      accepting(null, { status: 200, xCache: "MISS", body: "plain", fields: { "content-encoding": null } }),
      { originLastSaw: "/a", fields: { "if-none-match": null } },
      accepting("gzip", { xCache: "HIT" }),
    ],
  },
];

/** What one visitor sends must not change what another gets. */
const guarding: readonly Scenario[] = [
  {
    name: "a page that varies by Cookie is one entry for all who have none, and a session neither makes nor gets one",
    source: "docs/design.md#identity; RFC 9111 §4.1",
    origin: {
      "/a": [
        form("mine", "cookie", { "cache-control": "public, max-age=60" }),
        form("for all", "cookie", { "cache-control": "public, max-age=60" }),
        form("mine again", "cookie", { "cache-control": "public, max-age=60" }),
      ],
    },
    steps: [
      { get: "/a", fields: { cookie: "session=1" }, expect: { body: "mine", cacheStatus: /detail=vary$/ } },
      { get: "/a", expect: { xCache: "MISS", body: "for all" } },
      { get: "/a", expect: { xCache: "HIT", body: "for all" } },
      { get: "/a", fields: { cookie: "_ga=GA1.2" }, expect: { xCache: "HIT", body: "for all" } },
      { get: "/a", fields: { cookie: "session=1" }, expect: { xCache: "MISS", body: "mine again" } },
      { get: "/a", expect: { xCache: "HIT", body: "for all" } },
    ],
  },
  {
    name: "a field that Connection names selects nothing, as the origin does not see it",
    source: "RFC 9110 §7.6.1; RFC 9111 §4.1",
    origin: { "/a": [form("for all", "x-flavour"), form("sour", "x-flavour")] },
    steps: [
      {
        get: "/a",
        fields: { connection: "X-Flavour", "x-flavour": "sour" },
        expect: { xCache: "MISS", body: "for all" },
      },
      { originLastSaw: "/a", fields: { "x-flavour": null } },
      { get: "/a", expect: { xCache: "HIT", body: "for all" } },
      { get: "/a", fields: { "x-flavour": "sour" }, expect: { xCache: "MISS", body: "sour" } },
    ],
  },
  {
    name: "an Accept-Encoding that Connection names is not sent on, and spoils nobody's variant",
    source: "RFC 9110 §7.6.1",
    origin: { "/a": [form("plain", "accept-encoding")] },
    steps: [
      { get: "/a", fields: { connection: "accept-encoding", "accept-encoding": "gzip" }, expect: { xCache: "MISS" } },
      { originLastSaw: "/a", fields: { "accept-encoding": "identity" } },
      accepting(null, { xCache: "HIT", body: "plain" }),
    ],
  },
  {
    name: "who waits for a page that turns out to vary gets the leader's only if his choice is the same",
    source: "RFC 9111 §4.1; docs/design.md#collapsing",
    only: orderIsOurs,
    origin: { "/a": [{ ...form("English", "accept-language"), hold: "slow" }, form("Deutsch", "accept-language")] },
    steps: [
      { begin: "leader", send: { path: "/a", fields: { "accept-language": "en" } } },
      { originSees: "/a", count: 1 },
      { begin: "same", send: { path: "/a", fields: { "accept-language": "EN" } } },
      { begin: "other", send: { path: "/a", fields: { "accept-language": "de" } } },
      { begin: "other too", send: { path: "/a", fields: { "accept-language": "de" } } },
      { advanceMs: 1 },
      { originSaw: { "/a": 1 } },
      { release: "slow" },
      { finish: "leader", expect: { body: "English" } },
      { finish: "same", expect: { body: "English", cacheStatus: /; collapsed$/ } },
      { finish: "other", expect: { body: "Deutsch" } },
      { finish: "other too", expect: { body: "Deutsch" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "once it is known what a page varies by, only requests of the same choice wait for each other",
    source: "docs/design.md#collapsing",
    origin: {
      "/a": [
        form("old", "accept-language"),
        { ...form("English", "accept-language"), hold: "slow" },
        form("Deutsch", "accept-language"),
      ],
    },
    steps: [
      inLanguage("en", { body: "old" }),
      { advanceMs: 60_000 },
      { begin: "English", send: { path: "/a", fields: { "accept-language": "en" } } },
      { originSees: "/a", count: 2 },
      { sendMany: 20, request: { path: "/a", fields: { "accept-language": "de" } }, expectEach: { body: "Deutsch" } },
      { release: "slow" },
      { finish: "English", expect: { body: "English" } },
      { originSaw: { "/a": 3 } },
    ],
  },
];

/** Content codings. RFC 9110 §8.4, §12.5.3. */
const codings: readonly Scenario[] = [
  {
    name: "the origin is asked for the codings that the client accepts, in one text for each set of them",
    source: "RFC 9110 §12.5.3; docs/design.md#what-goes-to-the-origin",
    origin: { "/a": [{ fields: { "cache-control": "no-store" }, body: "v1" }] },
    steps: (
      [
        [null, "identity"],
        ["", "identity"],
        ["gzip, deflate, br, zstd", "br, gzip, zstd"],
        ["zstd;q=0.1, GZIP;q=1.0,br ; q=0.5", "br, gzip, zstd"],
        ["x-gzip", "gzip"],
        ["gzip;q=0, br", "br"],
        ["br, gzip, br;q=0.000", "gzip"],
        ["*", "br, gzip, zstd"],
        ["*, br;q=0", "gzip, zstd"],
        ["gzip, *;q=0", "gzip"],
        ["identity;q=0, gzip", "gzip"],
        ["compress, deflate, made-up", "identity"],
        ["gzip;q=2, br;level=5, zstd", "zstd"],
      ] as const
    ).flatMap(([sent, asked]) => [
      accepting(sent, { status: 200 }),
      { originLastSaw: "/a", fields: { "accept-encoding": asked } },
    ]),
  },
  {
    name: "clients that accept the same codings in another order or with other preferences share an entry",
    source: "RFC 9111 §4.1; RFC 9110 §12.5.3",
    origin: { "/a": [encoded("brotli", "br")] },
    steps: [
      accepting("gzip, deflate, br", { xCache: "MISS", body: "brotli", fields: { "content-encoding": "br" } }),
      ...["br,gzip", "br;q=0.1, GZIP", "gzip, br, made-up"].map((same) =>
        accepting(same, { xCache: "HIT", body: "brotli", fields: { "content-encoding": "br" } }),
      ),
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "a page in the coding that the origin chose from a larger offer serves who accepts fewer, that one among them",
    source: "RFC 9111 §4.1; RFC 9110 §12.5.3",
    origin: { "/a": [encoded("zipped", "gzip"), encoded("brotli", "br"), form("plain", "accept-encoding")] },
    steps: [
      accepting("br, gzip, zstd", { xCache: "MISS", body: "zipped" }),
      accepting("gzip", { xCache: "HIT", body: "zipped" }),
      accepting("gzip, zstd", { xCache: "HIT", body: "zipped" }),
      accepting("br", { xCache: "MISS", body: "brotli" }),
      accepting(null, { xCache: "MISS", body: "plain" }),
      accepting("gzip", { xCache: "HIT", body: "zipped" }),
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    name: "a page that was chosen from a smaller offer does not serve who accepts more",
    source: "RFC 9111 §4.1",
    origin: { "/a": [form("plain", "accept-encoding"), encoded("zipped", "gzip"), encoded("brotli", "br")] },
    steps: [
      accepting(null, { xCache: "MISS", body: "plain" }),
      accepting("gzip", { xCache: "MISS", body: "zipped" }),
      accepting("gzip, br", { xCache: "MISS", body: "brotli" }),
      accepting(null, { xCache: "HIT", body: "plain" }),
      accepting("gzip", { xCache: "HIT", body: "zipped" }),
      accepting("br, gzip", { xCache: "HIT", body: "brotli" }),
    ],
  },
  ...(
    [
      ["says Vary", { vary: "Accept-Encoding" }],
      ["forgot to say Vary", {}],
    ] as const
  ).map(
    ([what, vary]): Scenario => ({
      name: `a client that refuses a coding never gets it from store, where the origin ${what}`,
      source: "RFC 9110 §12.5.3, §12.5.5",
      origin: {
        "/a": [
          encoded("zipped", "gzip", vary),
          encoded("brotli", "br", vary),
          { fields: { "cache-control": "max-age=60", ...vary }, body: "plain" },
        ],
      },
      steps: [
        accepting("gzip, br", { xCache: "MISS", body: "zipped" }),
        accepting("GZIP ; q=0, br", { xCache: "MISS", body: "brotli", fields: { "content-encoding": "br" } }),
        accepting("gzip;q=0, br;q=0", { xCache: "MISS", body: "plain", fields: { "content-encoding": null } }),
        accepting("*;q=0", { xCache: "HIT", body: "plain" }),
        { originSaw: { "/a": 3 } },
      ],
    }),
  ),
  {
    name: "who waits for a page that turns out to be encoded gets it only if he accepts the coding",
    source: "RFC 9110 §12.5.3; docs/design.md#collapsing",
    only: orderIsOurs,
    origin: { "/a": [{ ...encoded("zipped", "gzip", {}), hold: "slow" }, plain] },
    steps: [
      { begin: "leader", send: { path: "/a", fields: { "accept-encoding": "gzip" } } },
      { originSees: "/a", count: 1 },
      { begin: "follower", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "leader", expect: { body: "zipped" } },
      { finish: "follower", expect: { body: "plain", fields: { "content-encoding": null } } },
    ],
  },
  {
    name: "a page without a coding, or with that of identity, serves everybody",
    source: "RFC 9110 §12.5.3, §8.4.1",
    origin: { "/a": [form("plain", "accept-encoding")], "/b": [encoded("plain", "identity")] },
    steps: [
      accepting("br, gzip, zstd", { xCache: "MISS" }),
      ...["gzip", null, "identity;q=0", "*;q=0"].map((fewer) => accepting(fewer, { xCache: "HIT", body: "plain" })),
      { get: "/b", fields: { "accept-encoding": "br, gzip, zstd" }, expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "HIT", body: "plain" } },
    ],
  },
  {
    name: "a page in several codings serves who accepts all of them",
    source: "RFC 9110 §8.4",
    origin: { "/a": [encoded("twice", "gzip, BR"), plain] },
    steps: [
      accepting("br, gzip, zstd", { xCache: "MISS", body: "twice" }),
      accepting("gzip, br", { xCache: "HIT", body: "twice", fields: { "content-encoding": "gzip, BR" } }),
      accepting("gzip, zstd", { xCache: "MISS", body: "plain" }),
    ],
  },
  {
    name: "a page in a coding that nobody is known to accept is passed on, and serves no second request",
    source: "RFC 9110 §8.4.1",
    origin: { "/a": [encoded("squeezed", "compress")] },
    steps: [
      accepting("compress, *", { xCache: "MISS", body: "squeezed", fields: { "content-encoding": "compress" } }),
      accepting("compress, *", { xCache: "MISS", body: "squeezed" }),
      accepting(null, { xCache: "MISS" }),
    ],
  },
  {
    name: "a part that misses is asked for with the client's own Accept-Encoding",
    source: "RFC 9110 §12.5.3, §14.2",
    origin: { "/a": [{ status: 206, fields: { "content-range": "bytes 0-0/9" }, body: "v" }] },
    steps: [
      { get: "/a", fields: { range: "bytes=0-0", "accept-encoding": "br;q=0.5, x" }, expect: { status: 206 } },
      { originLastSaw: "/a", fields: { range: "bytes=0-0", "accept-encoding": "br;q=0.5, x" } },
    ],
  },
];

/** Variants: one URL, several answers, each for whom it was made. */
export const variants: readonly Scenario[] = [...selecting, ...keeping, ...validating, ...guarding, ...codings];
