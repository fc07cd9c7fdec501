import type { Scenario, Step } from "../../engine/scenario.ts";
import { CLOUDFLARES_STATUSES, SEVERAL_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";
import { ALL_DONE, ANEW, done, HOSTS, inGroups, onMobile, post, v1, v2 } from "./openings.ts";

const taggedV1 = page("max-age=3600", "v1", { etag: '"1"' });
const taggedAt = (time: string, body = "v1") =>
  page("max-age=3600", body, { etag: '"1"', "last-modified": `Thu, 01 Jan 2026 ${time} GMT` });
const unchanged = { status: 304, fields: { "cache-control": "max-age=3600", etag: '"1"' } };

/** What happens to `/b` when the answer to a POST to `/a` has these fields. */
const named: readonly (readonly [
  id: string,
  what: string,
  fields: Readonly<Record<string, string>>,
  becomes: "MISS" | "HIT",
])[] = [
  ["relative-location", "a relative Location", { location: "/b" }, "MISS"],
  ["path-relative-location", "a Location relative to the request's path", { location: "b" }, "MISS"],
  ["absolute-location", "an absolute Location", { location: "http://www.example.test/b" }, "MISS"],
  [
    "location-case-and-port",
    "a Location in another letter case with the default port",
    { location: "HTTP://WWW.Example.TEST:80/b" },
    "MISS",
  ],
  [
    "location-with-fragment",
    "a Location with a fragment and a tracking parameter",
    { location: "/b?utm_source=x#top" },
    "MISS",
  ],
  ["relative-content-location", "a relative Content-Location", { "content-location": "/b" }, "MISS"],
  [
    "absolute-content-location",
    "an absolute Content-Location",
    { "content-location": "http://www.example.test/b" },
    "MISS",
  ],
  [
    "content-location-beside-location",
    "a Content-Location beside a Location",
    { location: "/c", "content-location": "/b" },
    "MISS",
  ],
  [
    "location-under-another-scheme",
    "a Location under another scheme",
    { location: "https://www.example.test/b" },
    "HIT",
  ],
  ["location-on-another-host", "a Location on another host", { location: "http://m.example.test/b" }, "HIT"],
  [
    "scheme-relative-location",
    "a Location on another host without a scheme",
    { location: "//m.example.test/b" },
    "HIT",
  ],
  [
    "content-location-on-another-host",
    "a Content-Location on another host",
    { "content-location": "http://m.example.test/b" },
    "HIT",
  ],
  ["location-with-another-query", "a Location with another query", { location: "/b?x=1" }, "HIT"],
  ["invalid-location", "a Location that is not a URL", { location: "http://[" }, "HIT"],
  ["location-in-control-plane", "a Location in the control plane", { location: "/_tidemark/purge" }, "HIT"],
  ["link-invalidates-nothing", "a Link", { link: "</b>" }, "HIT"],
];

/** Unsafe requests invalidate what they change, RFC 9111 §4.4. */
export const scenarios: readonly Scenario[] = [
  {
    id: "invalidation/validated-not-refetched",
    name: "after an unsafe request, the edge validates the stored page with the origin instead of refetching it",
    source: "RFC 9111 §4.4; docs/protocol.md#r15-unsafe-methods",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [taggedV1, { status: 204 }, unchanged] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { send: { method: "POST", path: "/a" }, expect: { status: 204 } },
      { advanceMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "REVALIDATED", body: "v1" } },
    ],
  },
  {
    id: "invalidation/changed-twice-in-a-second",
    name: "after an unsafe request, a page fetched in the second of its Last-Modified is fetched in full, because its validators may stand for two versions",
    source: "RFC 9110 §8.8.2.2; docs/protocol.md#r10-modes",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [taggedAt("12:00:00"), { status: 204 }, taggedAt("12:00:00", "v2")], "/b": [taggedAt("11:59:59")] },
    steps: [
      ...["/a", "/b"].flatMap((path): Step[] => [
        { send: { path, isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
        { send: { method: "PUT", path, body: "v2" }, expect: {} },
      ]),
      { advanceMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "EXPIRED", body: "v2" } },
      { originLastSaw: "/a", fields: { "if-none-match": null, "if-modified-since": null } },
      { send: { path: "/b", isolate: "b" }, expect: {} },
      { originLastSaw: "/b", fields: { "if-none-match": '"1"' } },
    ],
  },
  ...["PUT", "POST", "DELETE", "PATCH"].map(
    (method): Scenario => ({
      id: `invalidation/successful-${method.toLowerCase()}`,
      name: `a ${method} that succeeds invalidates its own URL`,
      source: "RFC 9111 §4.4",
      origin: { "/a": [v1, done, v2] },
      steps: [
        { get: "/a", expect: { xCache: "MISS", body: "v1" } },
        { send: { method, path: "/a", body: "x" }, expect: { status: 200, xCache: "BYPASS", body: "done" } },
        ALL_DONE,
        { get: "/a", expect: { xCache: ANEW, body: "v2" } },
        { get: "/a", expect: { xCache: "HIT", body: "v2" } },
      ],
    }),
  ),
  {
    id: "invalidation/unknown-method",
    name: "an unknown method invalidates its URL, because it may change anything",
    source: "RFC 9111 §4.4; RFC 9110 §9.2.1",
    only: { on: ["memory"], because: "the runtime and the server refuse methods that they do not know" },
    origin: { "/a": [v1, done, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { send: { method: "FROB", path: "/a" }, expect: { status: 200, xCache: "BYPASS" } },
      ALL_DONE,
      { get: "/a", expect: { xCache: ANEW, body: "v2" } },
    ],
  },
  ...["OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH"].map(
    (method): Scenario => ({
      ...(method === "TRACE" && {
        only: { on: ["runtime", "server"], because: "a request in memory cannot be a TRACE" } as const,
      }),
      id: `invalidation/${method.toLowerCase()}-is-safe`,
      name: `${method} is safe and invalidates nothing`,
      source: "RFC 9111 §4.4; RFC 9110 §9.2.1",
      origin: { "/a": [v1, { fields: { "cache-group-invalidation": '"a"', location: "/a" }, body: "done" }, v2] },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        { send: { method, path: "/a" }, expect: { xCache: "BYPASS", body: "done" } },
        ALL_DONE,
        { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      ],
    }),
  ),
  ...[200, 201, 204, 299, 303, 399].map(
    (status): Scenario => ({
      id: `invalidation/post-answered-${status}`,
      name: `an answer of ${status} to a POST invalidates its URL`,
      source: "RFC 9111 §4.4",
      origin: { "/a": [v1, { status }, v2] },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        { send: { method: "POST", path: "/a", body: "x" }, expect: { status } },
        ALL_DONE,
        { get: "/a", expect: { xCache: ANEW, body: "v2" } },
      ],
    }),
  ),
  ...[400, 404, 412, 500, 503].map(
    (status): Scenario => ({
      id: `invalidation/post-answered-${status}`,
      name: `an answer of ${status} to a POST invalidates nothing`,
      source: "RFC 9111 §4.4",
      origin: {
        "/a": [v1, { status, fields: { location: "/b", "cache-group-invalidation": '"g"' } }, v2],
        "/b": [v1, v2],
        "/in-group": [inGroups('"g"'), v2],
      },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        { get: "/b", expect: { xCache: "MISS" } },
        { get: "/in-group", expect: { xCache: "MISS" } },
        { send: { method: "POST", path: "/a", body: "x" }, expect: { status } },
        ALL_DONE,
        { get: "/a", expect: { xCache: "HIT", body: "v1" } },
        { get: "/b", expect: { xCache: "HIT", body: "v1" } },
        { get: "/in-group", expect: { xCache: "HIT", body: "v1" } },
      ],
    }),
  ),
  ...(
    [
      ["MOVE", "http://www.example.test/b", "MISS"],
      ["COPY", "/b", "MISS"],
      ["POST", "/b", "HIT"],
    ] as const
  ).map(
    ([method, destination, xCache]): Scenario => ({
      id: `invalidation/${method.toLowerCase()}-to-${destination.replace(/\W+/g, "-").replace(/^-/, "")}`,
      name: `${method} with the Destination ${destination} ${xCache === "MISS" ? "invalidates" : "does not invalidate"} the page there`,
      source: "RFC 9111 §4.4; RFC 4918 §10.3",
      origin: { "/a": [done], "/b": [v1, v2] },
      steps: [
        { get: "/b", expect: { xCache: "MISS" } },
        { send: { method, path: "/a", fields: { destination } }, expect: { xCache: "BYPASS" } },
        ALL_DONE,
        { get: "/b", expect: xCache === "HIT" ? { xCache, body: "v1" } : { xCache: ANEW, body: "v2" } },
      ],
    }),
  ),
  ...(
    [
      ["as-asked", "http://www.example.test/b", "MISS", { publicUrl: "https://public.test" }],
      ["the-public-host", "http://public.test:80/b", "MISS", { publicUrl: "https://public.test" }],
      ["this-site-over-tls", "https://WWW.example.test/b#c", "MISS", {}],
      ["another-host", "http://m.example.test/b", "HIT", {}],
      ["user-information", "http://www.example.test@evil.test/b", "HIT", {}],
    ] as const
  ).map(
    ([id, destination, becomes, site]): Scenario => ({
      id: `invalidation/move-to-${id}`,
      name: `MOVE with the Destination ${destination}, ${id.replaceAll("-", " ")}, invalidates ${becomes === "MISS" ? "the page there" : "no page of this site"}`,
      source: "RFC 9111 §4.4; RFC 4918 §10.3",
      site,
      origin: { "/a": [done], "/b": [v1, v2] },
      steps: [
        { get: "/b", expect: { xCache: "MISS" } },
        { send: { method: "MOVE", path: "/a", fields: { destination } }, expect: { xCache: "BYPASS" } },
        ALL_DONE,
        { get: "/b", expect: becomes === "HIT" ? { xCache: becomes, body: "v1" } : { xCache: ANEW, body: "v2" } },
      ],
    }),
  ),
  {
    id: "invalidation/answer-is-lost",
    name: "an unsafe request whose answer is lost invalidates its URL, because it may have succeeded",
    source: "docs/protocol.md#r15-unsafe-methods",
    origin: { "/a": [v1, { failure: "reset" }, v2], "/b": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "MISS" } },
      { send: { method: "POST", path: "/a", body: "x" }, expect: { status: 502 } },
      ALL_DONE,
      { get: "/a", expect: { xCache: ANEW, body: "v2" } },
      { get: "/b", expect: { xCache: "HIT", body: "v1" } },
    ],
  },
  {
    id: "invalidation/cloudflare-lost-the-answer",
    name: "an unsafe request that Cloudflare answers for the origin, by 524, invalidates its URL",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: CLOUDFLARES_STATUSES,
    origin: { "/a": [v1, { status: 524, body: "error code: 524" }, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { send: { method: "POST", path: "/a", body: "x" }, expect: { status: 504 } },
      ALL_DONE,
      { get: "/a", expect: { xCache: ANEW, body: "v2" } },
    ],
  },
  {
    id: "invalidation/answer-is-late",
    name: "an unsafe request that is answered too late invalidates its URL, because it may have succeeded",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: { on: ["memory"], because: "the wait for the origin is on real time in the runtime and on the server" },
    site: { limits: { originTimeout: "5s" } },
    origin: { "/a": [v1, { hold: "for ever" }, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { begin: "post", send: { method: "POST", path: "/a", body: "x" } },
      { originSees: "/a", count: 2 },
      { advanceMs: 4_999 },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 1 },
      { finish: "post", expect: { status: 504 } },
      ALL_DONE,
      { get: "/a", expect: { xCache: ANEW, body: "v2" } },
    ],
  },
  {
    id: "invalidation/looped-request",
    name: "a request that came back to its own edge invalidates nothing, because the origin did not see it",
    source: "RFC 8586 §2; RFC 9111 §4.4",
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      {
        send: { method: "POST", path: "/a", body: "x", fields: { "cdn-loop": 'tidemark; host="www.example.test"' } },
        expect: { status: 508 },
      },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
    ],
  },
  {
    id: "invalidation/any-spelling-of-url",
    name: "an unsafe request invalidates the page under every spelling of its URL that shares the key",
    source: "RFC 9111 §4.4; docs/http.md#the-cache-key",
    origin: { "/caf%C3%A9?x=1": [v1, v2], "/caf%C3%A9?x=1&utm_source=mail": [done] },
    steps: [
      { get: "/caf%C3%A9?x=1", expect: { xCache: "MISS" } },
      post("/caf%c3%a9?x=1&utm_source=mail"),
      ALL_DONE,
      { get: "/caf%C3%A9?x=1", expect: { xCache: ANEW, body: "v2" } },
    ],
  },
  {
    id: "invalidation/query-belongs-to-url",
    name: "an unsafe request invalidates only the exact query of its URL",
    source: "RFC 9111 §4.4",
    origin: { "/a": [v1, v2], "/a?x=1": [v1, done, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/a?x=1", expect: { xCache: "MISS" } },
      post("/a?x=1"),
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      { get: "/a?x=1", expect: { xCache: ANEW, body: "v2" } },
    ],
  },
  {
    id: "invalidation/every-variant",
    name: "an unsafe request invalidates every variant of its URL",
    source: "RFC 9111 §4.4, §4.1",
    origin: {
      "/a": [
        { fields: { ...v1.fields, vary: "accept-language" }, body: "de 1" },
        { fields: { ...v1.fields, vary: "accept-language" }, body: "en 1" },
        done,
        { fields: { ...v1.fields, vary: "accept-language" }, body: "de 2" },
        { fields: { ...v1.fields, vary: "accept-language" }, body: "en 2" },
      ],
    },
    steps: [
      { get: "/a", fields: { "accept-language": "de" }, expect: { xCache: "MISS", body: "de 1" } },
      { get: "/a", fields: { "accept-language": "en" }, expect: { xCache: "MISS", body: "en 1" } },
      post("/a"),
      ALL_DONE,
      { get: "/a", fields: { "accept-language": "de" }, expect: { xCache: ANEW, body: "de 2" } },
      { get: "/a", fields: { "accept-language": "en" }, expect: { xCache: ANEW, body: "en 2" } },
    ],
  },
  ...named.map(
    ([id, what, fields, becomes]): Scenario => ({
      id: `invalidation/${id}`,
      name: `${what} in the answer to a POST invalidates ${becomes === "MISS" ? "the page that it names" : "no other page"}`,
      source: "RFC 9111 §4.4",
      site: HOSTS,
      origin: { "/a": [v1, { status: 201, fields, body: "done" }, v2], "/b": [v1] },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        { get: "/b", expect: { xCache: "MISS" } },
        { send: onMobile("/b"), expect: { xCache: "MISS" } },
        post("/a"),
        ALL_DONE,
        { get: "/a", expect: { xCache: ANEW, body: "v2" } },
        { get: "/b", expect: { xCache: becomes === "MISS" ? ANEW : "HIT" } },
        { send: onMobile("/b"), expect: { xCache: "HIT" } },
      ],
    }),
  ),
  {
    id: "invalidation/location-names-hidden-origin",
    name: "a Location that names the hidden origin is rewritten to the public site, and invalidates that page",
    source: "RFC 9111 §4.4; RFC 9110 §10.2.2",
    only: { on: ["memory"], because: "the address of an origin on a socket is not known before it is up" },
    origin: {
      "/a": [{ status: 201, fields: { location: "http://origin.internal:8080/b" }, body: "done" }],
      "/b": [v1, v2],
    },
    steps: [
      { get: "/b", expect: { xCache: "MISS" } },
      {
        send: { method: "POST", path: "/a", body: "x" },
        expect: { status: 201, fields: { location: "http://www.example.test/b" } },
      },
      ALL_DONE,
      { get: "/b", expect: { xCache: ANEW, body: "v2" } },
    ],
  },
];
