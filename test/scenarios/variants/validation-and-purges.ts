import type { Scenario } from "../../engine/scenario.ts";
import { form, inEnglish, inGerman, inLanguage, plain } from "./openings.ts";

/** Validation and purges of pages that have several variants. */
export const scenarios: readonly Scenario[] = [
  {
    id: "variants/304-names-one-variant",
    name: "a 304 that names one of several variants freshens that variant",
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
    id: "variants/purge-reaches-every-variant",
    name: "story 26: a purge reaches every variant of a page, and each client gets its own anew",
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
    id: "variants/304-with-vary",
    name: "a 304 with Vary makes the page a variant for the request that asked",
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
      { work: "finished" },
      { advanceMs: 1 },
      inLanguage("de", { xCache: "MISS", body: "Deutsch" }),
      inLanguage("en", { xCache: "HIT", body: "plain" }),
      inLanguage("de", { xCache: "HIT", body: "Deutsch" }),
    ],
  },
  ...(
    [
      ["purge-by-url", "by URL", { urls: ["/a"] }],
      ["purge-by-tag", "by tag", { tags: ["page"] }],
      ["purge-of-everything", "of everything", { everything: true }],
    ] as const
  ).map(
    ([id, what, purge]): Scenario => ({
      id: `variants/${id}`,
      name: `a purge ${what} reaches every variant, in memory and in the shared tier`,
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
    id: "variants/purge-of-one-variant",
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
  {
    id: "variants/304-names-another-variant",
    name: "a 304 that names another stored variant is answered with that variant, which is then stored for both values",
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
    id: "variants/304-names-no-variant",
    name: "a 304 that does not say which of several variants it confirms makes the edge ask again, in full",
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
    id: "variants/purged-is-not-offered",
    name: "a purged variant is not offered to the origin in a request for another variant",
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
];
