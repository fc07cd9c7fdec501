import type { Reply } from "../../cdn/scripted-origin.ts";
import type { Scenario, Step } from "../engine/scenario.ts";

type Lines = string | readonly string[];

/** A page that says this in `Cache-Control`. */
function saying(cacheControl: Lines, more: Reply["fields"] = {}, body = "v1"): Reply {
  return { fields: { "cache-control": cacheControl, ...more }, body };
}

/** One path for each of several ways to say the same. */
function spelled(replies: readonly Reply[]): Readonly<Record<string, readonly Reply[]>> {
  return Object.fromEntries(replies.map((reply, index) => [`/${index}`, [reply]]));
}

function ofEach(replies: readonly Reply[], step: (path: string) => Step): readonly Step[] {
  return replies.map((_, index) => step(`/${index}`));
}

const tenSeconds = [
  "MAX-AGE=10",
  'max-age="10"',
  ", max-age=10, ,",
  'max-age=10, foo, bar=baz, qux="a, b"',
  'max-age=10, ext="no-store, private"',
  "max-age=10, max-age=60",
  "max-age=60, max-age=10",
  ["public", "max-age=10"],
  ["max-age=60", "s-maxage=10"],
].map((text) => saying(text));

const notStored: readonly (readonly [cacheControl: Lines, because: string])[] = [
  ["max-age=-10", "no-freshness"],
  ["max-age=10.5", "no-freshness"],
  ["max-age", "no-freshness"],
  ["max-age=", "no-freshness"],
  ['max-age="ten"', "no-freshness"],
  ["max-age=10, max-age=x", "no-freshness"],
  ["s-maxage=x, max-age=60", "no-freshness"],
  ["max-age=60, NO-STORE", "no-store"],
  [["max-age=60", "no-store"], "no-store"],
  ["public, no-store, max-age=60", "no-store"],
  ['no-store="x", max-age=60', "no-store"],
  [["private", "public, max-age=60"], "private"],
  ["Private, max-age=60", "private"],
  ["private=set-cookie, max-age=60", "private"],
  ['private="", max-age=60', "private"],
  ['private="a b", max-age=60', "private"],
  ['private="x", private, max-age=60', "private"],
  ['no-cache="", max-age=60', "no-cache"],
  ["no-cache=x, max-age=60", "no-cache"],
];

/** What the origin's `Cache-Control` says. */
const ofResponses: readonly Scenario[] = [
  {
    name: "a lifetime is read as origins write it: in any case, quoted, beside unknown and empty members, over several lines",
    source: "RFC 9111 §5.2, §4.2.1; RFC 9110 §5.6.1.2",
    origin: spelled(tenSeconds),
    steps: [
      ...ofEach(tenSeconds, (get) => ({ get, expect: { xCache: "MISS", cacheStatus: /; stored$/ } })),
      { advanceMs: 9_999 },
      ...ofEach(tenSeconds, (get) => ({ get, expect: { xCache: "HIT" } })),
      { advanceMs: 1 },
      ...ofEach(tenSeconds, (get) => ({ get, expect: { xCache: "EXPIRED" } })),
    ],
  },
  {
    name: "where directives conflict, or a lifetime is no number, the most restrictive reading counts",
    source: "RFC 9111 §4.2.1, §5.2.2",
    origin: spelled(notStored.map(([text]) => saying(text))),
    steps: notStored.map(([, because], index) => ({
      get: `/${index}`,
      expect: { xCache: "MISS", cacheStatus: `tidemark; fwd=uri-miss; fwd-status=200; detail=${because}` },
    })),
  },
  {
    name: "a lifetime too large to count is the largest that counts, 2^31 seconds",
    source: "RFC 9111 §1.2.2",
    origin: { "/a": [saying("max-age=99999999999999999999")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 10_000 },
      { get: "/a", expect: { xCache: "HIT", cacheStatus: "tidemark; hit; ttl=2147483638" } },
    ],
  },
  {
    name: 'fields that private="…" names go to the one who asked, and not into the store; the rest of the page does',
    source: "RFC 9111 §5.2.2.7, §7.3",
    origin: { "/a": [saying('max-age=60, private="Set-Cookie, X-User"', { "set-cookie": "a=1", "x-user": "jo" })] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1", fields: { "set-cookie": "a=1", "x-user": "jo" } } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "HIT", body: "v1", fields: { "set-cookie": null, "x-user": null } } },
      { restart: "isolate" },
      { get: "/a", expect: { xCache: "HIT", fields: { "set-cookie": null, "x-user": null } } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: 'fields that no-cache="…" names are not used again, and the page is used without asking',
    source: "RFC 9111 §5.2.2.4",
    origin: { "/a": [saying('max-age=60, no-cache="x-user"', { "x-user": "jo", "x-other": "1" })] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { "x-user": "jo" } } },
      { get: "/a", expect: { xCache: "HIT", fields: { "x-user": null, "x-other": "1" } } },
    ],
  },
  {
    name: "who waits for another one's fetch does not get the fields that are for that one",
    source: "RFC 9111 §5.2.2.7",
    origin: { "/a": [{ ...saying('max-age=60, private="set-cookie"', { "set-cookie": "a=1" }), hold: "slow" }] },
    steps: [
      { begin: "leader", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { begin: "follower", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "leader", expect: { fields: { "set-cookie": "a=1" } } },
      { finish: "follower", expect: { body: "v1", fields: { "set-cookie": null } } },
    ],
  },
  {
    name: "a visitor whose page has not changed still gets the cookie that the origin sent along",
    source: "RFC 9110 §15.4.5; RFC 6265 §3",
    origin: { "/a": [saying('max-age=60, private="set-cookie"', { "set-cookie": "a=1", etag: '"1"' })] },
    steps: [
      {
        get: "/a",
        fields: { "if-none-match": '"1"' },
        expect: { status: 304, xCache: "MISS", fields: { "set-cookie": "a=1" } },
      },
      { advanceMs: 1 },
      {
        get: "/a",
        fields: { "if-none-match": '"1"' },
        expect: { status: 304, xCache: "HIT", fields: { "set-cookie": null } },
      },
    ],
  },
  {
    name: "must-understand outranks no-store where the status is understood, and forbids storing where it is not",
    source: "RFC 9111 §5.2.2.3",
    origin: {
      "/known": [saying("no-store, must-understand, max-age=60")],
      "/unknown": [{ ...saying("must-understand, max-age=60"), status: 299 }],
    },
    steps: [
      { get: "/known", expect: { xCache: "MISS" } },
      { get: "/known", expect: { xCache: "HIT" } },
      { get: "/unknown", expect: { status: 299, xCache: "MISS", cacheStatus: /detail=status$/ } },
      { get: "/unknown", expect: { status: 299, xCache: "MISS" } },
    ],
  },
  {
    name: "directives go to clients as they came, those that Tidemark does not know included",
    source: "RFC 9111 §5.2.3; RFC 8246; RFC 9111 §5.2.2.6",
    origin: { "/a": [saying('max-age=60, immutable, no-transform, ext="a, b"')] },
    steps: [
      { get: "/a", expect: { fields: { "cache-control": 'max-age=60, immutable, no-transform, ext="a, b"' } } },
      {
        get: "/a",
        expect: { xCache: "HIT", fields: { "cache-control": 'max-age=60, immutable, no-transform, ext="a, b"' } },
      },
    ],
  },
  ...[
    ["s-maxage=60", "HIT"],
    ["max-age=60, must-revalidate", "HIT"],
    ["max-age=60, proxy-revalidate", "MISS"],
  ].map(
    ([directives, xCache]): Scenario => ({
      name: `Cache-Control: ${directives} is a ${xCache} for a request with Authorization`,
      source: "RFC 9111 §3.5",
      origin: { "/a": [saying(directives!)] },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        { get: "/a", fields: { authorization: "Basic eDp5" }, expect: { xCache: xCache! } },
      ],
    }),
  ),
];

const asked = [
  { "cache-control": "no-cache" },
  { "cache-control": "max-age=0" },
  { "cache-control": "min-fresh=3600" },
  { pragma: "no-cache" },
];

/** What a visitor's `Cache-Control` asks for. */
const ofRequests: readonly Scenario[] = [
  {
    name: "a visitor who reloads, with no-cache, max-age, min-fresh or Pragma, is answered from store: no stranger decides what the origin is asked",
    source: "RFC 9111 §5.2.1, §5.4",
    origin: { "/a": [saying("max-age=60")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 1_000 },
      ...asked.map((fields): Step => ({ get: "/a", fields, expect: { xCache: "HIT", body: "v1" } })),
      { originSaw: { "/a": 1 } },
    ],
  },
  ...asked.map(
    (fields): Scenario => ({
      name: `on a route that obeys visitors, ${Object.entries(fields)
        .map(([name, value]) => `${name}: ${value}`)
        .join()} asks the origin, and the answer is kept for all`,
      source: "RFC 9111 §5.2.1, §5.4",
      site: { routes: [{ match: "/*", requestDirectives: "all" }] },
      origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        { advanceMs: 1_000 },
        {
          get: "/a",
          fields,
          expect: {
            xCache: "MISS",
            body: "v2",
            cacheStatus: "tidemark; fwd=request; fwd-status=200; stored; detail=request-directive",
          },
        },
        { get: "/a", expect: { xCache: "HIT", body: "v2" } },
      ],
    }),
  ),
  {
    name: "on a route that obeys visitors, no-cache is a question to the origin, which may confirm what is stored",
    source: "RFC 9111 §5.2.1.4, §4.3.1",
    site: { routes: [{ match: "/*", requestDirectives: "all" }] },
    origin: {
      "/a": [
        saying("max-age=60", { etag: '"1"' }),
        { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"' } },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      {
        get: "/a",
        fields: { "cache-control": "NO-CACHE" },
        expect: {
          status: 200,
          xCache: "REVALIDATED",
          body: "v1",
          cacheStatus: "tidemark; fwd=request; fwd-status=304; stored; detail=request-directive",
        },
      },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
    ],
  },
  {
    name: "on a route that obeys visitors, max-age is the oldest answer that is taken",
    source: "RFC 9111 §5.2.1.1",
    site: { routes: [{ match: "/*", requestDirectives: "all" }] },
    origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 10_000 },
      { get: "/a", fields: { "cache-control": "max-age=10" }, expect: { xCache: "HIT" } },
      { advanceMs: 1 },
      { get: "/a", fields: { "cache-control": "max-age=x" }, expect: { xCache: "HIT" } },
      { get: "/a", fields: { "cache-control": "max-age=11", pragma: "no-cache" }, expect: { xCache: "HIT" } },
      { get: "/a", fields: { "cache-control": "max-age=3600, max-age=10" }, expect: { body: "v2" } },
    ],
  },
  {
    name: "on a route that obeys visitors, min-fresh is how long the answer has to stay fresh",
    source: "RFC 9111 §5.2.1.3",
    site: { routes: [{ match: "/*", requestDirectives: "all" }] },
    origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 50_000 },
      { get: "/a", fields: { "cache-control": "min-fresh=10" }, expect: { xCache: "HIT" } },
      { advanceMs: 1 },
      { get: "/a", fields: { "cache-control": "min-fresh" }, expect: { xCache: "HIT" } },
      { get: "/a", fields: { "cache-control": "min-fresh=5, min-fresh=10" }, expect: { body: "v2" } },
    ],
  },
  {
    name: "only-if-cached is answered from store or with 504, and never asks the origin",
    source: "RFC 9111 §5.2.1.7",
    origin: { "/a": [saying("max-age=60")] },
    steps: [
      {
        get: "/a",
        fields: { "cache-control": "only-if-cached" },
        expect: {
          status: 504,
          xCache: null,
          cacheStatus: "tidemark; detail=only-if-cached",
          fields: { "cache-control": "no-store" },
        },
      },
      {
        send: { method: "HEAD", path: "/a", fields: { "cache-control": "only-if-cached" } },
        expect: { status: 504 },
      },
      { originSaw: { "/a": 0 } },
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 59_999 },
      { get: "/a", fields: { "cache-control": "Only-If-Cached" }, expect: { status: 200, xCache: "HIT" } },
      { work: "finished" },
      { restart: "isolate" },
      { get: "/a", fields: { "cache-control": "only-if-cached" }, expect: { status: 200, xCache: "HIT" } },
      { advanceMs: 1 },
      { get: "/a", fields: { "cache-control": "only-if-cached" }, expect: { status: 504 } },
      {
        get: "/a",
        fields: { "cache-control": "only-if-cached, max-stale=1" },
        expect: { status: 200, xCache: "STALE" },
      },
      { purge: { urls: ["/a"] } },
      { get: "/a", fields: { "cache-control": "only-if-cached, max-stale" }, expect: { status: 504 } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "max-stale takes an answer that is stale for so long, and no staler one",
    source: "RFC 9111 §5.2.1.2, §4.2.4",
    origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 69_999 },
      {
        get: "/a",
        fields: { "cache-control": "max-stale=10" },
        expect: { xCache: "STALE", body: "v1", ageSeconds: 69, cacheStatus: "tidemark; hit; ttl=-9; detail=max-stale" },
      },
      { advanceMs: 1 },
      { get: "/a", fields: { "cache-control": "max-stale" }, expect: { xCache: "STALE", body: "v1" } },
      { originSaw: { "/a": 1 } },
      { get: "/a", fields: { "cache-control": "max-stale=3600, max-stale=10" }, expect: { body: "v2" } },
    ],
  },
  {
    name: "a max-stale that is no number takes nothing stale",
    source: "RFC 9111 §5.2.1.2, §1.2.2",
    origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      { get: "/a", fields: { "cache-control": "max-stale=x" }, expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  ...["max-age=60, must-revalidate", "max-age=60, proxy-revalidate", "s-maxage=60", "no-cache, max-age=60"].map(
    (directives): Scenario => ({
      name: `Cache-Control: ${directives} is served stale to nobody, whatever visitors and the owner would take`,
      source: "RFC 9111 §4.2.4, §5.2.2.2, §5.2.2.4, §5.2.2.8, §5.2.2.10",
      site: { stale: { ifError: "1h" } },
      origin: { "/a": [saying(`${directives}, stale-if-error=600, stale-while-revalidate=600`, { etag: '"1"' })] },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        { advanceMs: 60_000 },
        { origin: "down" },
        { get: "/a", fields: { "cache-control": "max-stale, stale-if-error=600" }, expect: { status: 502 } },
      ],
    }),
  ),
  {
    name: "what was purged is not stale but gone, whatever a visitor would take",
    source: "docs/design.md#promise-2",
    origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"] } },
      { get: "/a", fields: { "cache-control": "max-stale" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    name: "a visitor's stale-if-error takes an answer that is stale for so long where the origin fails, and no staler one",
    source: "RFC 5861 §4",
    origin: { "/a": [saying("max-age=60"), { status: 503, body: "down" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 69_999 },
      { get: "/a", expect: { status: 503, body: "down" } },
      { get: "/a", fields: { "cache-control": "stale-if-error=x" }, expect: { status: 503 } },
      {
        get: "/a",
        fields: { "cache-control": "stale-if-error=10" },
        expect: {
          status: 200,
          xCache: "STALE",
          body: "v1",
          cacheStatus: "tidemark; fwd=stale; fwd-status=503; detail=stale-if-error",
        },
      },
      { advanceMs: 1 },
      { get: "/a", fields: { "cache-control": "stale-if-error=10" }, expect: { status: 503 } },
    ],
  },
  {
    name: "a Cache-Control of a visitor that cannot be read counts as no-store, and empties nothing",
    source: "RFC 9111 §5.2.1.5",
    origin: { "/a": [saying("max-age=60"), saying("max-age=60", {}, "v2")] },
    steps: [
      { get: "/a", fields: { "cache-control": 'x="' }, expect: { cacheStatus: /detail=request-no-store$/ } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { get: "/a", fields: { "cache-control": 'x="' }, expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    name: "what the origin confirms for a visitor who forbids storing is not kept",
    source: "RFC 9111 §5.2.1.5",
    origin: {
      "/a": [
        saying("max-age=60", { etag: '"1"' }),
        { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"' } },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      {
        get: "/a",
        fields: { "cache-control": "no-store" },
        expect: {
          xCache: "REVALIDATED",
          body: "v1",
          cacheStatus: "tidemark; fwd=stale; fwd-status=304; detail=request-no-store",
        },
      },
      { get: "/a", expect: { xCache: "REVALIDATED", cacheStatus: "tidemark; fwd=stale; fwd-status=304; stored" } },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    name: "a visitor who forbids storing does not keep others from a new page: the next one has it fetched",
    source: "RFC 5861 §3; RFC 9111 §5.2.1.5",
    origin: {
      "/a": [saying("max-age=60, stale-while-revalidate=60"), saying("max-age=60", {}, "v2")],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      { get: "/a", fields: { "cache-control": "no-store" }, expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 1 },
      { originSaw: { "/a": 1 } },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { originSees: "/a", count: 2 },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
];

const inTwoIsolates: Scenario = {
  name: "another isolate of the PoP finds the same page, without the fields that are for one visitor, and stale for who takes it stale",
  source: "docs/design.md#tiers; RFC 9111 §5.2.2.7, §5.2.1.2",
  only: { engine: "memory", because: "one worker of the runtime is one isolate" },
  origin: { "/a": [saying('max-age=60, private="x-user"', { "x-user": "jo" })] },
  steps: [
    { get: "/a", expect: { xCache: "MISS", fields: { "x-user": "jo" } } },
    { advanceMs: 59_999 },
    { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", fields: { "x-user": null } } },
    { advanceMs: 1 },
    {
      send: { path: "/a", isolate: "c", fields: { "cache-control": "only-if-cached, max-stale=1" } },
      expect: { status: 200, xCache: "STALE", fields: { "x-user": null } },
    },
    { originSaw: { "/a": 1 } },
  ],
};

/** Directives of responses and of requests. */
export const directives: readonly Scenario[] = [...ofResponses, ...ofRequests, inTwoIsolates];
