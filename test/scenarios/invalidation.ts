import type { Scenario } from "../engine/scenario.ts";

const v1 = { fields: { "cache-control": "max-age=3600" }, body: "v1" };
const v2 = { ...v1, body: "v2" };
const v3 = { ...v1, body: "v3" };
const done = { body: "done" };

/** Fetched in full: what was stored is gone, or may not be used any more. */
const ANEW = /^(?:MISS|EXPIRED)$/;

/** An answer that puts groups out of date. */
const changed = (groups: string | readonly string[], status = 200) => ({
  status,
  fields: { "cache-group-invalidation": groups },
  body: "done",
});
const inGroups = (groups: string | readonly string[], body = "v1") => ({
  fields: { "cache-control": "max-age=3600", "cache-groups": groups },
  body,
});

const post = (path: string) => ({ send: { method: "POST", path, body: "x" }, expect: { body: "done" } });
const ALL_DONE = { work: "finished" } as const;

const HOSTS = { hosts: ["www.example.test", "m.example.test"] };
const onMobile = (path: string) => ({ path, host: "m.example.test" });

const NEXT_LEASE = { engine: "memory", because: "the wait for the next lease is on real time in the runtime" } as const;
const ISOLATES = { engine: "memory", because: "one worker of the runtime is one isolate" } as const;
const LOST_LOG = {
  engine: "memory",
  because: "one instance of the runtime cannot lose its own log; the simulated CDN will",
} as const;

const ownUrl: readonly Scenario[] = [
  ...["PUT", "POST", "DELETE", "PATCH"].map(
    (method): Scenario => ({
      name: `a ${method} that succeeds puts its own URL out of date`,
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
    name: "a method that nobody knows may change anything, and puts its URL out of date",
    source: "RFC 9111 §4.4; RFC 9110 §9.2.1",
    only: { engine: "memory", because: "the runtime refuses methods that it does not know" },
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
        only: { engine: "runtime", because: "a request in memory cannot be a TRACE" } as const,
      }),
      name: `${method} only reads, and puts nothing out of date`,
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
      name: `an answer of ${status} to a POST puts its URL out of date`,
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
      name: `an answer of ${status} to a POST puts nothing out of date`,
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
  {
    name: "an unsafe request whose answer is lost may have succeeded, and puts its URL out of date",
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
    name: "an unsafe request that is answered too late may have succeeded, and puts its URL out of date",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: { engine: "memory", because: "the wait for the origin is on real time in the runtime" },
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
    name: "a request that came back to its own edge puts nothing out of date: the origin did not see it",
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
    name: "an unsafe request puts the page out of date under every spelling of its URL that shares the key",
    source: "RFC 9111 §4.4; docs/design.md#key",
    origin: { "/caf%C3%A9?x=1": [v1, done, v2] },
    steps: [
      { get: "/caf%C3%A9?x=1", expect: { xCache: "MISS" } },
      post("/caf%c3%a9?x=1&utm_source=mail"),
      ALL_DONE,
      { get: "/caf%C3%A9?x=1", expect: { xCache: ANEW, body: "v2" } },
    ],
  },
  {
    name: "an unsafe request puts a URL out of date with its query, and no other query of the path",
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
    name: "an unsafe request puts every variant of its URL out of date",
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
];

/** What becomes of `/b` when the answer to a POST to `/a` has these fields. */
const named: readonly (readonly [what: string, fields: Readonly<Record<string, string>>, becomes: "MISS" | "HIT"])[] = [
  ["a Location, relative", { location: "/b" }, "MISS"],
  ["a Location, relative to the request's path", { location: "b" }, "MISS"],
  ["a Location, absolute", { location: "http://www.example.test/b" }, "MISS"],
  ["a Location, with another letter case and the default port", { location: "HTTP://WWW.Example.TEST:80/b" }, "MISS"],
  ["a Location, with a fragment and a tracking parameter", { location: "/b?utm_source=x#top" }, "MISS"],
  ["a Content-Location, relative", { "content-location": "/b" }, "MISS"],
  ["a Content-Location, absolute", { "content-location": "http://www.example.test/b" }, "MISS"],
  ["a Location and a Content-Location", { location: "/c", "content-location": "/b" }, "MISS"],
  ["a Location under another scheme", { location: "https://www.example.test/b" }, "HIT"],
  ["a Location on another host", { location: "http://m.example.test/b" }, "HIT"],
  ["a Location on another host, without a scheme", { location: "//m.example.test/b" }, "HIT"],
  ["a Content-Location on another host", { "content-location": "http://m.example.test/b" }, "HIT"],
  ["a Location with another query", { location: "/b?x=1" }, "HIT"],
  ["a Location that is no URL", { location: "http://[" }, "HIT"],
  ["a Location in the control plane", { location: "/_tidemark/purge" }, "HIT"],
  ["a Link", { link: "</b>" }, "HIT"],
];

const namedUrls: readonly Scenario[] = [
  ...named.map(
    ([what, fields, becomes]): Scenario => ({
      name: `${what}, in the answer to a POST puts ${becomes === "MISS" ? "what it names" : "nothing else"} out of date`,
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
    name: "a Location that names the hidden origin names the public site, and puts that page out of date",
    source: "RFC 9111 §4.4; RFC 9110 §10.2.2",
    only: { engine: "memory", because: "the runtime's origin has an address that nobody knows before it is up" },
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

/** The log numbers what was put out of date, and how often it is told shows in the number of the next purge. */
const inTheLog: readonly Scenario[] = [
  {
    name: "an unsafe request is one entry in the log, and one that fails is none",
    source: "docs/protocol.md#r15-unsafe-methods",
    origin: { "/a": [{ status: 404 }, { ...done, fields: { location: "/b" } }] },
    steps: [
      { send: { method: "POST", path: "/a", body: "x" }, expect: { status: 404 } },
      ALL_DONE,
      { purge: { tags: ["unrelated"] }, expect: { status: 200, body: /"seq":1,/ } },
      post("/a"),
      ALL_DONE,
      { purge: { tags: ["unrelated"] }, expect: { status: 200, body: /"seq":3,/ } },
    ],
  },
  {
    name: "a route that passes everything never tells the log, whatever its answers name",
    source: "docs/protocol.md#r15-unsafe-methods; docs/design.md#the-site",
    site: { routes: [{ match: "/admin/*", pass: true }] },
    origin: {
      "/admin/save": [
        { status: 201, fields: { location: "/a", "cache-group-invalidation": '"g"' }, body: "done" },
        { failure: "reset" },
      ],
      "/a": [inGroups('"g"')],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      post("/admin/save"),
      { send: { method: "POST", path: "/admin/save", body: "x" }, expect: { status: 502 } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT" } },
      { purge: { tags: ["unrelated"] }, expect: { status: 200, body: /"seq":1,/ } },
    ],
  },
  {
    name: "a hundred POSTs to one URL are two entries in the log: one at once, one when the lease is over",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: NEXT_LEASE,
    origin: { "/a": [done] },
    steps: [
      { sendMany: 100, request: { method: "POST", path: "/a", body: "x" }, expectEach: { body: "done" } },
      { advanceMs: 999 },
      { purge: { tags: ["unrelated"] }, expect: { status: 200, body: /"seq":2,/ } },
      { advanceMs: 1 },
      { purge: { tags: ["unrelated"] }, expect: { status: 200, body: /"seq":4,/ } },
      { advanceMs: 60_000 },
      { purge: { tags: ["unrelated"] }, expect: { status: 200, body: /"seq":5,/ } },
    ],
  },
  {
    name: "a storm of POSTs to many URLs tells the log 16 times in a lease, and then of all the others at once",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: NEXT_LEASE,
    origin: {
      "/last": [v1, done, v2],
      ...Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`/${index}`, [done]])),
    },
    steps: [
      { send: { path: "/last", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      ...Array.from({ length: 99 }, (_, index) => post(`/${index}`)),
      post("/last"),
      { advanceMs: 998 },
      { purge: { tags: ["unrelated"] }, expect: { status: 200, body: /"seq":17,/ } },
      { advanceMs: 2 },
      { purge: { tags: ["unrelated"] }, expect: { status: 200, body: /"seq":19,/ } },
      { advanceMs: 1_000 },
      { send: { path: "/last", isolate: "b" }, expect: { xCache: ANEW, body: "v2" } },
      { stats: { invalidationsDropped: 0 } },
    ],
  },
  {
    name: "what a second POST within a lease has put out of date is told to the log when the lease is over",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: NEXT_LEASE,
    origin: { "/a": [v1, done, v2, done, v3] },
    steps: [
      { send: { path: "/a", isolate: "a" }, expect: { body: "v1" } },
      post("/a"),
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: ANEW, body: "v2" } },
      { advanceMs: 1 },
      post("/a"),
      { advanceMs: 500 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } },
      { advanceMs: 1_500 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: ANEW, body: "v3" } },
    ],
  },
  {
    name: "while the log is silent, it is told again each lease, until it has heard",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: NEXT_LEASE,
    origin: { "/a": [v1, done, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { log: "down" },
      post("/a"),
      { advanceMs: 3_500 },
      { log: "up" },
      { advanceMs: 3_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: ANEW, body: "v2" } },
      { stats: { invalidationsDropped: 0 } },
    ],
  },
  {
    name: "what the log could not be told in five leases is dropped, and counted",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: NEXT_LEASE,
    origin: { "/a": [done] },
    steps: [
      { log: "down" },
      post("/a"),
      { advanceMs: 3_999 },
      { stats: { invalidationsDropped: 0 } },
      { advanceMs: 1 },
      { stats: { invalidationsDropped: 1 } },
      { log: "up" },
      { advanceMs: 60_000 },
      { purge: { tags: ["unrelated"] }, expect: { status: 200, body: /"seq":1,/ } },
    ],
  },
  {
    name: "while the log is silent, the isolate that sent the POST on has dropped the page all the same",
    source: "RFC 9111 §4.4; docs/protocol.md#r15-unsafe-methods",
    only: LOST_LOG,
    origin: { "/a": [v1, done, v2] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      ALL_DONE,
      { log: "down" },
      post("/a"),
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: ANEW, body: "v2" } },
    ],
  },
];

const fillsUnderWay: readonly Scenario[] = [
  {
    name: "who comes after a POST does not get the answer of a fetch that began before it, nor does the store",
    source: "docs/protocol.md#r15-unsafe-methods; docs/protocol.md#r1-stamp",
    origin: { "/a": [{ ...v1, hold: "slow" }, done, v2] },
    steps: [
      { begin: "early", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      post("/a"),
      { advanceMs: 1 },
      { purge: { tags: ["unrelated"] } }, // its receipt brings the view up to the POST as well
      { get: "/a", expect: { xCache: ANEW, body: "v2" } },
      { release: "slow" },
      { finish: "early", expect: { xCache: "MISS", body: "v1" } },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    name: "who comes while a POST is told to the log does not wait for a fetch that began before it",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: LOST_LOG,
    origin: { "/a": [{ ...v1, hold: "slow" }, done, v2] },
    steps: [
      { begin: "early", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { log: "down" },
      post("/a"),
      { get: "/a", expect: { xCache: ANEW, body: "v2" } },
      { release: "slow" },
      { finish: "early", expect: { body: "v1" } },
    ],
  },
  {
    name: "a fill that another isolate began before a POST is not found after it",
    source: "docs/protocol.md#r15-unsafe-methods; docs/protocol.md#r1-stamp",
    only: ISOLATES,
    origin: { "/a": [{ ...v1, hold: "slow" }, done, v2] },
    steps: [
      { begin: "early", send: { path: "/a", isolate: "b" } },
      { originSees: "/a", count: 1 },
      { send: { method: "POST", path: "/a", body: "x", isolate: "a" }, expect: { body: "done" } },
      { advanceMs: 1 },
      { purge: { tags: ["unrelated"] } },
      { release: "slow" },
      { finish: "early", expect: { body: "v1" } },
      { send: { path: "/a", isolate: "c" }, expect: { xCache: ANEW, body: "v2" } },
      { advanceMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    name: "an isolate that does not know of a POST serves the old page until its lease is over, and never after",
    source: "docs/protocol.md#r15-unsafe-methods; docs/design.md#the-lease",
    only: ISOLATES,
    origin: { "/a": [v1, done, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { send: { method: "POST", path: "/a", body: "x", isolate: "a" }, expect: { body: "done" } },
      { purge: { tags: ["unrelated"] } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: ANEW, body: "v2" } },
    ],
  },
];

const LONGEST = "g".repeat(256);

const groups: readonly Scenario[] = [
  {
    name: "the answer to an unsafe request puts the groups out of date that it names, and no others",
    source: "RFC 9875 §2.1, §3",
    origin: {
      "/a": [inGroups('"scripts", "menu"'), inGroups('"menu"', "v2")],
      "/b": [inGroups(['"css"', '"menu"; note=1']), inGroups('"menu"', "v2")],
      "/c": [inGroups('"Menu"')],
      "/d": [inGroups('"menu2"')],
      "/e": [v1],
      "/save": [changed(['"other"', '"menu"; x=?0'])],
    },
    steps: [
      ...["/a", "/b", "/c", "/d", "/e"].map((path) => ({ get: path, expect: { xCache: "MISS" } })),
      post("/save"),
      ALL_DONE,
      { get: "/a", expect: { xCache: ANEW, body: "v2" } },
      { get: "/b", expect: { xCache: ANEW, body: "v2" } },
      ...["/c", "/d", "/e"].map((path) => ({ get: path, expect: { xCache: "HIT", body: "v1" } })),
    ],
  },
  {
    name: "groups hold for one host: another host's group of the same name stays",
    source: "RFC 9875 §2.1",
    site: HOSTS,
    origin: { "/a": [inGroups('"menu"')], "/save": [changed('"menu"')] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { send: onMobile("/a"), expect: { xCache: "MISS" } },
      { send: { method: "POST", ...onMobile("/save"), body: "x" }, expect: { body: "done" } },
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT" } },
      { send: onMobile("/a"), expect: { xCache: ANEW } },
    ],
  },
  {
    name: "Cache-Group-Invalidation in the answer to a GET puts nothing out of date",
    source: "RFC 9875 §3",
    origin: {
      "/a": [inGroups('"menu"')],
      "/b": [{ fields: { ...v1.fields, "cache-group-invalidation": '"menu"' }, body: "v1" }],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "MISS" } },
      { get: "/b", fields: { "if-match": '"1"' }, expect: { xCache: "BYPASS" } }, // passed on, like a POST
      ALL_DONE,
      { get: "/a", expect: { xCache: "HIT" } },
      { purge: { tags: ["unrelated"] }, expect: { status: 200, body: /"seq":1,/ } },
    ],
  },
  {
    name: "an unsafe request puts the other members of its page's groups out of date only where the answer says so",
    source: "RFC 9875 §2.2.1",
    origin: { "/a": [inGroups('"menu"'), done, v2], "/b": [inGroups('"menu"')] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "MISS" } },
      post("/a"),
      ALL_DONE,
      { get: "/a", expect: { xCache: ANEW } },
      { get: "/b", expect: { xCache: "HIT" } },
    ],
  },
  ...[
    ["a token", "menu"],
    ["a string that does not end", '"menu'],
    ["one member of another kind", '"menu", 7'],
    ["an inner list", '("menu")'],
    ["a name beyond ASCII", '"men\u00fc", "menu"'],
    ["a comma at the end", '"menu",'],
  ].map(
    ([what, malformed]): Scenario => ({
      name: `Cache-Groups and Cache-Group-Invalidation with ${what} count as absent`,
      source: "RFC 9875 §2, §3; RFC 9651 §4.2",
      origin: {
        "/well-formed": [inGroups('"menu"')],
        "/malformed": [inGroups(malformed!)],
        "/save": [changed(malformed!)],
        "/save-more": [changed('"menu"')],
      },
      steps: [
        { get: "/well-formed", expect: { xCache: "MISS" } },
        { get: "/malformed", expect: { xCache: "MISS" } },
        post("/save"),
        ALL_DONE,
        { get: "/well-formed", expect: { xCache: "HIT" } },
        post("/save-more"),
        ALL_DONE,
        { get: "/well-formed", expect: { xCache: ANEW } },
        { get: "/malformed", expect: { xCache: "HIT" } },
      ],
    }),
  ),
  {
    name: "a group's name may have 256 characters, and a longer one is passed over beside the others",
    source: "RFC 9875 §2",
    origin: {
      "/longest": [inGroups(`"${LONGEST}"`)],
      "/longer": [inGroups(`"${LONGEST}g"`)],
      "/both": [inGroups(`"${LONGEST}g", "menu"`)],
      "/save": [changed(`"${LONGEST}g", "menu", "${LONGEST}"`)],
    },
    steps: [
      ...["/longest", "/longer", "/both"].map((path) => ({ get: path, expect: { xCache: "MISS" } })),
      post("/save"),
      ALL_DONE,
      { get: "/longest", expect: { xCache: ANEW } },
      { get: "/longer", expect: { xCache: "HIT" } },
      { get: "/both", expect: { xCache: ANEW } },
    ],
  },
  {
    name: "clients see the groups of a page and what an answer puts out of date, for their own caches",
    source: "RFC 9875 §2, §3",
    origin: { "/a": [inGroups('"menu"')], "/save": [changed('"menu"')] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { "cache-groups": '"menu"' } } },
      { get: "/a", expect: { xCache: "HIT", fields: { "cache-groups": '"menu"' } } },
      {
        send: { method: "POST", path: "/save", body: "x" },
        expect: { body: "done", fields: { "cache-group-invalidation": '"menu"' } },
      },
    ],
  },
  {
    name: "a group is no tag, and a tag is no group",
    source: "RFC 9875 §2; docs/design.md#what-clients-see",
    origin: {
      "/group": [inGroups('"menu"')],
      "/tag": [{ fields: { ...v1.fields, "cache-tag": "menu" }, body: "v1" }],
      "/save": [changed('"menu"')],
    },
    steps: [
      { get: "/group", expect: { xCache: "MISS" } },
      { get: "/tag", expect: { xCache: "MISS" } },
      post("/save"),
      ALL_DONE,
      { get: "/tag", expect: { xCache: "HIT" } },
      { get: "/group", expect: { xCache: ANEW } },
      { purge: { tags: ["menu"] } },
      { get: "/group", expect: { xCache: "HIT" } },
      { get: "/tag", expect: { xCache: ANEW } },
    ],
  },
  {
    name: "a page that a 304 has freshened belongs to the groups of before and to those of the 304",
    source: "RFC 9875 §2; docs/protocol.md#r17-tags-on-304",
    origin: {
      "/a": [
        { fields: { "cache-control": "max-age=60", etag: '"1"', "cache-groups": '"old"' }, body: "v1" },
        { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"', "cache-groups": '"new"' } },
        { fields: { "cache-control": "max-age=60", etag: '"2"', "cache-groups": '"newer"' }, body: "v2" },
      ],
      "/save": [changed('"old"')],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "REVALIDATED", body: "v1", fields: { "cache-groups": '"new"' } } },
      { get: "/a", expect: { xCache: "HIT" } },
      post("/save"),
      ALL_DONE,
      { get: "/a", expect: { xCache: ANEW, body: "v2" } },
    ],
  },
  {
    name: "a group that is out of date is so in every isolate, once its lease is over",
    source: "RFC 9875 §3; docs/design.md#the-lease",
    only: ISOLATES,
    origin: { "/a": [inGroups('"menu"'), inGroups('"menu"', "v2")], "/save": [changed('"menu"')] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { send: { method: "POST", path: "/save", body: "x", isolate: "a" }, expect: { body: "done" } },
      { advanceMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: ANEW, body: "v2" } },
    ],
  },
];

/** What unsafe methods put out of date. */
export const invalidation: readonly Scenario[] = [...ownUrl, ...namedUrls, ...inTheLog, ...fillsUnderWay, ...groups];
