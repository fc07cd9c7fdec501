import type { Scenario, Step } from "../../engine/scenario.ts";
import { SEVERAL_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";
import { neverStored } from "./openings.ts";

const fresh = page("max-age=60");
const kept = page("max-age=60");
const v1 = page("max-age=3600", "v1", { "cache-tag": "song:42, songs" });
const minute = { "cache-control": "max-age=60" };
const withLifetime = [
  200, 201, 202, 203, 204, 207, 299, 300, 301, 302, 303, 307, 308, 399, 400, 402, 403, 404, 405, 410, 414, 422, 451,
  499, 500, 501, 502, 503, 504, 599,
];
const ofOneRequest = [206, 226, 401, 406, 407, 408, 412, 416, 417, 421, 425, 426, 428, 429, 431, 511];

/** Which responses are stored, RFC 9111 §3. */
export const scenarios: readonly Scenario[] = [
  ...[
    ["no-store-is-not-stored", "no-store", ", max-age=60"],
    ["private-is-not-stored", "private", ", max-age=60"],
    ["no-cache-is-not-stored", "no-cache", ", max-age=60"],
    ["max-age-zero-is-not-stored", "max-age=0", ""],
    ["malformed-max-age-is-not-stored", "max-age=1h", ""],
    ["public-alone-is-not-stored", "public", ""],
  ].map(
    ([id, directives, lifetime]): Scenario => ({
      id: `storing/${id}`,
      name: `Cache-Control: ${directives} is not stored`,
      source: "RFC 9111 §3, §5.2.2",
      origin: { "/a": [page(`${directives}${lifetime}`)] },
      steps: [
        {
          get: "/a",
          expect: {
            status: 200,
            xCache: "MISS",
            body: "v1",
            cacheStatus: /^tidemark; fwd=uri-miss; fwd-status=200; detail=/,
          },
        },
        { get: "/a", expect: { xCache: "MISS" } },
        { originSaw: { "/a": 2 } },
      ],
    }),
  ),
  ...[
    ["set-cookie-is-not-stored", "Set-Cookie", { "set-cookie": ["a=1", "b=2"] }, "set-cookie"],
    ["vary-by-client-address", "a Vary by the client's address", { vary: "x-forwarded-for" }, "vary"],
    ["selecting-values-too-long", "a Vary by values that are too long", { vary: "x-long" }, "vary-too-long"],
    ["vary-star-is-not-stored", "Vary: *", { vary: "*" }, "vary"],
    ["x-accel-expires", "X-Accel-Expires: 0, which nginx obeys", { "x-accel-expires": "0" }, "x-accel-expires"],
    ["sendfile", "a file for a web server to send", { "x-accel-redirect": "/protected/a.pdf" }, "sendfile"],
    ["tag-too-long", "a tag that is too long to purge", { "cache-tag": "x".repeat(300) }, "tag-invalid"],
  ].map(
    ([id, what, fields, because]): Scenario => ({
      id: `storing/${id}`,
      name: `a response with ${what} is passed on but not stored, and Cache-Status says why`,
      source: "RFC 9111 §3, §4.1",
      origin: { "/a": [{ fields: { "cache-control": "max-age=60", ...(fields as object) }, body: "v1" }] },
      steps: [
        {
          get: "/a",
          fields: { "x-long": "x".repeat(1025) },
          expect: {
            xCache: "MISS",
            body: "v1",
            cacheStatus: `tidemark; fwd=uri-miss; fwd-status=200; detail=${because}`,
          },
        },
        { get: "/a", fields: { "x-long": "x".repeat(1025) }, expect: { xCache: "MISS" } },
        { originSaw: { "/a": 2 } },
      ],
    }),
  ),
  {
    id: "storing/cookie-withheld-by-origin",
    name: "a page that sets a cookie is not stored for a lifetime of the owner alone, even if its origin withholds the cookie by name",
    source: "RFC 9111 §3, §7.3",
    site: {
      heuristic: {},
      routes: [
        { match: "/ttl{/*}?", ttl: "1h" },
        { match: "/*", defaultTtl: "1h" },
      ],
    },
    ...neverStored(
      Object.fromEntries(
        [
          ["/a", 'no-cache="Set-Cookie"'],
          ["/b", 'private="set-cookie"'],
          ["/guessed", 'no-cache="Set-Cookie"', { "last-modified": "Wed, 01 Jan 2025 10:00:00 GMT" }],
          ["/ttl", 'no-cache="Set-Cookie"'],
          ["/ttl/zero", 'max-age=0, no-cache="Set-Cookie"'],
        ].map(([path, directives, fields]) => [
          path,
          page(directives as string, "token of ann", { "set-cookie": "session=ann", ...(fields as object) }),
        ]),
      ),
      "set-cookie",
    ),
  },
  {
    id: "storing/cookie-withheld-beside-lifetime",
    name: "a page that its origin lets caches reuse is stored for the owner's lifetime without the cookie that it withholds by name",
    source: "RFC 9111 §3, §5.2.2.4, §7.3",
    site: { routes: [{ match: "/*", ttl: "1h" }] },
    origin: Object.fromEntries(
      ["max-age=60", "public"].map((directives) => [
        `/${directives}`,
        [page(`${directives}, no-cache="Set-Cookie"`, "v1", { "set-cookie": "a=1" })],
      ]),
    ),
    steps: ["/max-age=60", "/public"].flatMap((path): Step[] => [
      { get: path, expect: { xCache: "MISS", fields: { "set-cookie": "a=1" } } },
      { get: path, expect: { xCache: "HIT", body: "v1", fields: { "set-cookie": null } } },
    ]),
  },
  {
    id: "storing/credentials-in-a-field",
    name: "a page whose field hands out credentials is not stored for a lifetime of the owner alone, and Cache-Status names the field",
    source: "RFC 9111 §3; docs/security.md#who-can-send-what",
    site: {
      heuristic: {},
      routes: [
        { match: "/ttl{/*}?", ttl: "1h" },
        { match: "/*", defaultTtl: "1h" },
      ],
    },
    ...neverStored(
      {
        "/a": { fields: { "x-auth-token": "of ann" }, body: "v1" },
        "/guessed": {
          fields: { "last-modified": "Wed, 01 Jan 2025 10:00:00 GMT", "x-auth-token": "of ann" },
          body: "v1",
        },
        "/ttl": { fields: { "x-auth-token": "of ann" }, body: "v1" },
        "/ttl/zero": page("max-age=0", "v1", { "x-auth-token": "of ann" }),
      },
      '"set-cookie:x-auth-token"',
    ),
  },
  {
    id: "storing/credentials-beside-lifetime",
    name: "a page whose field may hand out credentials is stored if its origin lets caches reuse it",
    source: "RFC 9111 §3",
    site: { routes: [{ match: "/*", ttl: "1h" }] },
    origin: Object.fromEntries(
      ["max-age=60", "public"].map((directives) => [
        `/${directives}`,
        [page(directives, "v1", { "x-auth-token": "for all" })],
      ]),
    ),
    steps: ["/max-age=60", "/public"].flatMap((path): Step[] => [
      { get: path, expect: { xCache: "MISS" } },
      { get: path, expect: { xCache: "HIT", fields: { "x-auth-token": "for all" } } },
    ]),
  },
  {
    id: "storing/x-accel-expires-shortens",
    name: "a response is kept no longer than its origin tells nginx, whatever else gives it a lifetime",
    source: "RFC 9111 §3",
    site: { routes: [{ match: "/*", defaultTtl: "1h" }] },
    origin: {
      "/a": [{ fields: { "x-accel-expires": "1m" }, body: "v1" }],
      "/b": [page("max-age=60", "v1", { "x-accel-expires": "2h" })],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "MISS" } },
      { advanceMs: 59_000 },
      { get: "/a", expect: { xCache: "HIT" } },
      { get: "/b", expect: { xCache: "HIT" } },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
      { get: "/b", expect: { xCache: "EXPIRED" } },
    ],
  },
  {
    id: "storing/stale-on-arrival",
    name: "a response that is stale on arrival is not stored",
    source: "RFC 9111 §4.2",
    origin: { "/a": [page("max-age=60", "v1", { age: "60" })] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", cacheStatus: /detail=stale-on-arrival/ } },
      { get: "/a", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "storing/head-miss-stores-nothing",
    name: "if the owner says so, for the site or a route, a HEAD that misses stores nothing",
    source: "RFC 9111 §3",
    site: { store: { onHead: false }, routes: [{ match: "/b", store: { onHead: true } }] },
    origin: { "/a": [fresh], "/b": [fresh] },
    steps: [
      { send: { method: "HEAD", path: "/a" }, expect: { status: 200, xCache: "MISS", body: "" } },
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { send: { method: "HEAD", path: "/b" }, expect: { status: 200, xCache: "MISS", body: "" } },
      { work: "finished" },
      { get: "/b", expect: { xCache: "HIT", body: "v1" } },
    ],
  },
  {
    id: "storing/status-fields-and-body",
    name: "status, fields and body are served from the store unchanged, including fields of several lines",
    source: "docs/protocol.md#promise-4-whole-and-unchanged-or-not-at-all",
    origin: {
      "/gone": [
        {
          status: 410,
          fields: {
            "cache-control": "max-age=60",
            "content-type": "text/plain; charset=utf-8",
            link: ["</a>", "</b>"],
            server: "demo/1",
          },
          body: "weg – für immer",
        },
      ],
    },
    steps: [
      { get: "/gone", expect: { status: 410, xCache: "MISS" } },
      {
        get: "/gone",
        expect: {
          status: 410,
          xCache: "HIT",
          body: "weg – für immer",
          fields: {
            "content-type": "text/plain; charset=utf-8",
            link: "</a>, </b>",
            server: "demo/1",
            via: "1.1 tidemark",
          },
        },
      },
    ],
  },
  {
    id: "storing/response-without-body",
    name: "a response without a body is stored without one",
    source: "RFC 9110 §15.3.5",
    origin: { "/a": [{ status: 204, fields: { "cache-control": "max-age=60" } }] },
    steps: [
      { get: "/a", expect: { status: 204, xCache: "MISS" } },
      { get: "/a", expect: { status: 204, xCache: "HIT", body: "" } },
    ],
  },
  {
    id: "storing/error-without-freshness",
    name: "an error without explicit freshness is not stored",
    source: "RFC 9111 §3",
    origin: { "/a": [{ status: 404, body: "oops" }, fresh] },
    steps: [
      { get: "/a", expect: { status: 404, xCache: "MISS", body: "oops" } },
      { get: "/a", expect: { status: 200, xCache: "MISS", body: "v1" } },
    ],
  },
  {
    id: "storing/status-of-one-request",
    name: "a status that concerns only one request is not stored, whatever its freshness",
    source: "RFC 9111 §3; RFC 6585 §4",
    origin: { "/a": [{ ...fresh, status: 429, body: "oops" }, fresh] },
    steps: [
      { get: "/a", expect: { status: 429, xCache: "MISS", cacheStatus: /detail=status/ } },
      { get: "/a", expect: { status: 200, xCache: "MISS", body: "v1" } },
    ],
  },
  {
    id: "storing/found-after-restart",
    name: "an isolate that restarts finds the page in the shared tier",
    source: "docs/http.md#memory-and-the-cache-api",
    origin: { "/a": [fresh] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { restart: "isolate" },
      { advanceMs: 10_000 },
      { get: "/a", expect: { xCache: "HIT", body: "v1", ageSeconds: 10 } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "storing/long-queries-kept-out",
    name: "a route can refuse to store pages with long queries",
    source: "docs/reference/worker.md#siteinput",
    site: { routes: [{ match: "/search", store: { when: { query: { q: { maxLength: 3 } } } } }] },
    origin: { "/search?q=abc": [kept], "/search?q=abcd": [kept] },
    steps: [
      { get: "/search?q=abc", expect: { xCache: "MISS" } },
      { get: "/search?q=abc", expect: { xCache: "HIT" } },
      { get: "/search?q=abcd", expect: { xCache: "BYPASS", cacheStatus: /detail=route-condition/ } },
      { get: "/search?q=abcd", expect: { xCache: "BYPASS" } },
      { get: "/search?q=a&q=abcd", expect: { xCache: "BYPASS" } },
      {
        send: { method: "POST", path: "/search?q=abcd" },
        expect: { cacheStatus: "tidemark; fwd=method; fwd-status=200" },
      },
    ],
  },
  {
    id: "storing/found-by-another-isolate",
    name: "a page that one isolate stored is found by another",
    source: "docs/http.md#memory-and-the-cache-api",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [v1] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS" } },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "c" }, expect: { xCache: "HIT", body: "v1" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "storing/stream-of-events",
    name: "a stream of events is not stored, whatever lifetimes the origin and the owner give",
    source: "RFC 9111 §3; WHATWG HTML §9.2",
    site: { routes: [{ match: "/*", ttl: "1h", defaultTtl: "1h" }] },
    origin: {
      "/a": [
        { fields: { "content-type": "text/event-stream; charset=utf-8" }, body: "data: 1\n\n" },
        page("max-age=60", "data: 2\n\n", { "content-type": "text/event-stream" }),
        page("no-cache", "data: 3\n\n", { "content-type": "text/event-stream", etag: '"3"' }),
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "data: 1\n\n", cacheStatus: /detail=no-freshness/ } },
      { get: "/a", expect: { xCache: "MISS", body: "data: 2\n\n", cacheStatus: /detail=no-freshness/ } },
      { get: "/a", expect: { xCache: "MISS", body: "data: 3\n\n", cacheStatus: /detail=no-freshness/ } },
      { get: "/a", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "storing/titles-in-a-stream",
    name: "a player's wish for titles reaches the origin on a route that passes, and keeps no file from being stored elsewhere",
    source: "RFC 9111 §3; docs/security.md#what-of-a-request-reaches-the-origin",
    site: { routes: [{ match: "/radio", pass: true }] },
    origin: {
      "/radio": [page("max-age=60", "sound, title", { "icy-metaint": "7" })],
      "/file": [page("max-age=60", "sound")],
    },
    steps: [
      { get: "/radio", fields: { "icy-metadata": "1" }, expect: { xCache: "BYPASS", body: "sound, title" } },
      { originLastSaw: "/radio", fields: { "icy-metadata": "1" } },
      { get: "/file", fields: { "icy-metadata": "1" }, expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
      { originLastSaw: "/file", fields: { "icy-metadata": null } },
      { get: "/file", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "storing/any-status-with-lifetime",
    name: "a response with a stated lifetime is stored and returned whatever its status, even an unknown one",
    source: "RFC 9111 §3; RFC 9110 §15",
    origin: Object.fromEntries(withLifetime.map((status) => [`/${status}`, [{ status, fields: minute }]])),
    steps: [
      ...withLifetime.map((status): Step => ({ get: `/${status}`, expect: { status, xCache: "MISS" } })),
      { advanceMs: 59_999 },
      ...withLifetime.map((status): Step => ({ get: `/${status}`, expect: { status, xCache: "HIT", ageSeconds: 59 } })),
    ],
  },
  {
    id: "storing/statuses-never-stored",
    name: "partial responses and responses that concern only one request or connection are never stored",
    source: "RFC 9111 §3, §3.3; RFC 6585 §3-§6; RFC 3229 §10.4.1",
    site: { routes: [{ match: "/*", ttl: "1h" }] },
    ...neverStored(
      Object.fromEntries(ofOneRequest.map((status) => [`/${status}`, { status, fields: minute }])),
      "status",
    ),
  },
];
