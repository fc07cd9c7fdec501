import type { Scenario, Step } from "../../engine/scenario.ts";
import { page } from "../page.ts";

const ofItsOwn = { targetedField: "Example-Cache-Control" };

/** Pages whose targeted field cannot be read; `Cache-Control` gives them ten seconds. */
const unreadable = ["", " ", "max-age=", "max-age=60,", "MAX-AGE=60", "max-age=60 no-store", '"'];

/** Pages whose targeted field gives no lifetime, although `Cache-Control` would. */
const withoutLifetime = ['max-age="60"', "max-age=60.0", "max-age=?1", "max-age=(60)", "max-age=-1", "max-age", "none"];

/** CDN-Cache-Control (RFC 9213) and Surrogate-Control. */
export const scenarios: readonly Scenario[] = [
  {
    id: "targeted-fields/cdn-cache-control",
    name: "CDN-Cache-Control governs this cache, Cache-Control governs the caches after it, and clients get both",
    source: "RFC 9213 §2.2, §3.1",
    origin: { "/a": [page("no-store", "v1", { "cdn-cache-control": "max-age=10" })] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { "cache-control": "no-store" } } },
      { advanceMs: 9_999 },
      {
        get: "/a",
        expect: { xCache: "HIT", fields: { "cdn-cache-control": "max-age=10", "cache-control": "no-store" } },
      },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
    ],
  },
  {
    id: "targeted-fields/cdn-cache-control-forbids",
    name: "a response that CDN-Cache-Control forbids to store is not stored, whatever Cache-Control allows",
    source: "RFC 9213 §2.2",
    origin: {
      "/no-store": [page("max-age=60", "v1", { "cdn-cache-control": "no-store" })],
      "/private": [page("public, max-age=60", "v1", { "cdn-cache-control": "private" })],
      "/lines": [
        { fields: { "cdn-cache-control": ["max-age=60", "no-store"], "cache-control": "max-age=60" }, body: "v1" },
      ],
    },
    steps: [
      { get: "/no-store", expect: { xCache: "MISS", cacheStatus: /detail=no-store$/ } },
      { get: "/private", expect: { xCache: "MISS", cacheStatus: /detail=private$/ } },
      { get: "/lines", expect: { xCache: "MISS", cacheStatus: /detail=no-store$/ } },
    ],
  },
  {
    id: "targeted-fields/malformed-is-ignored",
    name: "a targeted field that is empty or malformed is ignored, and Cache-Control applies",
    source: "RFC 9213 §2.1, §2.2",
    origin: Object.fromEntries(
      unreadable.map((text, index) => [
        `/${index}`,
        [{ fields: { "cdn-cache-control": text, "cache-control": "max-age=10" }, body: "v1" }],
      ]),
    ),
    steps: [
      ...unreadable.map((_, index): Step => ({ get: `/${index}`, expect: { xCache: "MISS" } })),
      { advanceMs: 9_999 },
      ...unreadable.map((_, index): Step => ({ get: `/${index}`, expect: { xCache: "HIT" } })),
      { advanceMs: 1 },
      ...unreadable.map((_, index): Step => ({ get: `/${index}`, expect: { xCache: "EXPIRED" } })),
    ],
  },
  {
    id: "targeted-fields/invalid-lifetime",
    name: "if a targeted field's lifetime is missing or of a wrong type, the response is stale, and Cache-Control and Expires do not apply",
    source: "RFC 9213 §2.1, §2.2",
    origin: Object.fromEntries(
      withoutLifetime.map((text, index) => [
        `/${index}`,
        [
          {
            fields: {
              "cdn-cache-control": text,
              "cache-control": "max-age=60",
              expires: "Thu, 01 Jan 2026 12:01:00 GMT",
            },
            body: "v1",
          },
        ],
      ]),
    ),
    steps: withoutLifetime.map((_, index) => ({
      get: `/${index}`,
      expect: { xCache: "MISS", cacheStatus: /detail=no-freshness$/ },
    })),
  },
  {
    id: "targeted-fields/last-duplicate-counts",
    name: "if a targeted field has duplicate members, the last one counts",
    source: "RFC 9213 §2.1; RFC 9651 §3.2",
    origin: { "/a": [{ fields: { "cdn-cache-control": ["max-age=60", "max-age=10"] }, body: "v1" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 10_000 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
    ],
  },
  {
    id: "targeted-fields/field-of-the-site",
    name: "the site's own targeted field overrides CDN-Cache-Control, and clients do not see it",
    source: "RFC 9213 §2.2",
    site: ofItsOwn,
    origin: {
      "/a": [{ fields: { "example-cache-control": "max-age=10", "cdn-cache-control": "no-store" }, body: "v1" }],
      "/not": [{ fields: { "example-cache-control": "no-store", "cdn-cache-control": "max-age=60" }, body: "v1" }],
      "/malformed": [
        { fields: { "example-cache-control": "max-age=", "cdn-cache-control": "max-age=10" }, body: "v1" },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { "example-cache-control": null } } },
      { get: "/not", expect: { xCache: "MISS", cacheStatus: /detail=no-store$/ } },
      { get: "/malformed", expect: { xCache: "MISS" } },
      { advanceMs: 9_999 },
      { get: "/a", expect: { xCache: "HIT", fields: { "example-cache-control": null } } },
      { get: "/malformed", expect: { xCache: "HIT" } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
      { get: "/malformed", expect: { xCache: "EXPIRED" } },
    ],
  },
  {
    id: "targeted-fields/field-of-another-cache",
    name: "a field that targets another cache has no effect here",
    source: "RFC 9213 §2.2",
    origin: {
      "/a": [page("max-age=60", "v1", { "example-cache-control": "no-store" })],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { "example-cache-control": "no-store" } } },
      { get: "/a", expect: { xCache: "HIT", fields: { "example-cache-control": "no-store" } } },
    ],
  },
  {
    id: "targeted-fields/surrogate-control",
    name: "Surrogate-Control ranks before Cache-Control and after CDN-Cache-Control, and is not passed on",
    source: "W3C Edge Architecture 1.0 §2.2",
    origin: {
      "/a": [page("no-store", "v1", { "surrogate-control": "max-age=10" })],
      "/cdn": [{ fields: { "surrogate-control": "max-age=60", "cdn-cache-control": "no-store" }, body: "v1" }],
      "/remote": [page("max-age=60", "v1", { "surrogate-control": "no-store-remote" })],
      "/unreadable": [page("max-age=60", "v1", { "surrogate-control": "max-age=60 private" })],
    },
    steps: [
      {
        get: "/a",
        expect: { xCache: "MISS", fields: { "surrogate-control": null, "cache-control": "no-store" } },
      },
      { get: "/cdn", expect: { xCache: "MISS", cacheStatus: /detail=no-store$/ } },
      {
        get: "/remote",
        expect: { xCache: "MISS", cacheStatus: /detail=no-store$/, fields: { "surrogate-control": null } },
      },
      // Its value is for caches alone.
      { get: "/unreadable", expect: { cacheStatus: /detail="unreadable-cache-control:surrogate-control"$/ } },
      { advanceMs: 9_999 },
      { get: "/a", expect: { xCache: "HIT", fields: { "surrogate-control": null } } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
      { send: { method: "POST", path: "/a" }, expect: { xCache: "BYPASS", fields: { "surrogate-control": null } } },
    ],
  },
  {
    id: "targeted-fields/surrogate-control-stale-seconds",
    name: "Surrogate-Control: max-age=10+5 is fresh for ten seconds and may be used for five more while it is refetched",
    source: "W3C Edge Architecture 1.0 §2.2.1",
    origin: { "/a": [{ fields: { "surrogate-control": "max-age=10+5" }, body: "v1" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 9_999 },
      { get: "/a", expect: { xCache: "HIT" } },
      { origin: "down" },
      { advanceMs: 5_000 },
      { get: "/a", expect: { xCache: "UPDATING" } },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 502 } },
    ],
  },
  {
    id: "targeted-fields/surrogate-control-not-applicable",
    name: "a Surrogate-Control for another surrogate, or with capabilities only, leaves Cache-Control in force",
    source: "W3C Edge Architecture 1.0 §2.2, §2.3",
    origin: {
      "/named": [page("max-age=60", "v1", { "surrogate-control": "no-store;other" })],
      "/esi": [page("max-age=60", "v1", { "surrogate-control": 'content="ESI/1.0"' })],
    },
    steps: [
      { get: "/named", expect: { xCache: "MISS" } },
      { get: "/esi", expect: { xCache: "MISS" } },
      { get: "/named", expect: { xCache: "HIT" } },
      { get: "/esi", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "targeted-fields/hidden-field-after-304",
    name: "a targeted field that clients do not see still counts when a 304 does not repeat it",
    source: "RFC 9111 §4.3.4",
    site: ofItsOwn,
    origin: {
      "/surrogate": [
        { fields: { "surrogate-control": "max-age=10", etag: '"1"' }, body: "v1" },
        { status: 304, fields: { etag: '"1"' } },
      ],
      "/own": [
        { fields: { "example-cache-control": "max-age=10", etag: '"1"' }, body: "v1" },
        { status: 304, fields: { etag: '"1"' } },
      ],
    },
    steps: [
      ...["/surrogate", "/own"].map((get): Step => ({ get, expect: { xCache: "MISS" } })),
      { advanceMs: 10_000 },
      ...["/surrogate", "/own"].map((get): Step => ({ get, expect: { xCache: "REVALIDATED", body: "v1" } })),
      { advanceMs: 9_999 },
      ...["/surrogate", "/own"].map(
        (get): Step => ({
          get,
          expect: { xCache: "HIT", fields: { "surrogate-control": null, "example-cache-control": null } },
        }),
      ),
      { originSaw: { "/surrogate": 2, "/own": 2 } },
    ],
  },
  {
    id: "targeted-fields/field-names-in-strings",
    name: 'in a targeted field, private="…" and no-cache="…" name fields; without a string they apply to the whole page',
    source: "RFC 9213 §2.1; RFC 9111 §5.2.2.4, §5.2.2.7",
    origin: {
      "/string": [{ fields: { "cdn-cache-control": 'max-age=60, private="x-user"', "x-user": "jo" }, body: "v1" }],
      "/token": [{ fields: { "cdn-cache-control": "max-age=60, private=x-user", "x-user": "jo" }, body: "v1" }],
      "/off": [{ fields: { "cdn-cache-control": "max-age=60, private=?0, no-store=?0" }, body: "v1" }],
    },
    steps: [
      { get: "/string", expect: { xCache: "MISS", fields: { "x-user": "jo" } } },
      { get: "/string", expect: { xCache: "HIT", fields: { "x-user": null } } },
      { get: "/token", expect: { xCache: "MISS", cacheStatus: /detail=private$/ } },
      { get: "/off", expect: { xCache: "MISS" } },
      { get: "/off", expect: { xCache: "HIT" } },
    ],
  },
];
