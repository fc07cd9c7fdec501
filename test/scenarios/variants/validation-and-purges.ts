import type { Scenario, Step } from "../../engine/scenario.ts";
import { BENEATH_THE_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";
import { form, inEnglish, inGerman, inLanguage, plain } from "./openings.ts";

const MODIFIED = "Thu, 01 Jan 2026 10:00:00 GMT";

/** Validation and purges of pages that have several variants. */
export const scenarios: readonly Scenario[] = [
  {
    id: "variants/stale-variant-is-validated-alone",
    name: "if several variants are stale, only the one that the request selects is validated",
    source: "docs/protocol.md#r3-same-bytes; RFC 9111 §4.3.1, §4.3.4",
    origin: { "/a": [inGerman, inEnglish, { ...inEnglish, status: 304 }] },
    steps: [
      inLanguage("de", { xCache: "MISS", body: "hallo" }),
      inLanguage("en", { xCache: "MISS", body: "hello" }),
      { advanceMs: 3_600_000 },
      inLanguage("en", { xCache: "REVALIDATED", body: "hello" }),
      { originLastSaw: "/a", fields: { "if-none-match": '"en"' } },
      { work: "finished" },
      inLanguage("en", { xCache: "HIT", body: "hello" }),
    ],
  },
  {
    id: "variants/purge-reaches-every-variant",
    name: "story 26: a purge reaches every variant of a page, and each client gets a new one",
    source: "docs/protocol.md#r19-markers",
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
    name: "a purge by one variant's tag leaves the others",
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
    id: "variants/others-are-not-validated",
    name: "another variant is not validated, because many origins give all variants one entity tag and one date",
    source:
      "RFC 9110 §13.1.3; docs/protocol.md#promise-1-private-stays-private; docs/decisions/0032-only-the-selected-response-is-validated.md",
    origin: {
      "/a": [
        form("English", "accept-language", { etag: 'W/"1"', "last-modified": MODIFIED }),
        form("Deutsch", "accept-language", { etag: 'W/"1"', "last-modified": MODIFIED }),
      ],
    },
    steps: [
      inLanguage("en", { xCache: "MISS", body: "English" }),
      inLanguage("de", {
        xCache: "MISS",
        body: "Deutsch",
        cacheStatus: "tidemark; fwd=vary-miss; fwd-status=200; stored",
      }),
      { originLastSaw: "/a", fields: { "if-none-match": null, "if-modified-since": null } },
      inLanguage("en", { xCache: "HIT", body: "English" }),
      inLanguage("de", { xCache: "HIT", body: "Deutsch" }),
    ],
  },
  {
    id: "variants/purged-is-no-variant",
    name: "a page with only purged variants is reported as not stored",
    source: "RFC 9211 §2.2; docs/protocol.md#what-a-purge-promises",
    origin: { "/a": [form("English", "accept-language", { "cache-tag": "en" }), form("Français", "accept-language")] },
    steps: [
      inLanguage("en", { xCache: "MISS" }),
      { purge: { tags: ["en"] } },
      inLanguage("fr", {
        xCache: "MISS",
        body: "Français",
        cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored",
      }),
    ],
  },
  {
    id: "variants/not-in-memory-is-a-variant",
    name: "a page whose variants only the shared tier holds is a vary-miss for others, unless its URL was purged",
    source: "RFC 9211 §2.2; docs/reference/cache-status.md#fwd",
    origin: {
      "/a": [
        form("English", "accept-language"),
        form("Français", "accept-language"),
        form("Deutsch", "accept-language"),
      ],
    },
    steps: [
      inLanguage("en", { xCache: "MISS" }),
      { work: "finished" },
      { restart: "isolate" },
      inLanguage("fr", {
        xCache: "MISS",
        body: "Français",
        cacheStatus: "tidemark; fwd=vary-miss; fwd-status=200; stored",
      }),
      { purge: { urls: ["/a"] } },
      { work: "finished" },
      { restart: "isolate" },
      inLanguage("de", {
        xCache: "MISS",
        body: "Deutsch",
        cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored",
      }),
    ],
  },
  {
    id: "variants/gone-is-not-stored",
    name: "a variant that has left both tiers is reported as not stored",
    source: "RFC 9211 §2.2; docs/reference/cache-status.md#fwd",
    origin: {
      "/a": [
        form("English", "accept-language"),
        form("Français", "accept-language", { "cache-tag": "fr" }),
        form("English", "accept-language"),
      ],
    },
    steps: [
      inLanguage("en", { xCache: "MISS" }),
      { work: "finished" },
      { restart: "isolate" },
      inLanguage("fr", { xCache: "MISS", body: "Français" }),
      { purge: { tags: ["fr"] } },
      { work: "finished" },
      { sharedTier: "emptied" },
      inLanguage("en", {
        xCache: "MISS",
        body: "English",
        cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored",
      }),
    ],
  },
  {
    id: "variants/key-field-is-added",
    name: "a page that was stored before the owner added a field to the key is not served for any value of the field",
    source: "docs/protocol.md#promise-1-private-stays-private",
    only: BENEATH_THE_ISOLATES,
    origin: {
      "/a": [page("max-age=3600", "of everybody"), page("max-age=3600", "of acme"), page("max-age=3600", "of globex")],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "of everybody" } },
      { work: "finished" },
      { deploy: { routes: [{ match: "/*", key: { fields: ["x-tenant"] } }] } },
      { restart: "isolate" },
      asTenant("acme", { xCache: "MISS", body: "of acme" }),
      asTenant("globex", { xCache: "MISS", body: "of globex" }),
      asTenant("acme", { xCache: "HIT", body: "of acme" }),
    ],
  },
  {
    id: "variants/field-is-dropped-no-more",
    name: "a page that was stored while the owner dropped a field in its Vary is not served once he does not",
    source: "docs/protocol.md#promise-1-private-stays-private",
    only: BENEATH_THE_ISOLATES,
    site: { fields: { drop: ["x-currency"] } },
    origin: { "/a": ["of all", "EUR"].map((body) => page("max-age=3600", body, { vary: "X-Currency" })) },
    steps: [
      { get: "/a", fields: { "x-currency": "EUR" }, expect: { xCache: "MISS", body: "of all" } },
      { work: "finished" },
      { deploy: { fields: { drop: [] } } },
      { restart: "isolate" },
      { get: "/a", fields: { "x-currency": "EUR" }, expect: { xCache: "MISS", body: "EUR" } },
    ],
  },
  {
    id: "variants/page-for-all-origins-after-restart",
    name: "a page that scripts of all origins may read, and that names the coding in Vary, is found in the shared tier",
    source: "docs/http.md#memory-and-the-cache-api",
    only: BENEATH_THE_ISOLATES,
    origin: {
      "/a": [page("max-age=3600", "v1", { vary: "Accept-Encoding, Cookie", "access-control-allow-origin": "*" })],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { work: "finished" },
      { restart: "isolate" },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
    ],
  },
  {
    id: "variants/key-field-in-vary-after-restart",
    name: "a page whose Vary names a field that the route keys by, and that is a claim elsewhere, is found in the shared tier",
    source: "docs/http.md#memory-and-the-cache-api",
    only: BENEATH_THE_ISOLATES,
    site: { routes: [{ match: "/*", key: { fields: ["x-forwarded-prefix"] } }] },
    origin: { "/a": [page("max-age=3600", "v1", { vary: "X-Forwarded-Prefix" })] },
    steps: [
      { get: "/a", fields: { "x-forwarded-prefix": "/app" }, expect: { xCache: "MISS" } },
      { work: "finished" },
      { restart: "isolate" },
      { get: "/a", fields: { "x-forwarded-prefix": "/app" }, expect: { xCache: "HIT", body: "v1" } },
    ],
  },
  {
    id: "variants/second-key-field-is-added",
    name: "a variant that was stored before the owner added another field to the key is not served for any value of it",
    source: "docs/protocol.md#promise-1-private-stays-private",
    only: BENEATH_THE_ISOLATES,
    site: { routes: [{ match: "/*", key: { languages: ["en", "de"] } }] },
    origin: { "/a": [page("max-age=3600", "of everybody"), page("max-age=3600", "of acme")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "of everybody" } },
      { work: "finished" },
      { deploy: { routes: [{ match: "/*", key: { languages: ["en", "de"], fields: ["x-tenant"] } }] } },
      { restart: "isolate" },
      asTenant("acme", { xCache: "MISS", body: "of acme" }),
      asTenant("acme", { xCache: "HIT", body: "of acme" }),
    ],
  },
];

function asTenant(tenant: string, expect: object): Step {
  return { send: { path: "/a", fields: { "x-tenant": tenant } }, expect };
}
