import type { Scenario, SiteChange } from "../../engine/scenario.ts";
import { BENEATH_THE_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

const SESSION = { cookie: "sessionid=3k2j5h8x9c0v1b2n4m6q7w8e9r0t1y2u" };
const PAST_THE_CACHE = { xCache: "BYPASS", cacheStatus: /fwd=bypass/ } as const;

const named: SiteChange = {
  bypass: { cookies: ["sid"], fields: ["x-preview"], query: ["preview"] },
  routes: [{ match: "/own", bypass: { cookies: ["other"], query: [] } }],
};

/** Requests that the owner sends past the cache, and sessions where only the owner's lifetime stores pages. */
export const scenarios: readonly Scenario[] = [
  {
    id: "bypass/by-name",
    name: "requests with a cookie, field or parameter that the owner names bypass the cache and are counted",
    source: "docs/security.md#who-gets-past-the-cache",
    site: named,
    origin: {
      "/a": [page("public, max-age=60", "for one"), page("public, max-age=60", "for all")],
      "/a?preview=1&utm_source=x": [page("public, max-age=60", "a draft")],
    },
    steps: [
      {
        get: "/a",
        fields: { cookie: "theme=dark; sid=1" },
        expect: { ...PAST_THE_CACHE, body: "for one", cacheStatus: /detail=bypass-cookie$/ },
      },
      { get: "/a", expect: { xCache: "MISS", body: "for all" } },
      { get: "/a", fields: { cookie: "sid=1" }, expect: { ...PAST_THE_CACHE, cacheStatus: /detail=bypass-cookie$/ } },
      { originLastSaw: "/a", fields: { cookie: "sid=1" } },
      { get: "/a", fields: { "x-preview": "1" }, expect: { xCache: "BYPASS", cacheStatus: /detail=bypass-field$/ } },
      { originLastSaw: "/a", fields: { "x-preview": "1" } },
      {
        get: "/a?preview=1&utm_source=x",
        expect: { xCache: "BYPASS", body: "a draft", cacheStatus: /detail=bypass-query$/ },
      },
      {
        get: "/a?preview=1&utm_source=x",
        expect: { xCache: "BYPASS", body: "a draft", cacheStatus: /detail=bypass-query$/ },
      },
      {
        send: { method: "HEAD", path: "/a", fields: { cookie: "sid=1" } },
        expect: { xCache: "BYPASS", cacheStatus: /detail=bypass-cookie$/ },
      },
      { get: "/a", fields: { cookie: "theme=dark" }, expect: { xCache: "HIT", body: "for all" } },
      { stats: { askedPastTheCache: 6 } },
      { originSaw: { "/a": 5, "/a?preview=1&utm_source=x": 2 } },
    ],
  },
  {
    id: "bypass/by-pattern",
    name: "if an owner's pattern matches a request's Cookie field or query, the request is not looked up and its answer is not stored",
    source: "docs/security.md#who-gets-past-the-cache",
    site: { bypass: { cookies: ["/session/i"], query: ["/(?:^|&)draft=/i"] } },
    origin: {
      "/a": [page("public, max-age=60", "for all"), page("public, max-age=60", "for one")],
      "/a?Draft=1": [page("public, max-age=60", "a draft")],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "for all" } },
      { get: "/a", fields: { cookie: "app_Session=1" }, expect: { ...PAST_THE_CACHE, body: "for one" } },
      { get: "/a", fields: { cookie: "theme=dark; last=session" }, expect: PAST_THE_CACHE },
      { get: "/a?Draft=1", expect: { xCache: "BYPASS", cacheStatus: /detail=bypass-query$/ } },
      { get: "/a?Draft=1", expect: { xCache: "BYPASS" } },
      { get: "/a", fields: { cookie: "theme=dark" }, expect: { xCache: "HIT", body: "for all" } },
      { stats: { askedPastTheCache: 4 } },
    ],
  },
  {
    id: "bypass/session-and-ttl-that-was-removed",
    name: "a page that only a route's ttl had made storable is not for sessions either once the ttl is removed",
    source: "docs/http.md#cookies-sessions-and-authorization",
    only: BENEATH_THE_ISOLATES,
    site: { routes: [{ match: "/*", ttl: "1h" }] },
    origin: { "/a": [{ body: "of nobody" }, { body: "own" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "of nobody" } },
      { work: "finished" },
      { deploy: { routes: [] } },
      { restart: "isolate" },
      { get: "/a", fields: SESSION, expect: { body: "own" } },
    ],
  },
  {
    id: "bypass/by-a-fields-value",
    name: "if an owner's pattern matches a request field, even an absent one, the request is not looked up and its answer is not stored",
    source: "docs/security.md#who-gets-past-the-cache",
    site: {
      bypass: { fields: { "X-Client": ["/bot/i"], "X-App": ["/^$/"] } },
      fields: { trust: ["x-app", "x-client"] },
    },
    origin: { "/a": [page("public, max-age=60", "for all"), page("public, max-age=60", "for a bot")] },
    steps: [
      { get: "/a", fields: { "x-app": "1" }, expect: { xCache: "MISS", body: "for all" } },
      {
        get: "/a",
        fields: { "x-app": "1", "x-client": "My Bot" },
        expect: { xCache: "BYPASS", body: "for a bot", cacheStatus: /detail=bypass-field$/ },
      },
      { get: "/a", expect: { xCache: "BYPASS", cacheStatus: /detail=bypass-field$/ } },
      { get: "/a", fields: { "x-app": "1", "x-client": "Me" }, expect: { xCache: "HIT", body: "for all" } },
      { stats: { askedPastTheCache: 2 } },
    ],
  },
  {
    id: "bypass/by-any-query",
    name: "if the owner says so, no page with a query is stored; parameters that are not in the key do not count",
    source: "docs/security.md#who-gets-past-the-cache",
    site: { bypass: { query: true }, routes: [{ match: "/own", bypass: { query: false } }] },
    origin: {
      "/a": [page("max-age=60", "without")],
      "/a?s=1": [page("max-age=60", "a search")],
      "/own?s=1": [page("max-age=60", "its own")],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "without" } },
      { get: "/a?utm_source=mail", expect: { xCache: "HIT", body: "without" } },
      { get: "/a?s=1", expect: { xCache: "BYPASS", body: "a search", cacheStatus: /detail=bypass-query$/ } },
      { get: "/a?s=1", expect: { xCache: "BYPASS", body: "a search" } },
      { get: "/own?s=1", expect: { xCache: "MISS" } },
      { get: "/own?s=1", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "bypass/of-a-route",
    name: "a route's list of names replaces only the site's list of the same kind",
    source: "docs/reference/worker.md#siteinput",
    site: named,
    origin: { "/own": [page("max-age=60")], "/own?preview=1": [page("max-age=60")] },
    steps: [
      { get: "/own", expect: { xCache: "MISS" } },
      { get: "/own", fields: { cookie: "sid=1" }, expect: { xCache: "HIT" } },
      { get: "/own", fields: { cookie: "other=1" }, expect: { xCache: "BYPASS" } },
      { get: "/own", fields: { "x-preview": "1" }, expect: { xCache: "BYPASS" } },
      { get: "/own?preview=1", expect: { xCache: "MISS" } },
      { get: "/own?preview=1", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "bypass/session-under-another-name",
    name: "a session under a name of the application's own is one, if its value tells; an encrypted preference is none",
    source: "docs/http.md#cookies-sessions-and-authorization",
    site: { routes: [{ match: "/*", ttl: "1h" }] },
    origin: { "/a": [{ body: "Log in" }, { body: "Hello, Ann" }, { body: "Hello, Bob" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "Log in" } },
      {
        get: "/a",
        fields: { cookie: `token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.${"s".repeat(43)}` },
        expect: { xCache: "MISS", cacheStatus: /detail=session/, body: "Hello, Ann" },
      },
      {
        get: "/a",
        fields: { cookie: `sid=s%3ADtlNG0hC_e6F5-8ijpOMdOzRHKcqW09G.${"s".repeat(43)}` },
        expect: { xCache: "MISS", cacheStatus: /detail=session/, body: "Hello, Bob" },
      },
      { get: "/a", fields: { cookie: `locale=eyJpdiI6${"x".repeat(80)}` }, expect: { xCache: "HIT", body: "Log in" } },
    ],
  },
  ...(
    [
      ["session-and-ttl", "ttl", {}],
      ["session-and-default-ttl", "defaultTtl", {}],
      ["session-and-ttl-over-max-age-zero", "ttl", { "cache-control": "max-age=0" }],
    ] as const
  ).map(
    ([id, setting, fields]): Scenario => ({
      id: `bypass/${id}`,
      name: `a visitor with a framework's session does not get a page that is stored only because of the owner's ${setting}${"cache-control" in fields ? ", where the origin says max-age=0" : ""}`,
      source: "docs/http.md#cookies-sessions-and-authorization",
      site: { routes: [{ match: "/*", [setting]: "1h" }] },
      origin: {
        "/a": [
          { fields, body: "Log in" },
          { fields, body: "Hello, Ann" },
          { fields, body: "Hello, Ann" },
        ],
      },
      steps: [
        { get: "/a", expect: { xCache: "MISS", body: "Log in", cacheStatus: /; stored$/ } },
        {
          get: "/a",
          fields: SESSION,
          expect: { xCache: "MISS", body: "Hello, Ann", cacheStatus: /detail=session$/ },
        },
        { originLastSaw: "/a", fields: SESSION },
        { send: { method: "HEAD", path: "/a", fields: SESSION }, expect: { xCache: "MISS" } },
        { get: "/a", fields: { cookie: "sessionid=made-up" }, expect: { xCache: "HIT", body: "Log in" } },
        { get: "/a", expect: { xCache: "HIT", body: "Log in" } },
        { stats: { askedPastTheCache: 2 } },
        { originSaw: { "/a": 3 } },
      ],
    }),
  ),
  ...(
    [
      ["session-and-origins-lifetime", "max-age=60", { ttl: "1h" }],
      ["session-and-public", "public", { ttl: "1h" }],
      ["session-and-origins-lifetime-before-default", "s-maxage=60", { defaultTtl: "1h" }],
      ["session-and-heuristic-lifetime", null, { defaultTtl: "1h" }],
      ["session-that-is-let-in", null, { ttl: "1h", bypass: { sessions: false } }],
    ] as const
  ).map(
    ([id, directives, rules]): Scenario => ({
      id: `bypass/${id}`,
      name: `a visitor with a framework's session gets the stored page where ${directives === null ? (id === "session-that-is-let-in" ? "the owner says so" : "a lifetime is guessed from Last-Modified") : `the origin says ${directives}`}${"ttl" in rules && directives ? ", though the route has a lifetime of its own" : ""}${"defaultTtl" in rules ? ", though the route has a default lifetime" : ""}`,
      source: "docs/http.md#cookies-sessions-and-authorization",
      site: { heuristic: {}, routes: [{ match: "/*", ...rules }] },
      origin: {
        "/a": [
          {
            fields: {
              "last-modified": "Thu, 01 Jan 2025 10:00:00 GMT",
              ...(directives === null ? {} : { "cache-control": directives }),
            },
            body: "for all",
          },
        ],
      },
      steps: [
        { get: "/a", expect: { xCache: "MISS", body: "for all" } },
        { get: "/a", fields: SESSION, expect: { xCache: "HIT", body: "for all" } },
        { stats: { askedPastTheCache: 0 } },
      ],
    }),
  ),
  {
    id: "bypass/session-does-not-follow",
    name: "a visitor with a session who waited for another visitor's fetch gets his own page",
    source: "docs/decisions/0007-what-a-follower-may-take.md",
    site: { routes: [{ match: "/*", ttl: "1h" }] },
    origin: { "/a": [{ body: "Log in", hold: "slow" }, { body: "Hello, Ann" }] },
    steps: [
      { begin: "one", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { begin: "ann", send: { path: "/a", fields: SESSION } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "one", expect: { body: "Log in" } },
      { finish: "ann", expect: { body: "Hello, Ann" } },
      { get: "/a", expect: { xCache: "HIT", body: "Log in" } },
    ],
  },
  {
    id: "bypass/session-does-not-follow-later-fetches",
    name: "a visitor with a session does not get the answer of a later fetch for a visitor without one",
    source: "docs/decisions/0007-what-a-follower-may-take.md",
    site: { routes: [{ match: "/*", ttl: "1h" }] },
    origin: { "/a": [{ status: 400, body: "odd", hold: "slow" }, { body: "a page" }] },
    steps: [
      { begin: "odd", send: { path: "/a", fields: { "x-debug": "1" } } },
      { originSees: "/a", count: 1 },
      { begin: "one", send: { path: "/a" } },
      { begin: "ann", send: { path: "/a", fields: SESSION } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "odd", expect: { status: 400 } },
      { finish: "one", expect: { status: 200, body: "a page" } },
      { finish: "ann", expect: { status: 200, body: "a page" } },
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    id: "bypass/session-and-failed-origin",
    name: "if the origin fails, a visitor with a session does not get the stale page of visitors without one",
    source: "docs/http.md#cookies-sessions-and-authorization",
    site: { routes: [{ match: "/*", defaultTtl: "1m", stale: { ifError: "1h" } }] },
    origin: { "/a": [{ body: "Log in" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "Log in" } },
      { advanceMs: 61_000 },
      { origin: "down" },
      { get: "/a", expect: { xCache: "STALE", body: "Log in" } },
      { get: "/a", fields: SESSION, expect: { status: 502 } },
    ],
  },
  {
    id: "bypass/session-after-restart",
    name: "a stored page records that it is only for visitors without a session",
    source: "docs/http.md#memory-and-the-cache-api",
    site: { routes: [{ match: "/*", ttl: "1h" }] },
    origin: { "/a": [{ body: "Log in" }, { body: "Hello, Ann" }], "/b": [page("max-age=60")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "Log in" } },
      { get: "/b", expect: { xCache: "MISS" } },
      { work: "finished" },
      { restart: "isolate" },
      { get: "/a", fields: SESSION, expect: { xCache: "MISS", body: "Hello, Ann" } },
      { get: "/b", fields: SESSION, expect: { xCache: "HIT" } },
    ],
  },
];
