import type { Reply } from "../../../cdn/scripted-origin.ts";
import type { Scenario, Step } from "../../engine/scenario.ts";
import { SEVERAL_ISOLATES, WAITING_REQUESTS } from "../memory-only.ts";
import { page } from "../page.ts";

const inGerman = page("max-age=3600", "hallo", { vary: "accept-language", etag: '"de"' });
const inEnglish = { fields: { ...inGerman.fields, etag: '"en"' }, body: "hello" };

/** A page in one of several forms. */
function form(body: string, vary: string | readonly string[], more: Reply["fields"] = {}): Reply {
  return { fields: { "cache-control": "max-age=60", vary, ...more }, body };
}
const plain: Reply = page("max-age=60", "plain");

/** A request of somebody who reads this language. */
function inLanguage(language: string, expect: object, isolate?: string): Step {
  const fields = { "accept-language": language };
  return { send: { path: "/a", fields, ...(isolate && { isolate }) }, expect };
}

/** Pages that vary, RFC 9111 §4.1. */
export const scenarios: readonly Scenario[] = [
  {
    id: "variants/follower-of-another-variant",
    name: "a follower does not get a variant that it did not select",
    source: "docs/protocol.md#r19-markers; RFC 9111 §4.1",
    origin: { "/a": [{ ...inGerman, hold: "slow" }, inEnglish] },
    steps: [
      { begin: "german", send: { path: "/a", fields: { "accept-language": "de" } } },
      { originSees: "/a", count: 1 },
      { begin: "english", send: { path: "/a", fields: { "accept-language": "en" } } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "german", expect: { body: "hallo" } },
      { finish: "english", expect: { body: "hello" } },
    ],
  },
  {
    id: "variants/one-entry-per-value",
    name: "a page that varies has an entry for each value of the selecting field, also for none, and each request gets its own",
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
    id: "variants/empty-and-absent-field",
    name: "a selecting field that is empty selects another variant than one that is not sent",
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
    id: "variants/several-fields",
    name: "a page may vary by several fields, in any order, letter case and number of lines",
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
    id: "variants/equivalent-values",
    name: "values that mean the same share an entry: spaces do not count, nor does letter case where it is insignificant",
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
  ...(
    [
      ["vary-star", "*"],
      ["vary-field-and-star", "accept-language, *"],
      ["vary-star-and-field", "*, accept-language"],
      ["vary-invalid-field-name", "accept language"],
      ["vary-x-real-ip", "x-real-ip"],
      ["vary-x-forwarded-for", "X_Forwarded_For"],
    ] as const
  ).map(
    ([id, vary]): Scenario => ({
      id: `variants/${id}`,
      name: `Vary: ${vary} names something that no other request is known to share, so nothing is stored`,
      source: "RFC 9111 §4.1; docs/design.md#promise-1",
      origin: { "/a": [form("v1", vary)] },
      steps: [
        { get: "/a", expect: { xCache: "MISS", cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; detail=vary" } },
        { get: "/a", expect: { xCache: "MISS" } },
      ],
    }),
  ),
  {
    id: "variants/vary-by-constant-fields",
    name: "a Vary by fields that the origin always gets in the same form, or that are in the key, makes no variants",
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
    id: "variants/longest-selecting-values",
    name: "the selecting values of a variant may have 512 characters together, and no more",
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
    id: "variants/vary-begins-and-ends",
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
    id: "variants/vary-names-other-fields",
    name: "where a page varies by other fields than before, the latest stored response that the request matches counts",
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
    id: "variants/limit-and-eviction",
    name: "a page has a limited number of variants, and the least recently used one is evicted",
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
    id: "variants/limit-across-isolates",
    name: "an isolate that learns of variants from another keeps no more of them than the limit",
    source: "docs/design.md#limits",
    only: SEVERAL_ISOLATES,
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
    id: "variants/found-after-restart",
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
    id: "variants/found-by-another-isolate",
    name: "variants that another isolate stored are found",
    source: "docs/design.md#tiers",
    only: SEVERAL_ISOLATES,
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
  {
    id: "variants/vary-by-cookie",
    name: "a page that varies by Cookie is one entry for all requests without cookies; a request with a session neither makes nor gets one",
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
    id: "variants/field-named-by-connection",
    name: "a field that Connection names selects nothing, because the origin does not see it",
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
    id: "variants/followers-of-varying-page",
    name: "a follower of a page that proves to vary gets the leader's answer only if it has the same selecting values",
    source: "RFC 9111 §4.1; docs/design.md#collapsing",
    only: WAITING_REQUESTS,
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
    id: "variants/collapsing-by-variant",
    name: "once a page is known to vary, only requests for the same variant wait for each other",
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
