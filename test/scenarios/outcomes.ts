import type { Scenario } from "../engine/scenario.ts";

const v1 = { fields: { "cache-control": "max-age=60", etag: '"1"' }, body: "v1" };
const v2 = { fields: { "cache-control": "max-age=60", etag: '"2"' }, body: "v2" };
const confirmed = { status: 304, fields: v1.fields };

/** One way through the edge: what leads to it, what is asked then, and how the answer is told. */
interface Path extends Omit<Scenario, "name" | "source" | "steps"> {
  readonly name: string;
  readonly before?: Scenario["steps"];
  readonly send?: {
    readonly path?: string;
    readonly method?: string;
    readonly fields?: Readonly<Record<string, string>>;
  };
  readonly status?: number;
  readonly xCache: string | null;
  readonly cacheStatus: string;
}

const stored: Scenario["steps"] = [{ get: "/a", expect: { status: 200 } }, { advanceMs: 1_000 }];
const stale: Scenario["steps"] = [{ get: "/a", expect: { status: 200 } }, { advanceMs: 61_000 }];

const paths: readonly Path[] = [
  {
    name: "what is stored and fresh is a hit",
    before: stored,
    xCache: "HIT",
    cacheStatus: "tidemark; hit; ttl=59",
  },
  {
    name: "what is stale and is fetched anew behind the answer is a hit that says so",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60, stale-while-revalidate=5" }, body: "v1" }, v2] },
    before: stale,
    xCache: "UPDATING",
    cacheStatus: "tidemark; hit; ttl=-1; detail=stale-while-revalidate",
  },
  {
    name: "what is stale and is taken all the same is a hit that says so",
    before: stale,
    send: { fields: { "cache-control": "max-stale=5" } },
    xCache: "STALE",
    cacheStatus: "tidemark; hit; ttl=-1; detail=max-stale",
  },
  {
    name: "what is stale and stands in for an origin that answers with an error says which",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60, stale-if-error=5" }, body: "v1" }, { status: 503 }] },
    before: stale,
    xCache: "STALE",
    cacheStatus: "tidemark; fwd=stale; fwd-status=503; detail=stale-if-error",
  },
  {
    name: "what is stale and stands in for an origin that does not answer says so",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60, stale-if-error=5" }, body: "v1" }] },
    before: [...stale, { origin: "down" }],
    xCache: "STALE",
    cacheStatus: "tidemark; fwd=stale; detail=stale-if-error",
  },
  {
    name: "what is stale and confirmed by the origin is told as revalidated",
    origin: { "/a": [v1, confirmed] },
    before: stale,
    xCache: "REVALIDATED",
    cacheStatus: "tidemark; fwd=stale; fwd-status=304; stored",
  },
  {
    name: "what is stale and has changed is told as expired",
    before: stale,
    xCache: "EXPIRED",
    cacheStatus: "tidemark; fwd=stale; fwd-status=200; stored",
  },
  {
    name: "what has to be confirmed each time says so where it has changed",
    origin: {
      "/a": [
        { fields: { "cache-control": "no-cache", etag: '"1"' }, body: "v1" },
        { fields: { "cache-control": "no-cache", etag: '"2"' }, body: "v2" },
      ],
    },
    before: stored,
    xCache: "EXPIRED",
    cacheStatus: "tidemark; fwd=stale; fwd-status=200; stored; detail=no-cache",
  },
  {
    name: "a page that is stored for another choice only is a miss of its variant",
    origin: {
      "/a": [
        { fields: { "cache-control": "max-age=60", vary: "accept-language" }, body: "v1" },
        { fields: { "cache-control": "max-age=60", vary: "accept-language" }, body: "v2" },
      ],
    },
    before: stored,
    send: { fields: { "accept-language": "de" } },
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=vary-miss; fwd-status=200; stored",
  },
  {
    name: "a page that is not stored is a miss of its URL",
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored",
  },
  {
    name: "a page that is not stored, and cannot be, says why",
    origin: { "/a": [{ fields: { "cache-control": "no-store" }, body: "v1" }] },
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; detail=no-store",
  },
  {
    name: "a part of a page that is not stored is told as partial",
    origin: { "/a": [{ status: 206, fields: { "content-range": "bytes 0-0/2" }, body: "v" }] },
    send: { fields: { range: "bytes=0-0" } },
    status: 206,
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=partial; fwd-status=206",
  },
  {
    name: "a fresh page that the request may not have is told as the request's doing",
    before: stored,
    send: { fields: { authorization: "Basic eDp5" } },
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=request; fwd-status=200; detail=authorization",
  },
  {
    name: "a fresh page that the request does not want is told as the request's doing",
    site: { routes: [{ match: "/*", requestDirectives: "all" }] },
    before: stored,
    send: { fields: { "cache-control": "no-cache" } },
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=request; fwd-status=200; stored; detail=request-directive",
  },
  {
    name: "a page that was purged is stale, and says why",
    before: [...stored, { purge: { urls: ["/a"] } }],
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=stale; fwd-status=200; stored; detail=purged",
  },
  {
    name: "a page that is fetched anew by its owner is told as the request's doing",
    before: stored,
    send: { fields: { "tidemark-refresh": "scenario-token-with-32-characters0" } },
    xCache: "BYPASS",
    cacheStatus: "tidemark; fwd=request; fwd-status=200; stored; detail=refresh",
  },
  {
    name: "a route that passes everything is a bypass",
    site: { routes: [{ match: "/*", pass: true }] },
    xCache: "BYPASS",
    cacheStatus: "tidemark; fwd=bypass; fwd-status=200",
  },
  {
    name: "a request that does not meet the route's condition is a bypass, and says why",
    site: { routes: [{ match: "/*", store: { when: { query: { q: { maxLength: 1 } } } } }] },
    origin: { "/a?q=12": [v1] },
    send: { path: "/a?q=12" },
    xCache: "BYPASS",
    cacheStatus: "tidemark; fwd=bypass; fwd-status=200; detail=route-condition",
  },
  {
    name: "a condition on the origin's own state is a bypass",
    before: stored,
    send: { fields: { "if-match": '"1"' } },
    xCache: "BYPASS",
    cacheStatus: "tidemark; fwd=bypass; fwd-status=200",
  },
  {
    name: "a method that is written through is told as the method's doing",
    before: stored,
    send: { method: "DELETE" },
    xCache: "BYPASS",
    cacheStatus: "tidemark; fwd=method; fwd-status=200",
  },
  {
    name: "a HEAD of a page that is not stored is a miss that stores nothing",
    send: { method: "HEAD" },
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200",
  },
  {
    name: "a page that is wanted from store only, and is not there, is the edge's own answer",
    send: { fields: { "cache-control": "only-if-cached" } },
    status: 504,
    xCache: null,
    cacheStatus: "tidemark; detail=only-if-cached",
  },
  {
    name: "an origin that does not answer is the edge's own answer",
    before: [{ origin: "down" }],
    status: 502,
    xCache: null,
    cacheStatus: "tidemark; detail=origin-unreachable",
  },
];

/** How each way through the edge is told. */
export const outcomes: readonly Scenario[] = paths.map(
  ({ name, before = [], send = {}, status = 200, xCache, cacheStatus, ...scenario }): Scenario => ({
    name: `X-Cache and Cache-Status: ${name}`,
    source: "RFC 9211 §2; docs/design.md#what-clients-see",
    origin: { "/a": [v1, v2] },
    ...scenario,
    steps: [...before, { send: { path: "/a", ...send }, expect: { status, xCache, cacheStatus } }],
  }),
);
