import type { Scenario } from "../../engine/scenario.ts";
import { page } from "../page.ts";
import { v1, v2 } from "../validation/openings.ts";

const confirmed = { status: 304, fields: v1.fields };

/** A path through the edge: the steps before it, the request, and how its answer is reported. */
interface Path extends Omit<Scenario, "source" | "steps"> {
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
    id: "client-response/fresh-is-hit",
    name: "a page that is stored and fresh is a hit",
    before: stored,
    xCache: "HIT",
    cacheStatus: "tidemark; hit; ttl=59",
  },
  {
    id: "client-response/revalidating-is-hit",
    name: "a stale page that is refetched after the answer is a hit with the reason",
    origin: { "/a": [page("max-age=60, stale-while-revalidate=5"), v2] },
    before: stale,
    xCache: "UPDATING",
    cacheStatus: "tidemark; hit; ttl=-1; detail=stale-while-revalidate",
  },
  {
    id: "client-response/max-stale-is-hit",
    name: "a stale page that the client accepts is a hit with the reason",
    before: stale,
    send: { fields: { "cache-control": "max-stale=5" } },
    xCache: "STALE",
    cacheStatus: "tidemark; hit; ttl=-1; detail=max-stale",
  },
  {
    id: "client-response/stale-for-error-response",
    name: "a stale page served instead of the origin's error gives the reason and the error's status",
    origin: { "/a": [page("max-age=60, stale-if-error=5"), { status: 503 }] },
    before: stale,
    xCache: "STALE",
    cacheStatus: "tidemark; fwd=stale; fwd-status=503; detail=stale-if-error",
  },
  {
    id: "client-response/stale-for-unreachable-origin",
    name: "a stale page served because the origin does not answer gives the reason",
    origin: { "/a": [page("max-age=60, stale-if-error=5")] },
    before: [...stale, { origin: "down" }],
    xCache: "STALE",
    cacheStatus: "tidemark; fwd=stale; detail=stale-if-error",
  },
  {
    id: "client-response/confirmed-is-revalidated",
    name: "a stale page that the origin confirms is REVALIDATED",
    origin: { "/a": [v1, confirmed] },
    before: stale,
    xCache: "REVALIDATED",
    cacheStatus: "tidemark; fwd=stale; fwd-status=304; stored",
  },
  {
    id: "client-response/changed-is-expired",
    name: "a stale page that has changed is EXPIRED",
    before: stale,
    xCache: "EXPIRED",
    cacheStatus: "tidemark; fwd=stale; fwd-status=200; stored",
  },
  {
    id: "client-response/no-cache-gives-reason",
    name: "a page that must be validated each time gives the reason when it has changed",
    origin: {
      "/a": [page("no-cache", "v1", { etag: '"1"' }), page("no-cache", "v2", { etag: '"2"' })],
    },
    before: stored,
    xCache: "EXPIRED",
    cacheStatus: "tidemark; fwd=stale; fwd-status=200; stored; detail=no-cache",
  },
  {
    id: "client-response/other-variant-is-vary-miss",
    name: "a page that is stored only as another variant is a vary-miss",
    origin: {
      "/a": [
        page("max-age=60", "v1", { vary: "accept-language" }),
        page("max-age=60", "v2", { vary: "accept-language" }),
      ],
    },
    before: stored,
    send: { fields: { "accept-language": "de" } },
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=vary-miss; fwd-status=200; stored",
  },
  {
    id: "client-response/not-stored-is-uri-miss",
    name: "a page that is not stored is a uri-miss",
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored",
  },
  {
    id: "client-response/not-storable-gives-reason",
    name: "a page that is not stored and cannot be gives the reason",
    origin: { "/a": [page("no-store")] },
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; detail=no-store",
  },
  {
    id: "client-response/part-is-partial",
    name: "a part of a page that is not stored is reported as partial",
    origin: { "/a": [{ status: 206, fields: { "content-range": "bytes 0-0/2" }, body: "v" }] },
    send: { fields: { range: "bytes=0-0" } },
    status: 206,
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=partial; fwd-status=206",
  },
  {
    id: "client-response/authorization-is-request",
    name: "a request that may not get the fresh page is forwarded because of the request",
    before: stored,
    send: { fields: { authorization: "Basic eDp5" } },
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=request; fwd-status=200; detail=authorization",
  },
  {
    id: "client-response/no-cache-is-request",
    name: "a request that does not accept the fresh page is forwarded because of the request",
    site: { routes: [{ match: "/*", requestDirectives: "all" }] },
    before: stored,
    send: { fields: { "cache-control": "no-cache" } },
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=request; fwd-status=200; stored; detail=request-directive",
  },
  {
    id: "client-response/purged-is-stale",
    name: "a purged page counts as stale, with the reason",
    before: [...stored, { purge: { urls: ["/a"] } }],
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=stale; fwd-status=200; stored; detail=purged",
  },
  {
    id: "client-response/refresh-is-request",
    name: "a refresh by the owner is forwarded because of the request",
    before: stored,
    send: { fields: { "tidemark-refresh": "scenario-token-with-32-characters0" } },
    xCache: "BYPASS",
    cacheStatus: "tidemark; fwd=request; fwd-status=200; stored; detail=refresh",
  },
  {
    id: "client-response/pass-route-is-bypass",
    name: "a route that passes everything is a bypass",
    site: { routes: [{ match: "/*", pass: true }] },
    xCache: "BYPASS",
    cacheStatus: "tidemark; fwd=bypass; fwd-status=200",
  },
  {
    id: "client-response/route-condition-is-bypass",
    name: "a request that does not meet the route's condition is a bypass and gives the reason",
    site: { routes: [{ match: "/*", store: { when: { query: { q: { maxLength: 1 } } } } }] },
    origin: { "/a?q=12": [v1] },
    send: { path: "/a?q=12" },
    xCache: "BYPASS",
    cacheStatus: "tidemark; fwd=bypass; fwd-status=200; detail=route-condition",
  },
  {
    id: "client-response/precondition-is-bypass",
    name: "a precondition on the origin's own state is a bypass",
    before: stored,
    send: { fields: { "if-match": '"1"' } },
    xCache: "BYPASS",
    cacheStatus: "tidemark; fwd=bypass; fwd-status=200",
  },
  {
    id: "client-response/unsafe-method-is-method",
    name: "an unsafe method is forwarded because of the method",
    before: stored,
    send: { method: "DELETE" },
    xCache: "BYPASS",
    cacheStatus: "tidemark; fwd=method; fwd-status=200",
  },
  {
    id: "client-response/head-is-uri-miss",
    name: "a HEAD of a page that is not stored is a miss that stores the page",
    send: { method: "HEAD" },
    xCache: "MISS",
    cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored",
  },
  {
    id: "client-response/only-if-cached-is-504",
    name: "the edge itself answers an only-if-cached request for a page that is not stored",
    send: { fields: { "cache-control": "only-if-cached" } },
    status: 504,
    xCache: null,
    cacheStatus: "tidemark; detail=only-if-cached",
  },
  {
    id: "client-response/unreachable-origin-is-502",
    name: "the edge itself answers if the origin does not",
    before: [{ origin: "down" }],
    status: 502,
    xCache: null,
    cacheStatus: "tidemark; detail=origin-unreachable",
  },
];

/** How each path through the edge is reported in X-Cache and Cache-Status. */
export const scenarios: readonly Scenario[] = [
  ...paths.map(
    ({ name, before = [], send = {}, status = 200, xCache, cacheStatus, ...scenario }): Scenario => ({
      name: `X-Cache and Cache-Status: ${name}`,
      source: "RFC 9211 §2; docs/http.md#what-clients-see",
      origin: { "/a": [v1, v2] },
      ...scenario,
      steps: [...before, { send: { path: "/a", ...send }, expect: { status, xCache, cacheStatus } }],
    }),
  ),
];
