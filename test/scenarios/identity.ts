import type { Scenario } from "../engine/scenario.ts";

/** What one visitor caused is not shown to another. */
export const identity: readonly Scenario[] = [
  {
    name: "a response to a request with a session cookie is not stored unless the origin says that it is shared",
    source: "docs/design.md#identity",
    origin: {
      "/mine": [{ fields: { "cache-control": "max-age=60" }, body: "for one" }],
      "/shared": [{ fields: { "cache-control": "public, max-age=60" }, body: "for all" }],
    },
    steps: [
      { get: "/mine", fields: { cookie: "session=1" }, expect: { xCache: "MISS", cacheStatus: /detail=cookie/ } },
      { get: "/mine", expect: { xCache: "MISS" } },
      { get: "/shared", fields: { cookie: "session=1" }, expect: { xCache: "MISS" } },
      { get: "/shared", fields: { cookie: "session=2" }, expect: { xCache: "HIT" } },
    ],
  },
  {
    name: "analytics cookies change nothing and do not reach the origin",
    source: "docs/design.md#identity",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60" }, body: "v1" }] },
    steps: [
      { get: "/a", fields: { cookie: "_ga=GA1.2; _fbp=fb.1" }, expect: { xCache: "MISS" } },
      { originLastSaw: "/a", fields: { cookie: null } },
      { get: "/a", fields: { cookie: "_ga=GA1.9" }, expect: { xCache: "HIT" } },
    ],
  },
  {
    name: "a cookie that may matter is forwarded, without the ignored ones beside it",
    source: "docs/design.md#identity",
    origin: { "/a": [{ body: "v1" }] },
    steps: [
      { get: "/a", fields: { cookie: "_ga=1; theme=dark; tidemark-after=log.1" }, expect: { status: 200 } },
      { originLastSaw: "/a", fields: { cookie: "theme=dark" } },
    ],
  },
  {
    name: "a request with Authorization is answered from store only if the stored response says that it may be",
    source: "RFC 9111 §3.5",
    origin: {
      "/plain": [{ fields: { "cache-control": "max-age=60" }, body: "v1" }],
      "/public": [{ fields: { "cache-control": "public, max-age=60" }, body: "v1" }],
    },
    steps: [
      { get: "/plain", expect: { xCache: "MISS" } },
      {
        get: "/plain",
        fields: { authorization: "Basic eDp5" },
        expect: { xCache: "MISS", cacheStatus: /detail=authorization/ },
      },
      { originLastSaw: "/plain", fields: { authorization: "Basic eDp5" } },
      { get: "/public", expect: { xCache: "MISS" } },
      { get: "/public", fields: { authorization: "Basic eDp5" }, expect: { xCache: "HIT" } },
    ],
  },
  {
    name: "a response to a request with Authorization is never stored",
    source: "RFC 9111 §3.5, which would allow some",
    origin: { "/a": [{ fields: { "cache-control": "public, max-age=60" }, body: "v1" }] },
    steps: [
      { get: "/a", fields: { authorization: "Basic eDp5" }, expect: { xCache: "MISS" } },
      { get: "/a", expect: { xCache: "MISS" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "a request that forbids storing is not stored, and does not empty the store",
    source: "RFC 9111 §5.2.1.5",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60" }, body: "v1" }] },
    steps: [
      {
        get: "/a",
        fields: { "cache-control": "no-store" },
        expect: { xCache: "MISS", cacheStatus: /detail=request-no-store/ },
      },
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/a", fields: { "cache-control": "no-cache, no-store" }, expect: { xCache: "HIT" } },
    ],
  },
  ...["private; max-age=60", "no-store;", "private max-age=5", 'ext="x, private'].map(
    (directives): Scenario => ({
      name: `Cache-Control: ${directives} cannot be read, so no lifetime of a route makes it storable`,
      source: "docs/design.md#promise-1",
      site: { routes: [{ match: "/*", defaultTtl: "24h", ttl: "24h" }] },
      origin: { "/a": [{ fields: { "cache-control": directives }, body: "for one" }] },
      steps: [
        { get: "/a", expect: { xCache: "MISS", cacheStatus: /detail=no-store/ } },
        { get: "/a", expect: { xCache: "MISS" } },
      ],
    }),
  ),
  ...["s-maxage=0", "s-maxage=foo", "max-age=60, s-maxage=0"].map(
    (directives): Scenario => ({
      name: `Cache-Control: ${directives} does not share one visitor's page, whatever the route's lifetime`,
      source: "RFC 9111 §3.5; docs/design.md#promise-1",
      site: { routes: [{ match: "/*", ttl: "24h" }] },
      origin: { "/a": [{ fields: { "cache-control": directives }, body: "for one" }, { body: "for all" }] },
      steps: [
        { get: "/a", fields: { cookie: "session=1" }, expect: { xCache: "MISS", cacheStatus: /detail=cookie/ } },
        { get: "/a", expect: { xCache: "MISS", body: "for all" } },
        {
          get: "/a",
          fields: { authorization: "Basic eDp5" },
          expect: { xCache: "MISS", cacheStatus: /detail=authorization/ },
        },
      ],
    }),
  ),
];
