import type { Scenario, Step } from "../../engine/scenario.ts";
import { WAITING_REQUESTS } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

const SOURCE = "docs/http.md#second-looks";
const app = { "x-app-version": "7" };
const htmx = { "hx-request": "true", "hx-target": "list", "hx-current-url": "https://www.example.test/b" };

const three = { "/a": [page("max-age=60", "a")], "/b": [page("max-age=60", "b")], "/c": [page("max-age=60", "c")] };

const installation = (number: number) => ({ "x-installation": `0f8fad5b-d9cb-469f-a165-70867728950${number}` });

/** The origin has one date for all variants. */
const OF_ALL_VARIANTS = { "last-modified": "Thu, 01 Jan 2026 11:00:00 GMT" };

const json = (body: string) => page("max-age=60", body, { "content-type": "application/json" });

/** Three second looks find that these fields choose nothing. `sent`: the fields of each, or of all. */
function looks(...sent: readonly Readonly<Record<string, string>>[]): Step[] {
  return ["/a", "/b", "/c"].flatMap((path, at): Step[] => [
    { get: path, fields: sent[at] ?? sent[0]!, expect: { xCache: "MISS", cacheStatus: /unkeyed-field/ } },
    { work: "finished" },
    { originSaw: { [path]: 2 } },
  ]);
}

/** What the edge makes of an answer that only an unknown field keeps from being stored. */
export const scenarios: readonly Scenario[] = [
  {
    id: "second-look/plain-answer-is-stored",
    name: "after the answer to an odd request, the edge makes a plain request and stores its answer",
    source: SOURCE,
    origin: { "/a": [page("max-age=60")] },
    steps: [
      { get: "/a", fields: app, expect: { xCache: "MISS", cacheStatus: /detail="unkeyed-field:x-app-version"$/ } },
      { work: "finished" },
      { originLastSaw: "/a", fields: { "x-app-version": null } },
      { get: "/a", expect: { xCache: "HIT" } },
      { get: "/a", fields: app, expect: { xCache: "HIT" } },
      { originSaw: { "/a": 2 } },
      { stats: { "secondLooks.asked": 1, "secondLooks.marked": 0 } },
    ],
  },
  {
    id: "second-look/for-npm",
    name: "a second look is taken for npm and the AWS SDK, whose npm-auth-type and X-Amz-User-Agent let nobody in",
    source: SOURCE,
    origin: { "/a": [page("max-age=60")] },
    steps: [
      {
        get: "/a",
        fields: { "npm-auth-type": "web", "npm-command": "install", "x-amz-user-agent": "aws-sdk-js/3.1" },
        expect: { xCache: "MISS", cacheStatus: /unkeyed-field/ },
      },
      { work: "finished" },
      { get: "/a", expect: { xCache: "HIT" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "second-look/keeps-the-choice",
    name: "on a route that keys by language, the second look asks for the visitor's language, and is stored for it",
    source: SOURCE,
    site: { routes: [{ match: "/*", key: { languages: ["en", "de"] } }] },
    origin: { "/a": [page("max-age=60", "Deutsch"), page("max-age=60", "Deutsch"), page("max-age=60", "English")] },
    steps: [
      { get: "/a", fields: { ...app, "accept-language": "de-AT" }, expect: { xCache: "MISS", body: "Deutsch" } },
      { work: "finished" },
      { originLastSaw: "/a", fields: { "x-app-version": null, "accept-language": "de" } },
      { get: "/a", fields: { "accept-language": "de" }, expect: { xCache: "HIT", body: "Deutsch" } },
      { get: "/a", fields: { "accept-language": "en" }, expect: { xCache: "MISS", body: "English" } },
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    id: "second-look/statuses-differ",
    name: "nothing is stored if the plain answer has another status",
    source: SOURCE,
    origin: {
      "/a": [page("max-age=60", "odd"), { status: 301, fields: { "cache-control": "max-age=60", location: "/b" } }],
    },
    steps: [
      { get: "/a", fields: app, expect: { xCache: "MISS" } },
      { work: "finished" },
      { get: "/a", expect: { status: 301, xCache: "MISS" } },
      { originSaw: { "/a": 3 } },
    ],
  },
  ...(
    [
      ["credentials", "a field that speaks of credentials", { "x-api-key": "7" }, {}],
      ["session", "a visitor with a session", { ...app, cookie: "session=1" }, {}],
      [
        "session-beside-credentials",
        "a visitor with a session beside credentials",
        { ...app, cookie: "session=1", authorization: "Bearer 1" },
        {},
      ],
      ["odd-value", "a usual field with an unusual value", { "user-agent": "{jndi:ldap}" }, {}],
      ["switched-off", "a site that does not want it", app, { secondLook: false }],
      [
        "switched-off-for-route",
        "a route that does not want it",
        app,
        { routes: [{ match: "/a", secondLook: false }] },
      ],
      ["large", "a body above the limit of those that are collected", app, { limits: { storeBytes: 1 } }],
    ] as const
  ).map(
    ([id, what, fields, site]): Scenario => ({
      id: `second-look/none-for-${id}`,
      name: `no second look is taken for ${what}`,
      source: SOURCE,
      site,
      origin: { "/a": [page("public, max-age=60", "v1")] },
      steps: [
        { get: "/a", fields, expect: { xCache: "MISS", cacheStatus: /unkeyed-field/ } },
        { work: "finished" },
        { originSaw: { "/a": 1 } },
      ],
    }),
  ),
  {
    id: "second-look/none-for-cross-origin",
    name: "a request with an Origin reaches the origin as sent, because equal bodies do not show whose scripts may read them",
    source: SOURCE,
    origin: { ...three, "/d": [page("max-age=60", "d", { "access-control-allow-origin": "https://a.example" })] },
    steps: [
      ...["/a", "/b", "/c"].flatMap((path): Step[] => [
        { get: path, fields: { origin: "https://b.example" }, expect: { cacheStatus: /unkeyed-field:origin/ } },
        { work: "finished" },
        { originSaw: { [path]: 1 } },
        { get: path, expect: { xCache: "MISS" } },
      ]),
      { get: "/d", fields: { origin: "https://a.example" }, expect: { xCache: "MISS" } },
      { originLastSaw: "/d", fields: { origin: "https://a.example" } },
      {
        get: "/d",
        fields: { origin: "https://a.example" },
        expect: { xCache: "HIT", fields: { "access-control-allow-origin": "https://a.example" } },
      },
    ],
  },
  {
    id: "second-look/only-if-cached-of-a-field-that-chooses",
    name: "a request with only-if-cached reaches no origin, although its field chooses the page",
    source: `${SOURCE}; RFC 9111 §5.2.1.7`,
    origin: {
      "/a": [
        page("max-age=60", "part"),
        page("max-age=60", "whole"),
        page("max-age=60", "part"),
        page("max-age=60", "part"),
      ],
    },
    steps: [
      { get: "/a", fields: { "x-mobile": "1" }, expect: { xCache: "MISS", body: "part" } },
      { work: "finished" },
      { get: "/a", fields: { "x-mobile": "1" }, expect: { xCache: "BYPASS", body: "part" } },
      { originSaw: { "/a": 4 } },
      { get: "/b", fields: { "x-mobile": "1", "cache-control": "only-if-cached" }, expect: { status: 504 } },
      { originSaw: { "/a": 4, "/b": 0 } },
    ],
  },
  {
    id: "second-look/field-chooses",
    name: "if a field changes the page, requests with it bypass the cache on this route for one lifetime",
    source: SOURCE,
    site: { routes: [{ match: "/b" }] },
    origin: {
      "/a": [
        page("max-age=60", "part"),
        page("max-age=60", "whole"),
        page("max-age=60", "part"),
        page("max-age=60", "part"),
      ],
      "/b": [page("max-age=60", "b")],
    },
    steps: [
      { get: "/a", fields: { "x-mobile": "1" }, expect: { xCache: "MISS", body: "part" } },
      { work: "finished" },
      { originSaw: { "/a": 3 } },
      { originLastSaw: "/a", fields: { "x-mobile": "1" } },
      { stats: { "secondLooks.asked": 2, "secondLooks.marked": 1 } },
      {
        get: "/a",
        fields: { "x-mobile": "1" },
        expect: { xCache: "BYPASS", body: "part", cacheStatus: /fwd=bypass.*detail="unkeyed-field:x-mobile"$/ },
      },
      { get: "/a", expect: { xCache: "HIT", body: "whole" } },
      { get: "/a", fields: app, expect: { xCache: "HIT", body: "whole" } },
      { get: "/b", expect: { xCache: "MISS" } },
      { get: "/b", fields: { "x-mobile": "1" }, expect: { xCache: "HIT" } },
      { advanceMs: 61_000 },
      { get: "/a", fields: { "x-mobile": "1" }, expect: { xCache: "EXPIRED" } },
    ],
  },
  {
    id: "second-look/field-chooses-a-type",
    name: "a page is not stored for who gets data in its place, even if the data is new each time",
    source: SOURCE,
    origin: {
      "/a": [json("1"), page("max-age=60", "page", { "content-type": "Text/html" }), json("2"), json("3")],
      "/b": [json("1"), page("max-age=60", "{}", { "content-type": "application/JSON;charset=utf-8" })],
    },
    steps: [
      { get: "/b", fields: app, expect: { xCache: "MISS" } },
      { work: "finished" },
      { get: "/b", fields: app, expect: { xCache: "HIT", body: "{}" } },
      { get: "/a", fields: { "x-mobile": "1" }, expect: { xCache: "MISS", body: "1" } },
      { work: "finished" },
      { originSaw: { "/a": 2 } },
      { get: "/a", fields: { "x-mobile": "1" }, expect: { xCache: "BYPASS", body: "2" } },
      { get: "/a", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "second-look/field-chooses-a-redirect",
    name: "a field that changes where a redirect leads, and nothing else, changes the page",
    source: SOURCE,
    origin: {
      "/a": ["/shop-b", "/", "/shop-b", "/shop-b"].map((location) => ({
        status: 301,
        fields: { "cache-control": "max-age=60", location },
        body: "",
      })),
    },
    steps: [
      { get: "/a", fields: { "x-shop": "b" }, expect: { xCache: "MISS", fields: { location: "/shop-b" } } },
      { work: "finished" },
      { originSaw: { "/a": 3 } },
      { get: "/a", fields: { "x-shop": "b" }, expect: { xCache: "BYPASS", fields: { location: "/shop-b" } } },
      { get: "/a", expect: { xCache: "HIT", fields: { location: "/" } } },
    ],
  },
  {
    id: "second-look/page-changes-meanwhile",
    name: "if the page changes before the second look, the field is not blamed for the difference",
    source: SOURCE,
    origin: { "/a": [1, 2, 2, 2].map((version) => page("max-age=60", `v${version}`)) },
    steps: [
      { get: "/a", fields: app, expect: { xCache: "MISS", body: "v1" } },
      { work: "finished" },
      { stats: { "secondLooks.marked": 0 } },
      { get: "/a", fields: app, expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "second-look/random-page",
    name: "a page that differs on every render is served from the store, whatever field a request invents",
    source: SOURCE,
    origin: { "/a": [1, 2, 3, 4].map((render) => page("max-age=60", `render ${render}`)) },
    steps: [
      { get: "/a", fields: app, expect: { xCache: "MISS", body: "render 1" } },
      { work: "finished" },
      { stats: { "secondLooks.asked": 2, "secondLooks.marked": 0 } },
      { get: "/a", fields: app, expect: { xCache: "HIT", body: "render 2" } },
      { get: "/a", expect: { xCache: "HIT", body: "render 2" } },
    ],
  },
  {
    id: "second-look/several-fields",
    name: "if a request has several odd fields, none of them is blamed for a difference",
    source: SOURCE,
    origin: { "/a": [page("max-age=60", "part"), page("max-age=60", "whole"), page("max-age=60", "part")] },
    steps: [
      { get: "/a", fields: { ...app, "x-mobile": "1" }, expect: { xCache: "MISS", body: "part" } },
      { work: "finished" },
      { stats: { "secondLooks.asked": 1, "secondLooks.marked": 0 } },
      { get: "/a", fields: { "x-mobile": "1" }, expect: { xCache: "HIT", body: "whole" } },
    ],
  },
  {
    id: "second-look/framework-field-chooses",
    name: "if one of several odd fields is a framework's field for parts, that field is blamed for a difference",
    source: SOURCE,
    origin: {
      "/a": [page("max-age=60", "list"), page("max-age=60", "part"), page("max-age=60", "list")],
    },
    steps: [
      { get: "/a", fields: htmx, expect: { xCache: "MISS", body: "list" } },
      { work: "finished" },
      { stats: { "secondLooks.asked": 2, "secondLooks.marked": 1 } },
      { get: "/a", fields: htmx, expect: { xCache: "BYPASS", cacheStatus: /detail="unkeyed-field:hx-target"$/ } },
      { get: "/a", fields: { "hx-request": "true" }, expect: { xCache: "HIT", body: "part" } },
    ],
  },
  {
    id: "second-look/framework-fields-choose",
    name: "if several odd fields are a framework's fields for parts, all of them are blamed for a difference",
    source: SOURCE,
    origin: {
      "/a": [page("max-age=60", "list"), page("max-age=60", "part"), page("max-age=60", "list")],
    },
    steps: [
      { get: "/a", fields: { ...htmx, "hx-trigger": "more" }, expect: { xCache: "MISS", body: "list" } },
      { work: "finished" },
      { stats: { "secondLooks.asked": 2, "secondLooks.marked": 2 } },
      { get: "/a", fields: { "hx-request": "true", "hx-trigger": "more" }, expect: { xCache: "BYPASS" } },
      { get: "/a", fields: htmx, expect: { xCache: "BYPASS" } },
      { get: "/a", fields: { "hx-request": "true" }, expect: { xCache: "HIT", body: "part" } },
    ],
  },
  {
    id: "second-look/invented-framework-fields",
    name: "fields that look like a framework's are not blamed if they are more than a framework sends at a time",
    source: SOURCE,
    origin: { "/a": [page("max-age=60", "list"), page("max-age=60", "part"), page("max-age=60", "list")] },
    steps: [
      {
        get: "/a",
        fields: { ...htmx, "hx-1": "1", "hx-2": "2", "hx-3": "3", "hx-4": "4", "hx-5": "5" },
        expect: { xCache: "MISS", body: "list" },
      },
      { work: "finished" },
      { stats: { "secondLooks.asked": 1, "secondLooks.marked": 0 } },
    ],
  },
  {
    id: "second-look/other-folder",
    name: "a field that changes the pages of one folder bypasses the cache only there",
    source: SOURCE,
    origin: {
      "/list/1": [page("max-age=60", "part"), page("max-age=60", "whole"), page("max-age=60", "part")],
      "/text/1": [page("max-age=60", "text")],
    },
    steps: [
      { get: "/list/1", fields: { "x-mobile": "1" }, expect: { xCache: "MISS", body: "part" } },
      { work: "finished" },
      { get: "/list/1", fields: { "x-mobile": "1" }, expect: { xCache: "BYPASS" } },
      { get: "/text/1", expect: { xCache: "MISS" } },
      { get: "/text/1", fields: { "x-mobile": "1" }, expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "second-look/idle-field",
    name: "after three second looks without a difference, the field is left out in that folder, and the answer is stored",
    source: SOURCE,
    origin: { ...three, "/d": [page("max-age=60", "d")], "/sub/d": [page("max-age=60", "sub")] },
    steps: [
      ...looks(app),
      { get: "/d", fields: app, expect: { xCache: "MISS", cacheStatus: /stored/ } },
      { work: "finished" },
      { originSaw: { "/d": 1 } },
      { originLastSaw: "/d", fields: { "x-app-version": null } },
      { get: "/d", expect: { xCache: "HIT" } },
      { get: "/sub/d", fields: app, expect: { xCache: "MISS", cacheStatus: /unkeyed-field/ } },
      { stats: { "secondLooks.asked": 4 } },
    ],
  },
  {
    id: "second-look/idle-with-one-value",
    name: "a field that is idle with one value is not left out with another, which no second look has compared",
    source: SOURCE,
    origin: { ...three, "/d": [page("max-age=60", "for 8")] },
    steps: [
      ...looks(app),
      { get: "/d", fields: { "x-app-version": "8" }, expect: { xCache: "MISS", cacheStatus: /unkeyed-field/ } },
      { work: "finished" },
      { originSaw: { "/d": 2 } },
    ],
  },
  {
    id: "second-look/idle-identifiers",
    name: "identifiers, of which each client has another one, are left out after three looks at any of them",
    source: SOURCE,
    origin: { ...three, "/d": [page("max-age=60", "d")] },
    steps: [
      ...looks(installation(0), installation(1), installation(2)),
      { get: "/d", fields: installation(3), expect: { xCache: "MISS", cacheStatus: /stored/ } },
      { work: "finished" },
      { originSaw: { "/d": 1 } },
    ],
  },
  {
    id: "second-look/idle-field-matters",
    name: "if the answer without an idle field is not stored, the origin is asked again with the field",
    source: SOURCE,
    origin: {
      ...three,
      "/d": [page("private", "plain"), page("private", "own")],
      "/e": [page("max-age=60", "e")],
    },
    steps: [
      ...looks(app),
      { get: "/d", fields: app, expect: { xCache: "MISS", body: "own" } },
      { originLastSaw: "/d", fields: { "x-app-version": "7" } },
      { originSaw: { "/d": 2 } },
      { get: "/e", fields: app, expect: { xCache: "MISS", cacheStatus: /unkeyed-field/ } },
    ],
  },
  {
    id: "second-look/redirects-show-nothing-idle",
    name: "redirects that are alike do not show that a field chooses nothing",
    source: SOURCE,
    origin: {
      ...Object.fromEntries(
        ["/a", "/b", "/c", "/d"].map((path) => [path, [{ ...page("max-age=60", ""), status: 301 }]]),
      ),
      "/e": [page("max-age=60", "e")],
    },
    steps: [
      ...["/a", "/b", "/c", "/d"].flatMap((path): Step[] => [
        { get: path, fields: app, expect: { status: 301, xCache: "MISS" } },
        { work: "finished" },
        { originSaw: { [path]: 2 } },
      ]),
      { get: "/e", fields: app, expect: { xCache: "MISS", cacheStatus: /unkeyed-field/ } },
    ],
  },
  ...([307, 404] as const).map(
    (status): Scenario => ({
      id: `second-look/idle-field-and-${status}`,
      name: `if the answer without an idle field is a ${status}, the origin is asked again with the field`,
      source: SOURCE,
      origin: { ...three, "/d": [{ ...page("max-age=60", "plain"), status }, page("max-age=60", "own")] },
      steps: [...looks(app), { get: "/d", fields: app, expect: { status: 200, xCache: "MISS", body: "own" } }],
    }),
  ),
  {
    id: "second-look/idle-field-in-vary",
    name: "if the answer without an idle field varies by it, the origin is asked again with the field",
    source: SOURCE,
    origin: {
      ...three,
      "/d": ["plain", "of 7"].map((body) => page("max-age=60", body, { vary: "X-App-Version" })),
    },
    steps: [
      ...looks(app),
      { get: "/d", fields: app, expect: { xCache: "MISS", body: "of 7" } },
      { work: "finished" },
      { get: "/d", fields: app, expect: { xCache: "HIT", body: "of 7" } },
    ],
  },
  {
    id: "second-look/idle-field-and-followers",
    name: "a visitor whose idle field is left out does not share the page of one without it that varies by it",
    source: SOURCE,
    only: WAITING_REQUESTS,
    origin: {
      ...three,
      "/d": ["plain", "plain", "of 7"].map((body, index) => ({
        ...page("max-age=60", body, { vary: "X-App-Version" }),
        ...(index === 0 && { hold: "slow" }),
      })),
    },
    steps: [
      ...looks(app),
      { begin: "without", send: { path: "/d" } },
      { originSees: "/d", count: 1 },
      { begin: "with", send: { path: "/d", fields: app } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "without", expect: { xCache: "MISS", body: "plain" } },
      { finish: "with", expect: { xCache: "MISS", body: "of 7" } },
    ],
  },
  {
    id: "second-look/idle-field-validated",
    name: "a variant is not confirmed by a request without the idle field that has selected it",
    source: SOURCE,
    origin: {
      ...three,
      "/d": [
        page("max-age=1", "of 7", { vary: "X-App-Version", ...OF_ALL_VARIANTS }),
        { status: 304, fields: { "cache-control": "max-age=60", ...OF_ALL_VARIANTS } },
        page("max-age=60", "plain", { vary: "X-App-Version", ...OF_ALL_VARIANTS }),
      ],
    },
    steps: [
      { get: "/d", fields: app, expect: { xCache: "MISS", body: "of 7" } },
      ...looks(app),
      { advanceMs: 2_000 },
      { get: "/d", fields: app, expect: { xCache: "REVALIDATED", body: "of 7" } },
      { get: "/d", expect: { xCache: "MISS", body: "plain" } },
    ],
  },
  ...(
    [
      ["vary", "varies by it", { "cache-control": "max-age=60", vary: "X-App-Version" }],
      ["private", "is private", { "cache-control": "private" }],
    ] as const
  ).map(
    ([id, what, fields]): Scenario => ({
      id: `second-look/idle-field-and-304-${id}`,
      name: `if a 304 to a request without an idle field ${what}, the origin is asked again with the field`,
      source: SOURCE,
      origin: {
        ...three,
        "/d": [
          page("max-age=1", "plain", { etag: '"plain"' }),
          { status: 304, fields: { ...fields, etag: '"plain"' } },
          { fields: { ...fields, etag: '"of 7"' }, body: "of 7" },
        ],
      },
      steps: [
        ...looks(app),
        { get: "/d", expect: { xCache: "MISS", body: "plain" } },
        { advanceMs: 2_000 },
        { get: "/d", fields: app, expect: { body: "of 7" } },
      ],
    }),
  ),
  {
    id: "second-look/idle-field-and-withdrawal",
    name: "a 304 to a request without an idle field that calls the page private takes it from everybody",
    source: SOURCE,
    origin: {
      ...three,
      "/d": [
        page("max-age=1, stale-if-error=600", "plain", { etag: '"plain"' }),
        { status: 304, fields: { "cache-control": "private", etag: '"plain"' } },
        page("private", "own"),
        { status: 500, body: "broken" },
      ],
    },
    steps: [
      ...looks(app),
      { get: "/d", expect: { xCache: "MISS", body: "plain" } },
      { advanceMs: 2_000 },
      { get: "/d", fields: app, expect: { body: "own" } },
      { work: "finished" },
      { get: "/d", expect: { status: 500 } },
    ],
  },
  {
    id: "second-look/idle-for-others",
    name: "an idle field stays idle after a visitor with credentials gets a private page",
    source: SOURCE,
    origin: {
      ...three,
      "/d": [page("private", "plain"), page("private", "own")],
      "/e": [page("max-age=60", "e")],
    },
    steps: [
      ...looks(app),
      { get: "/d", fields: { ...app, authorization: "Bearer 1" }, expect: { body: "own" } },
      { get: "/e", fields: app, expect: { xCache: "MISS", cacheStatus: /stored/ } },
    ],
  },
  {
    id: "second-look/framework-field",
    name: "a framework's field for parts of pages is never left out",
    source: SOURCE,
    origin: { ...three, "/d": [page("max-age=60", "d")] },
    steps: [
      ...looks({ "hx-target": "main" }),
      { get: "/d", fields: { "hx-target": "main" }, expect: { xCache: "MISS", cacheStatus: /unkeyed-field/ } },
    ],
  },
  {
    id: "second-look/not-in-a-row",
    name: "a field is idle if it changed nothing in three second looks in a row",
    source: SOURCE,
    origin: {
      "/a": three["/a"],
      "/b": three["/b"],
      "/c": [1, 2, 3].map((render) => page("max-age=60", `render ${render}`)),
      "/d": [page("max-age=60", "d")],
      "/e": [page("max-age=60", "e")],
    },
    steps: [
      ...["/a", "/b", "/c", "/d"].flatMap((path): Step[] => [
        { get: path, fields: app, expect: { xCache: "MISS" } },
        { work: "finished" },
      ]),
      { get: "/e", fields: app, expect: { xCache: "MISS", cacheStatus: /unkeyed-field/ } },
    ],
  },
  {
    id: "second-look/with-credentials",
    name: "after a public answer to credentials, the second look repeats the visitor's request without the field",
    source: SOURCE,
    origin: { "/a": [page("public, max-age=60", "v1")] },
    steps: [
      {
        get: "/a",
        fields: { ...app, authorization: "Bearer 1" },
        expect: { xCache: "MISS", cacheStatus: /unkeyed-field/ },
      },
      { work: "finished" },
      { originLastSaw: "/a", fields: { "x-app-version": null, authorization: "Bearer 1" } },
      { get: "/a", fields: { authorization: "Bearer 2" }, expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "second-look/after-a-confirmation",
    name: "if the origin confirms a stale page to an odd request, a second look fetches the page for all",
    source: SOURCE,
    origin: {
      "/a": [
        { fields: { "cache-control": "max-age=60", etag: '"1"' }, body: "v1" },
        { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"' } },
        { fields: { "cache-control": "max-age=60", etag: '"1"' }, body: "v1" },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 61_000 },
      { get: "/a", fields: app, expect: { xCache: "REVALIDATED" } },
      { work: "finished" },
      { originSaw: { "/a": 3 } },
      { get: "/a", fields: app, expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "second-look/purged-meanwhile",
    name: "an answer that is purged during a second look is not served",
    source: "docs/protocol.md, R1",
    origin: {
      "/a": [page("max-age=60", "v1"), { ...page("max-age=60", "v1"), hold: "look" }, page("max-age=60", "v2")],
      "/b": [page("max-age=60", "b")],
    },
    steps: [
      { get: "/a", fields: app, expect: { xCache: "MISS" } },
      { originSees: "/a", count: 2 },
      { purge: { urls: ["/a"] } },
      { advanceMs: 3_000 },
      { get: "/b", expect: { xCache: "MISS" } },
      { release: "look" },
      { work: "finished" },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "second-look/plain-requests-wait",
    name: "plain requests wait for a running second look, and there is only one",
    source: SOURCE,
    origin: { "/a": [page("max-age=60", "v1"), { ...page("max-age=60", "v1"), hold: "look" }] },
    steps: [
      { get: "/a", fields: app, expect: { xCache: "MISS" } },
      { originSees: "/a", count: 2 },
      { begin: "plain", send: { path: "/a" } },
      { advanceMs: 100 },
      { release: "look" },
      { finish: "plain", expect: { xCache: "MISS", cacheStatus: /collapsed/ } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "second-look/none-where-nothing-could-be-stored",
    name: "after a plain answer that could not be stored, there is no second look for a minute",
    source: SOURCE,
    origin: { "/a": [page("max-age=60"), page("private"), page("max-age=60"), page("max-age=60")] },
    steps: [
      { get: "/a", fields: app, expect: { xCache: "MISS", cacheStatus: /unkeyed-field/ } },
      { work: "finished" },
      { originSaw: { "/a": 2 } },
      { advanceMs: 59_999 },
      { get: "/a", fields: app, expect: { xCache: "MISS", cacheStatus: /unkeyed-field/ } },
      { work: "finished" },
      { originSaw: { "/a": 3 } },
      { advanceMs: 1 },
      { get: "/a", fields: app, expect: { xCache: "MISS", cacheStatus: /unkeyed-field/ } },
      { work: "finished" },
      { originSaw: { "/a": 5 } },
      { get: "/a", expect: { xCache: "HIT" } },
      { stats: { "secondLooks.asked": 2 } },
    ],
  },
];
