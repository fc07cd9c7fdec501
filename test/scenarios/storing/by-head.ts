import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import type { Expected, Scenario, Step } from "../../engine/scenario.ts";
import { page } from "../page.ts";

const large: Reply = page("max-age=60", "abcdefghijklmnopqrstuvwxyz");

function head(path: string, expect: Expected, fields: Readonly<Record<string, string>> = {}): Step {
  return { send: { method: "HEAD", path, fields }, expect: { status: 200, body: "", ...expect } };
}

/** The fields of an installer of packages, which says much of its machine. */
function installer(version: string): Readonly<Record<string, string>> {
  return { "user-agent": `uv/${version} {"installer":{"name":"uv","version":"${version}"},"ci":null}` };
}

/** The answer to the HEAD, and why that to the GET is not stored. */
const AFTER_GET: Expected = { cacheStatus: /fwd-status=200; detail=(?:error-for-odd-request|no-freshness)$/ };

/** A HEAD that was sent on as it came, or whose page a GET would store. */
const AS_HEAD: Expected = { cacheStatus: /fwd-status=200$/ };

/** How many answers were refused for that reason; `null`: for being too large, which none was. */
function countOf(refused: string | null, times: number): Step {
  const count = refused === null ? { "store.refused.too-large": 0 } : { [refused]: times };
  return { stats: { ...count, "store.stored": 0 } };
}

/** A HEAD that misses fetches the page by GET. */
export const scenarios: readonly Scenario[] = [
  {
    id: "storing/head-miss-stores-the-page",
    name: "a HEAD that misses fetches the page by GET and stores it, so that the next HEAD and the next GET are hits",
    source: "docs/http.md#the-way-of-a-request; RFC 9110 §9.3.2",
    origin: {
      "/a": [page("max-age=60", "v1", { "content-type": "text/plain" })],
      "/chunked": [{ ...page("max-age=60", "v1"), framing: "chunked" }],
      "/empty": [{ status: 204, fields: { "cache-control": "max-age=60" } }],
    },
    steps: [
      head("/a", {
        xCache: "MISS",
        cacheStatus: /; stored$/,
        fields: { "content-length": "2", "content-type": "text/plain" },
      }),
      { work: "finished" },
      head("/a", { xCache: "HIT", fields: { "content-length": "2", "content-type": "text/plain" } }),
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      head("/chunked", { xCache: "MISS", cacheStatus: /; stored$/ }),
      { work: "finished" },
      head("/chunked", { xCache: "HIT", fields: { "content-length": "2" } }),
      head("/empty", { status: 204, xCache: "MISS", cacheStatus: /; stored$/ }),
      { work: "finished" },
      head("/empty", { status: 204, xCache: "HIT", fields: { "content-length": null } }), // RFC 9110 §8.6
      { originSaw: { "/a": 1, "/chunked": 1, "/empty": 1 } },
    ],
  },
  {
    id: "storing/head-and-get-share-a-fetch",
    name: "a HEAD and a GET that miss at the same time share one fetch, whichever came first",
    source: "docs/http.md#collapsed-requests",
    origin: { "/a": [{ ...page("max-age=60"), hold: "a" }], "/b": [{ ...page("max-age=60"), hold: "b" }] },
    steps: [
      { begin: "head", send: { method: "HEAD", path: "/a" } },
      { originSees: "/a", count: 1 },
      { begin: "get", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "a" },
      { finish: "head", expect: { status: 200, body: "" } },
      { finish: "get", expect: { status: 200, body: "v1", cacheStatus: /collapsed/ } },
      { begin: "get", send: { path: "/b" } },
      { originSees: "/b", count: 1 },
      { begin: "head", send: { method: "HEAD", path: "/b" } },
      { advanceMs: 1 },
      { release: "b" },
      { finish: "get", expect: { status: 200, body: "v1" } },
      {
        finish: "head",
        expect: { status: 200, body: "", cacheStatus: /collapsed/, fields: { "content-length": "2" } },
      },
      { originSaw: { "/a": 1, "/b": 1 } },
    ],
  },
  {
    id: "storing/head-with-range-and-condition",
    name: "a HEAD that misses stores the whole page even if it names a part, and gets a 304 if its client has the page",
    source: "RFC 9110 §14.2, §13.1.2",
    origin: { "/a": [page("max-age=60", "v1", { etag: '"1"' })], "/b": [page("max-age=60", "v1", { etag: '"1"' })] },
    steps: [
      head("/a", { xCache: "MISS", fields: { "content-length": "2", "content-range": null } }, { range: "bytes=0-0" }),
      { work: "finished" },
      { originLastSaw: "/a", fields: { range: null } },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      head("/b", { status: 304, xCache: "MISS" }, { "if-none-match": '"1"' }),
      { work: "finished" },
      { originLastSaw: "/b", fields: { "if-none-match": null } },
      { get: "/b", expect: { xCache: "HIT", body: "v1" } },
    ],
  },
  ...(
    [
      ["head-of-large-page", "whose announced length is beyond storeBytes", large, null],
      [
        "head-of-large-page-without-length",
        "that outgrows storeBytes",
        { ...large, framing: "chunked" },
        "store.refused.too-large",
      ],
      ["head-of-private-page", "that may not be stored", page("private"), "store.refused.private"],
    ] as const
  ).map(
    ([id, what, reply, refused]): Scenario => ({
      id: `storing/${id}`,
      name: `a page ${what} is fetched by GET for one HEAD, and then by HEAD for an hour`,
      source: "docs/http.md#bodies-and-ranges",
      site: { limits: { storeBytes: 10, largeBytes: 100 } },
      origin: { "/a": [reply] },
      steps: [
        head("/a", { xCache: "MISS", ...(refused === null && AS_HEAD) }),
        { originLastSaw: "/a", method: "GET" },
        { work: "finished" },
        countOf(refused, 1),
        { advanceMs: 5_001 },
        head("/a", { xCache: "MISS" }),
        { originLastSaw: "/a", method: "HEAD" },
        { advanceMs: 3_600_000 - 5_001 - 1 },
        head("/a", { xCache: "MISS" }),
        { originLastSaw: "/a", method: "HEAD" },
        { work: "finished" },
        countOf(refused, 1),
        { advanceMs: 1 },
        head("/a", { xCache: "MISS" }),
        { originLastSaw: "/a", method: "GET" },
        { work: "finished" },
        countOf(refused, 2),
        { originSaw: { "/a": 4 } },
      ],
    }),
  ),
  {
    id: "storing/head-where-get-is-an-error",
    name: "a HEAD whose GET is an error, as of an upload or of a URL signed for HEAD, gets its own answer, for an hour at once",
    source: "docs/http.md#the-way-of-a-request; RFC 9110 §9.3.2",
    site: { limits: { fetchWholeBytes: 10 } },
    origin: {
      "/upload": [
        { status: 405, body: "no" },
        ...["5", "7"].map((offset) => page("no-store", "", { "upload-offset": offset })),
        { status: 404 },
        page("no-store", "", { "upload-offset": "9" }),
      ],
      "/missing": [{ status: 404 }, { status: 404 }, { status: 404 }, page("max-age=60")],
      "/failing": [{ status: 503, body: "busy" }],
      "/gone": [{ ...page("max-age=60", "gone"), status: 410 }],
      "/both": [{ status: 404, hold: "get" }, { status: 200 }, page("max-age=60")],
    },
    steps: [
      head("/upload", { ...AFTER_GET, fields: { "upload-offset": "5" } }),
      head("/upload", { ...AS_HEAD, fields: { "upload-offset": "7" } }),
      { originSaw: { "/upload": 3 } },
      { advanceMs: 3_600_000 },
      head("/upload", { ...AFTER_GET, fields: { "upload-offset": "9" } }),
      { originSaw: { "/upload": 5 } },
      head("/missing", { status: 404 }),
      head("/missing", { status: 404 }),
      head("/failing", { status: 503 }),
      head("/gone", { status: 410, cacheStatus: /; stored$/ }),
      { work: "finished" },
      head("/gone", { status: 410, xCache: "HIT" }),
      { originSaw: { "/missing": 3, "/failing": 1, "/gone": 1 } },
      { send: { path: "/missing", fields: { range: "bytes=0-0" } }, expect: { status: 206, body: "v" } },
      { originLastSaw: "/missing", fields: { range: null } },
      { begin: "head", send: { method: "HEAD", path: "/both" } },
      { originSees: "/both", count: 1 },
      { begin: "get", send: { path: "/both" } },
      { advanceMs: 1 },
      { release: "get" },
      { finish: "head", expect: { status: 200, body: "" } },
      { finish: "get", expect: { status: 200 } },
      { work: "finished" },
      { stats: { "answers.MISS": 10, "answers.HIT": 1 } },
    ],
  },
  {
    id: "storing/head-leaves-the-body",
    name: "for a HEAD, a body that is not stored is cancelled instead of read",
    source: "docs/http.md#bodies-and-ranges",
    site: { limits: { storeBytes: 10, largeBytes: 100 } },
    origin: {
      "/a": [{ ...large, bytesBeforeHold: 5, hold: "never" }],
      "/b": [{ ...page("private", "for one"), bytesBeforeHold: 5, hold: "never either" }],
    },
    steps: [
      head("/a", { xCache: "MISS", fields: { "content-length": "26" } }),
      head("/b", { xCache: "MISS", fields: { "content-length": "7" } }),
      { work: "finished" },
      { stats: { "store.stored": 0 } },
    ],
  },
  {
    id: "storing/head-of-an-odd-request",
    name: "a page that was not stored because of an odd HEAD, or for a failure, is stored at the next plain HEAD",
    source: "docs/protocol.md#promise-1-private-stays-private",
    origin: { "/a": [page("max-age=60")], "/b": [{ status: 503 }, page("max-age=60")] },
    steps: [
      head("/a", AS_HEAD, { "x-debug": "1" }),
      head("/a", { xCache: "MISS", cacheStatus: /; stored$/ }),
      { work: "finished" },
      head("/a", { xCache: "HIT" }),
      head("/b", { status: 503 }),
      head("/b", { cacheStatus: /; stored$/ }),
    ],
  },
  {
    id: "storing/heads-with-an-unkeyed-field",
    name: "a HEAD with an unkeyed field stays one, because a GET need not tell how far an upload is, but for a field by which pages vary",
    source: "docs/http.md#the-way-of-a-request",
    origin: {
      "/upload": [page("no-store", "", { "upload-offset": "5" })],
      "/a": [page("max-age=60")],
      "/varies": [page("max-age=60", "v1", { vary: "x-b" })],
    },
    steps: [
      head("/upload", { ...AS_HEAD, fields: { "upload-offset": "5" } }, { "tus-resumable": "1.0.0" }),
      { originLastSaw: "/upload", method: "HEAD", fields: { "tus-resumable": "1.0.0" } },
      { originSaw: { "/upload": 1 } },
      head("/a", AS_HEAD, installer("0.13.9")),
      { originLastSaw: "/a", method: "HEAD" },
      head("/a", { cacheStatus: /; stored$/ }),
      { work: "finished" },
      head("/a", { xCache: "HIT" }, installer("0.13.9")),
      { get: "/varies", fields: { "x-b": "1" }, expect: { cacheStatus: /; stored$/ } },
      { work: "finished" },
      head("/varies", { cacheStatus: /; stored$/ }, { "x-b": "2" }),
      { originLastSaw: "/varies", method: "GET" },
    ],
  },
  {
    id: "storing/private-head-of-an-odd-request",
    name: "a private answer to a HEAD that accepts no pages leads to HEADs for such requests alone",
    source: "docs/http.md#the-way-of-a-request",
    origin: { "/a": [page("private", "mine"), page("max-age=60")] },
    steps: [
      head("/a", { cacheStatus: /detail=private$/ }, { accept: "application/json" }),
      { advanceMs: 60_000 },
      head("/a", AS_HEAD, { accept: "application/json" }),
      { originLastSaw: "/a", method: "HEAD" },
      head("/a", { cacheStatus: /; stored$/ }),
      { originLastSaw: "/a", method: "GET" },
    ],
  },
  {
    id: "storing/head-after-private-page",
    name: "a HEAD for a page that was not stored for a GET just before is forwarded as a HEAD",
    source: "docs/http.md#the-way-of-a-request; docs/protocol.md#r19-markers",
    origin: { "/a": [page("private", "mine")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "mine" } },
      head("/a", AS_HEAD),
      { originLastSaw: "/a", method: "HEAD" },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "storing/head-that-forbids-storing",
    name: "a HEAD with no-store is forwarded as a HEAD",
    source: "RFC 9111 §5.2.1.5",
    origin: { "/a": [page("max-age=60")] },
    steps: [
      head(
        "/a",
        { xCache: "MISS", cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200" },
        { "cache-control": "no-store" },
      ),
      { get: "/a", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "storing/head-of-a-purged-page",
    name: "a HEAD for a purged page fetches and stores the new one",
    source: "docs/protocol.md#what-a-purge-promises",
    origin: { "/a": [page("max-age=60", "v1"), page("max-age=60", "v2!")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"] } },
      head("/a", { xCache: "MISS", fields: { "content-length": "3" } }),
      { work: "finished" },
      { get: "/a", expect: { xCache: "HIT", body: "v2!" } },
    ],
  },
];
