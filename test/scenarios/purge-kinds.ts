import type { Scenario } from "../engine/scenario.ts";

const v1 = { fields: { "cache-control": "max-age=3600", etag: '"1"' }, body: "v1" };
const v2 = { fields: { "cache-control": "max-age=3600", etag: '"2"' }, body: "v2" };
const unchanged = { status: 304, fields: { "cache-control": "max-age=3600", etag: '"1"' } };

const control = "docs/design.md#the-control-plane";
const soft = "docs/design.md#soft-purges";

/** The page at this path on the other host of the site. */
const onMobile = (path: string) => ({ path, host: "m.example.test" });

function cacheable(cacheControl: string, body = "v1") {
  return { fields: { "cache-control": cacheControl }, body };
}

const prefixes: readonly Scenario[] = [
  {
    name: "a purge by prefix takes whole segments on every host, whatever their query, and nothing beside them",
    source: control,
    site: { hosts: ["www.example.test", "m.example.test"] },
    origin: { "/shop": [v1], "/shop/a/b?x=1": [v1], "/shopping": [v1], "/a/shop": [v1] },
    steps: [
      { get: "/shop", expect: { xCache: "MISS" } },
      { get: "/shop/a/b?x=1", expect: { xCache: "MISS" } },
      { send: onMobile("/shop"), expect: { xCache: "MISS" } },
      { get: "/shopping", expect: { xCache: "MISS" } },
      { get: "/a/shop", expect: { xCache: "MISS" } },
      { purge: { prefixes: ["/shop"] } },
      { get: "/shop", expect: { xCache: "MISS", cacheStatus: /detail=purged/ } },
      { get: "/shop/a/b?x=1", expect: { xCache: "MISS" } },
      { send: onMobile("/shop"), expect: { xCache: "MISS" } },
      { get: "/shopping", expect: { xCache: "HIT" } },
      { get: "/a/shop", expect: { xCache: "HIT" } },
    ],
  },
  {
    name: "a prefix that begins with a host takes the pages of that host alone, for http and https",
    source: control,
    site: { hosts: ["www.example.test", "m.example.test"] },
    origin: { "/shop/a": [v1] },
    steps: [
      { get: "/shop/a", expect: { xCache: "MISS" } },
      { send: onMobile("/shop/a"), expect: { xCache: "MISS" } },
      { purge: { prefixes: ["m.example.test/shop"] } },
      { get: "/shop/a", expect: { xCache: "HIT" } },
      { send: onMobile("/shop/a"), expect: { xCache: "MISS" } },
      { purge: { prefixes: ["https://M.example.test/shop/a/"] } },
      { get: "/shop/a", expect: { xCache: "HIT" } },
      { send: onMobile("/shop/a"), expect: { xCache: "MISS" } },
    ],
  },
  {
    name: "a prefix is compared in the key's normal form, with or without a slash at its end",
    source: "docs/design.md#key",
    origin: { "/caf%C3%A9/~a": [v1] },
    steps: [
      { get: "/caf%c3%a9/%7Ea", expect: { xCache: "MISS" } },
      { purge: { prefixes: ["/café/./x/../%7ea/"] } },
      { get: "/caf%C3%A9/~a", expect: { xCache: "MISS" } },
      { purge: { prefixes: ["/caf%c3%A9"] } },
      { get: "/caf%C3%A9/~a", expect: { xCache: "MISS" } },
    ],
  },
  {
    name: "a page below more segments than entries are filed under is purged by each of its prefixes",
    source: control,
    origin: { "/1/2/3/4/5/6/7/8/9/10/11/12/13/14": [v1], "/1/2/3/4/5/6/7/8/9/10/11/x": [v1] },
    steps: [
      { get: "/1/2/3/4/5/6/7/8/9/10/11/12/13/14", expect: { xCache: "MISS" } },
      { get: "/1/2/3/4/5/6/7/8/9/10/11/x", expect: { xCache: "MISS" } },
      {
        purge: { prefixes: ["/1/2/3/4/5/6/7/8/9/10/11/12/13/14"] },
        expect: {
          status: 200,
          body: /too deep or too long: all below \/1\/2\/3\/4\/5\/6\/7\/8\/9\/10\/11\/12 is purged/,
        },
      },
      { get: "/1/2/3/4/5/6/7/8/9/10/11/x", expect: { xCache: "HIT" } },
      { get: "/1/2/3/4/5/6/7/8/9/10/11/12/13/14", expect: { xCache: "MISS" } },
    ],
  },
  {
    name: "a prefix without a segment, with a star, or of another site is refused, and nothing is purged",
    source: "docs/design.md#promise-5",
    origin: { "/shop/a": [v1] },
    steps: [
      { get: "/shop/a", expect: { xCache: "MISS" } },
      {
        purge: { prefixes: ["/shop", "/"] },
        expect: { status: 400, body: /prefixes\[1\].*name hosts, or everything/ },
      },
      { purge: { prefixes: ["www.example.test/"] }, expect: { status: 400, body: /name hosts, or everything/ } },
      { purge: { prefixes: ["/shop/*"] }, expect: { status: 400, body: /leave out the \*/ } },
      {
        purge: { prefixes: ["/shop", "elsewhere.example/shop"] },
        expect: { status: 400, body: /not a host of this site/ },
      },
      { get: "/shop/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    name: "a purge by host takes every page of that host, and no other's",
    source: control,
    site: { hosts: ["www.example.test", "m.example.test"] },
    origin: { "/": [v1], "/a?x=1": [v1] },
    steps: [
      { get: "/a?x=1", expect: { xCache: "MISS" } },
      { send: onMobile("/"), expect: { xCache: "MISS" } },
      { send: onMobile("/a?x=1"), expect: { xCache: "MISS" } },
      { purge: { hosts: ["M.EXAMPLE.test:443"] } },
      { get: "/a?x=1", expect: { xCache: "HIT" } },
      { send: onMobile("/"), expect: { xCache: "MISS" } },
      { send: onMobile("/a?x=1"), expect: { xCache: "MISS" } },
      { purge: { hosts: ["elsewhere.example"] }, expect: { status: 400, body: /hosts\[0\].*not a host of this site/ } },
      { purge: { hosts: ["https://m.example.test/"] }, expect: { status: 400, body: /without scheme and path/ } },
    ],
  },
];

const modes: readonly Scenario[] = [
  {
    name: "what was purged softly answers once more while it is fetched anew, where it has stale-while-revalidate",
    source: soft,
    origin: { "/a": [cacheable("max-age=3600, stale-while-revalidate=60"), v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      {
        get: "/a",
        expect: { xCache: "UPDATING", body: "v1", cacheStatus: "tidemark; hit; ttl=0; detail=soft-purge" },
      },
      { originSees: "/a", count: 2 },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "while nothing new comes, a soft purge leaves a page usable as long as stale-while-revalidate says, and no longer",
    source: soft,
    origin: { "/a": [cacheable("max-age=3600, stale-while-revalidate=10")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { origin: "down" },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 9_999 },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 502 } },
    ],
  },
  {
    name: "where a response does not say, the site says for how long it may be used after a soft purge",
    source: soft,
    site: { purge: { softForMs: 5_000 } },
    origin: { "/a": [v1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { origin: "down" },
      { advanceMs: 4_999 },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 502 } },
    ],
  },
  {
    name: "story 30: a soft purge never lengthens what the response's own rules allow, and neither does a restart",
    source: soft,
    site: { purge: { softForMs: 3_600_000 } },
    origin: { "/a": [cacheable("max-age=60")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { origin: "down" },
      { advanceMs: 30_000 },
      { restart: "isolate" },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 29_999 },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 502 } },
    ],
  },
  {
    name: "where neither response nor site allows anything stale, what was purged softly is confirmed by the origin first",
    source: soft,
    origin: { "/a": [v1, unchanged] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      {
        get: "/a",
        expect: {
          xCache: "REVALIDATED",
          body: "v1",
          cacheStatus: /fwd=stale; fwd-status=304; stored; detail=soft-purge/,
        },
      },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
    ],
  },
  {
    name: "what must be revalidated is not used after a soft purge, but confirmed by the origin first",
    source: soft,
    site: { purge: { softForMs: 60_000 } },
    origin: { "/a": [{ ...v1, fields: { ...v1.fields, "cache-control": "max-age=3600, must-revalidate" } }, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    name: "story 4: after a soft purge, the bearer of its token takes nothing stale",
    source: "docs/protocol.md#r9-token; docs/protocol.md#the-stories",
    origin: { "/a": [cacheable("max-age=3600, stale-while-revalidate=60"), v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { get: "/a", fields: { "tidemark-after": "$token" }, expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    name: "story 11: a soft purge after a hard one of the same page brings nothing back",
    source: "docs/protocol.md#r10-modes; docs/protocol.md#the-stories",
    origin: { "/a": [cacheable("max-age=3600, stale-while-revalidate=60"), v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"] } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { get: "/a", expect: { xCache: "MISS", body: "v2", cacheStatus: /detail=purged/ } },
    ],
  },
  {
    name: "a failed origin is stood in for after a soft purge as long as stale-if-error says, counted from the purge",
    source: "docs/protocol.md#r18-on-error; docs/design.md#soft-purges",
    origin: { "/a": [cacheable("max-age=3600, stale-if-error=10")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { origin: "down" },
      { advanceMs: 9_999 },
      { get: "/a", expect: { xCache: "STALE", body: "v1" } },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 502 } },
    ],
  },
  {
    name: "while the log is silent, what was purged softly is confirmed by the origin first, for it may be gone by now",
    source: "docs/protocol.md#r8-unknown; docs/protocol.md#r10-modes",
    only: { engine: "memory", because: "one instance of the runtime cannot lose its own log; the simulated CDN will" },
    origin: { "/a": [cacheable("max-age=3600, stale-while-revalidate=60"), v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], mode: "soft" } },
      { log: "down" },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    name: "a soft purge with a refresh has the new page at once",
    source: "docs/protocol.md#r20-refresh-and-repeat",
    origin: { "/a": [cacheable("max-age=3600, stale-while-revalidate=60"), v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], mode: "soft", refresh: true } },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    name: "what an unsafe request put out of date is confirmed by the origin, and need not be fetched again",
    source: "RFC 9111 §4.4; docs/protocol.md#r15-unsafe-methods",
    only: { engine: "memory", because: "one worker of the runtime is one isolate" },
    origin: { "/a": [v1, { status: 204 }, unchanged] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { send: { method: "POST", path: "/a" }, expect: { status: 204 } },
      { advanceMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "REVALIDATED", body: "v1" } },
    ],
  },
];

const bearer = { authorization: "Bearer scenario-token-with-32-characters0" };

const looking: readonly Scenario[] = [
  {
    name: "a dry run tells what would be purged and takes no number, and nothing has changed after it",
    source: control,
    site: { routes: [{ match: "/song/:id", key: { query: { only: [] } } }] },
    origin: { "/song/1": [v1] },
    steps: [
      { get: "/song/1?ref=mail", expect: { xCache: "MISS" } },
      {
        purge: { urls: ["/song/1?ref=mail"], prefixes: ["/song/"], dryRun: true, refresh: true },
        expect: {
          status: 200,
          body: /"seq":0,.*"dryRun":true,"warnings":.*,"planned":\[\{"item":"\/song\/1\?ref=mail","key":"\/song\/1","route":"\/song\/:id"\},\{"item":"\/song\/","key":"\/song"\}\]/,
        },
      },
      { get: "/song/1", expect: { xCache: "HIT" } },
      { originSaw: { "/song/1": 1 } },
      { purge: { tags: ["unrelated"] }, expect: { status: 200, body: /"seq":1,/ } },
    ],
  },
  {
    name: "a purge warns of what its owner may not have expected, and is carried out all the same",
    source: control,
    site: {
      routes: [
        { match: "/admin/*", pass: true },
        { match: "/song/:id", key: { query: { only: [] } }, ttl: "1h", browserTtl: "2h" },
      ],
    },
    origin: { "/song/1": [v1] },
    steps: [
      { get: "/song/1", expect: { xCache: "MISS" } },
      {
        purge: { urls: ["/admin/a", "/song/1?x=1"] },
        expect: {
          status: 200,
          body: /"warnings":\[.*\/admin\/a.* stores nothing\.",.*x=1.* has query parameters .*\.","Browsers may keep .* 7200 s, longer than the edge \(3600 s\)/,
        },
      },
      { get: "/song/1", expect: { xCache: "MISS" } },
    ],
  },
  {
    name: "the audit trail tells who purged what, how and why, the newest first, and whether it has settled",
    source: control,
    steps: [
      { purge: { urls: ["/a?x=1"], tags: ["song:42"], reason: "a correction" } },
      { advanceMs: 10_000 },
      { purge: { prefixes: ["/shop"], hosts: ["www.example.test"], mode: "soft", id: "deploy-7" } },
      {
        get: "/_tidemark/purges?limit=1",
        fields: bearer,
        expect: {
          status: 200,
          body: /^\{"purges":\[\{"seq":2,.*"mode":"soft",.*"id":"deploy-7",.*"settled":false,.*"items":\["prefix:\/shop","host:www\.example\.test"\],"itemCount":2\}\],"next":2\}$/m,
        },
      },
      {
        get: "/_tidemark/purges?before=2",
        fields: bearer,
        expect: {
          body: /^\{"purges":\[\{"seq":1,.*"reason":"a correction",.*"settled":true,.*"items":\["\/a\?x=1","tag:song:42"\],"itemCount":2\}\],"next":null\}$/m,
        },
      },
      { get: "/_tidemark/purges/1", fields: bearer, expect: { status: 200, body: /^\{"seq":1,/ } },
      { get: "/_tidemark/purges/3", fields: bearer, expect: { status: 404, body: /has no purge 3/ } },
      { get: "/_tidemark/purges?limit=0", fields: bearer, expect: { status: 400, body: /"path":"limit"/ } },
      { get: "/_tidemark/purges", expect: { status: 401 } },
    ],
  },
];

const TAG_FIELDS = ["cache-tag", "surrogate-key", "xkey", "cdn-tag", "x-cache-tags"];

const tags: readonly Scenario[] = [
  {
    name: "tags are read in every spelling of their field, split at commas and spaces, and kept from clients",
    source: "docs/design.md#what-clients-see",
    origin: Object.fromEntries(
      TAG_FIELDS.map((name) => [
        `/${name}`,
        [{ fields: { "cache-control": "max-age=3600", [name]: `a, b  ${name}` }, body: "v1" }],
      ]),
    ),
    steps: TAG_FIELDS.flatMap((name) => [
      { get: `/${name}`, expect: { xCache: "MISS", fields: { [name]: null } } },
      { get: `/${name}`, expect: { xCache: "HIT", fields: { [name]: null } } },
      { purge: { tags: [name] } },
      { get: `/${name}`, expect: { xCache: "MISS" } },
    ]),
  },
  {
    name: "a response with a tag too many, or with one that is none, is not stored, and is counted",
    source: "docs/design.md#what-clients-see",
    site: { limits: { tags: 2 } },
    origin: {
      "/two": [{ fields: { "cache-control": "max-age=3600", "cache-tag": "a b a" }, body: "v1" }],
      "/three": [{ fields: { "cache-control": "max-age=3600", "cache-tag": "a b", xkey: "c" }, body: "v1" }],
      "/256": [{ fields: { "cache-control": "max-age=3600", "cache-tag": "x".repeat(256) }, body: "v1" }],
      "/257": [{ fields: { "cache-control": "max-age=3600", "cache-tag": "x".repeat(257) }, body: "v1" }],
    },
    steps: [
      { get: "/two", expect: { cacheStatus: /stored/ } },
      { get: "/two", expect: { xCache: "HIT" } },
      { get: "/three", expect: { xCache: "MISS", cacheStatus: /detail=too-many-tags/ } },
      { get: "/256", expect: { cacheStatus: /stored/ } },
      { get: "/257", expect: { xCache: "MISS", cacheStatus: /detail=tag-invalid/ } },
      { stats: { "store.refused.too-many-tags": 1, "store.refused.tag-invalid": 1 } },
    ],
  },
];

/** What purges name, what they do to it, and what they tell. */
export const purgeKinds: readonly Scenario[] = [...prefixes, ...modes, ...looking, ...tags];
