import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import type { Scenario, Step } from "../../engine/scenario.ts";
import { SEVERAL_ISOLATES } from "../not-on-every-engine.ts";
import { type Lines, saying } from "./openings.ts";

/** A path for each of several spellings of the same directives. */
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
  ["must-understand=0, no-store, max-age=60", "no-store"],
  [["private", "public, max-age=60"], "private"],
  ["Private, max-age=60", "private"],
  ["private=set-cookie, max-age=60", "private"],
  ['private="", max-age=60', "private"],
  ['private="a b", max-age=60', "private"],
  ['private="*", max-age=60', "private"],
  ['private="x", private, max-age=60', "private"],
  ['no-cache="", max-age=60', "no-cache"],
  ['no-cache="x, *", max-age=60', "no-cache"],
  ["no-cache=x, max-age=60", "no-cache"],
];

/** A miss that says which value could not be read. */
function toldAs(value: string): string {
  const text = value.replaceAll('"', '\\"');
  return `tidemark; fwd=uri-miss; fwd-status=200; detail="unreadable-cache-control:${text}"`;
}

/** Cache-Control of responses, RFC 9111 §5.2.2. */
export const scenarios: readonly Scenario[] = [
  ...(
    [
      ["malformed-private-semicolon", "private; max-age=60"],
      ["malformed-no-store-semicolon", "no-store;"],
      ["malformed-missing-comma", "private max-age=5"],
      ["malformed-open-quote", 'ext="x, private'],
    ] as const
  ).map(
    ([id, directives]): Scenario => ({
      id: `directives/${id}`,
      name: `Cache-Control: ${directives} cannot be read, so a route's lifetime does not make the response storable`,
      source: "docs/protocol.md#promise-1-private-stays-private",
      site: { routes: [{ match: "/*", defaultTtl: "24h", ttl: "24h" }] },
      origin: { "/a": [{ fields: { "cache-control": directives }, body: "for one" }] },
      steps: [
        { get: "/a", expect: { xCache: "MISS", cacheStatus: toldAs(directives) } },
        { get: "/a", expect: { xCache: "MISS" } },
      ],
    }),
  ),
  {
    id: "directives/lifetime-spellings",
    name: "a lifetime is read in every form that origins write: any letter case, quoted, beside unknown and empty members, over several lines",
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
    id: "directives/most-restrictive-reading",
    name: "if directives conflict or a lifetime is not a number, the most restrictive reading applies",
    source: "RFC 9111 §4.2.1, §5.2.2",
    origin: spelled(notStored.map(([text]) => saying(text))),
    steps: notStored.map(([, because], index) => ({
      get: `/${index}`,
      expect: { xCache: "MISS", cacheStatus: `tidemark; fwd=uri-miss; fwd-status=200; detail=${because}` },
    })),
  },
  {
    id: "directives/largest-lifetime",
    name: "a lifetime too large to represent counts as 2^31 seconds",
    source: "RFC 9111 §1.2.2",
    origin: { "/a": [saying("max-age=99999999999999999999")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 10_000 },
      { get: "/a", expect: { xCache: "HIT", cacheStatus: "tidemark; hit; ttl=2147483638" } },
    ],
  },
  {
    id: "directives/private-with-field-names",
    name: 'fields that private="…" names go to the client that asked and are not stored; the rest of the page is stored',
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
    id: "directives/no-cache-with-field-names",
    name: 'fields that no-cache="…" names are not reused; the rest of the page is reused without asking the origin',
    source: "RFC 9111 §5.2.2.4",
    origin: { "/a": [saying('max-age=60, no-cache="x-user"', { "x-user": "jo", "x-other": "1" })] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { "x-user": "jo" } } },
      { get: "/a", expect: { xCache: "HIT", fields: { "x-user": null, "x-other": "1" } } },
    ],
  },
  {
    id: "directives/private-fields-and-followers",
    name: "a follower does not get fields that are only for its leader",
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
    id: "directives/private-fields-and-parts",
    name: "who asks for a part gets the fields that are only for the client that asked, and nobody else does",
    source: "RFC 9111 §5.2.2.4, §5.2.2.7",
    site: { limits: { fetchWholeBytes: "1KiB" } },
    origin: {
      "/a": [
        saying('max-age=60, private="set-cookie, x-user"', { "set-cookie": ["a=1", "b=2"], "x-user": "jo" }),
        saying('max-age=60, private="set-cookie, x-user"', { "set-cookie": ["a=3", "b=4"], "x-user": "ann" }),
      ],
      "/b": [saying('max-age=60, no-cache="x-user"', { "x-user": "jo" })],
    },
    steps: [
      {
        get: "/a",
        fields: { range: "bytes=1-1" },
        expect: { status: 206, xCache: "MISS", body: "1", fields: { "set-cookie": "a=1, b=2", "x-user": "jo" } },
      },
      { work: "finished" },
      {
        get: "/a",
        fields: { range: "bytes=1-1" },
        expect: { status: 206, xCache: "HIT", fields: { "set-cookie": null, "x-user": null } },
      },
      { advanceMs: 60_000 },
      {
        get: "/a",
        fields: { range: "bytes=1-1" },
        expect: { status: 206, xCache: "EXPIRED", fields: { "set-cookie": "a=3, b=4", "x-user": "ann" } },
      },
      { get: "/b", fields: { range: "bytes=1-1" }, expect: { status: 206, fields: { "x-user": "jo" } } },
    ],
  },
  {
    id: "directives/private-fields-beside-304",
    name: "a client whose request brought a 304 gets the fields of the 304 that are only for that client, and nobody else does",
    source: "RFC 9111 §4.3.4, §5.2.2.4, §5.2.2.7",
    origin: Object.fromEntries(
      [
        ["/private", 'max-age=60, private="x-user"'],
        ["/no-cache", 'max-age=60, no-cache="x-user"'],
      ].map(([path, directives]) => [
        path!,
        [
          saying(directives!, { "x-user": "jo", etag: '"1"' }),
          { status: 304, fields: { "cache-control": directives!, "x-user": "ann", etag: '"1"' }, hold: path! },
        ],
      ]),
    ),
    steps: ["/private", "/no-cache"].flatMap((path): Step[] => [
      { get: path, expect: { fields: { "x-user": "jo" } } },
      { advanceMs: 60_000 },
      { begin: "leader", send: { path } },
      { originSees: path, count: 2 },
      { begin: "follower", send: { path } },
      { advanceMs: 1 },
      { release: path },
      { finish: "leader", expect: { xCache: "REVALIDATED", body: "v1", fields: { "x-user": "ann" } } },
      { finish: "follower", expect: { body: "v1", fields: { "x-user": null } } },
      { get: path, expect: { xCache: "HIT", fields: { "x-user": null } } },
    ]),
  },
  {
    id: "directives/fields-made-private-by-304",
    name: "a stored field that a 304 makes private, without sending it, goes to nobody from then on",
    source: "RFC 9111 §5.2.2.7; docs/protocol.md#promise-1-private-stays-private",
    origin: {
      "/a": [
        saying("max-age=60", { "x-user": "jo", etag: '"1"' }),
        { status: 304, fields: { "cache-control": 'max-age=60, private="x-user"', etag: '"1"' } },
      ],
    },
    steps: [
      { get: "/a", expect: { fields: { "x-user": "jo" } } },
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "REVALIDATED", body: "v1", fields: { "x-user": null } } },
      { get: "/a", expect: { xCache: "HIT", fields: { "x-user": null } } },
    ],
  },
  {
    id: "directives/fields-made-private-by-unstored-304",
    name: "a stored field that a 304 makes private goes to nobody, although the 304 is not stored; the client gets its own",
    source: "RFC 9111 §5.2.2.7; docs/protocol.md#promise-1-private-stays-private",
    origin: Object.fromEntries(
      Object.entries<Record<string, string>>({ "/unsent": {}, "/sent": { "x-user": "ann" } }).map(([path, sent]) => [
        path,
        [
          saying("max-age=60", { "x-user": "jo", "x-page": "1", etag: '"1"' }),
          { status: 304, fields: { "cache-control": 'no-store, private="x-user"', etag: '"1"', ...sent } },
        ],
      ]),
    ),
    steps: [
      { get: "/unsent", expect: { fields: { "x-user": "jo" } } },
      { get: "/sent", expect: { fields: { "x-user": "jo" } } },
      { advanceMs: 60_000 },
      { get: "/unsent", expect: { xCache: "REVALIDATED", body: "v1", fields: { "x-user": null, "x-page": "1" } } },
      { get: "/sent", expect: { xCache: "REVALIDATED", body: "v1", fields: { "x-user": "ann", "x-page": "1" } } },
    ],
  },
  {
    id: "directives/cookie-beside-304",
    name: "a client whose page has not changed still gets the cookie that the origin sent along",
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
    id: "directives/must-understand",
    name: "must-understand overrides no-store if the status is understood, and forbids storing if it is not",
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
    id: "directives/unchanged-for-clients",
    name: "directives reach clients unchanged, including those that Tidemark does not know",
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
    ["authorization-and-s-maxage", "s-maxage=60", "HIT"],
    ["authorization-and-must-revalidate", "max-age=60, must-revalidate", "HIT"],
    ["authorization-and-proxy-revalidate", "max-age=60, proxy-revalidate", "MISS"],
  ].map(
    ([id, directives, xCache]): Scenario => ({
      id: `directives/${id}`,
      name: `Cache-Control: ${directives} is a ${xCache} for a request with Authorization`,
      source: "RFC 9111 §3.5",
      origin: { "/a": [saying(directives!)] },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        { get: "/a", fields: { authorization: "Basic eDp5" }, expect: { xCache: xCache! } },
      ],
    }),
  ),
  {
    id: "directives/private-fields-across-isolates",
    name: "another isolate of the PoP finds the page without its private fields, and serves it stale to a request that accepts stale answers",
    source: "docs/http.md#memory-and-the-cache-api; RFC 9111 §5.2.2.7, §5.2.1.2",
    only: SEVERAL_ISOLATES,
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
  },
];
