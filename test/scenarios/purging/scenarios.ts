import { type ClientRequest, type Scenario, type Step, TOKEN } from "../../engine/scenario.ts";
import { BACKGROUND_WORK, LOST_LOG, SEVERAL_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

const v1 = page("max-age=3600", "v1", { "cache-tag": "song:42, songs" });
const v2 = { ...v1, body: "v2" };
const songsV1 = page("max-age=3600", "v1", { "cache-tag": "songs" });
const songsV2 = { ...songsV1, body: "v2" };

const inLanguage = (language: string, version: string) =>
  page("max-age=3600", `${version} ${language}`, { vary: "accept-language", "content-language": language });

/** A PURGE request with the owner's token. */
function purgeOf(path: string, status: number): Step {
  return { send: { method: "PURGE", path, fields: { authorization: `Bearer ${TOKEN}` } }, expect: { status } };
}

const BROWSER = { "accept-encoding": "gzip, deflate, br, zstd" };

const zipped = (version: string) =>
  page("max-age=3600", version, { vary: "accept-encoding", "content-encoding": "gzip" });

const trace = {
  traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  tracestate: "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7",
};

/** A purge of a URL that fetches it again, in this trace. */
const tracedPurge = (url: string, fields: Readonly<Record<string, string>>): ClientRequest => ({
  method: "POST",
  path: "/_tidemark/purge",
  fields: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...fields },
  body: JSON.stringify({ urls: [url], refresh: true }),
});

/** Purges by URL, by tag and of everything, with ids, refreshes and repeats. */
export const scenarios: readonly Scenario[] = [
  {
    id: "purging/outlives-its-origin",
    name: "a stored page outlives its origin, a failed refresh keeps it, and a purge ends it",
    source: "docs/protocol.md#promise-2-purged-is-purged",
    origin: { "/about": [v1, v2] },
    steps: [
      { get: "/about", expect: { xCache: "MISS", body: "v1" } },
      { origin: "down" },
      { get: "/about", expect: { status: 200, xCache: "HIT", body: "v1" } },
      {
        get: "/about",
        fields: { "tidemark-refresh": "scenario-token-with-32-characters0" },
        expect: { status: 502, xCache: null },
      },
      { get: "/about", expect: { status: 200, xCache: "HIT", body: "v1" } },
      { origin: "up" },
      { purge: { urls: ["/about"] } },
      {
        get: "/about",
        expect: {
          xCache: "MISS",
          body: "v2",
          cacheStatus: "tidemark; fwd=stale; fwd-status=200; stored; detail=purged",
        },
      },
      { get: "/about", expect: { xCache: "HIT", body: "v2" } },
      { originSaw: { "/about": 2 } },
    ],
  },
  {
    id: "purging/checked-before",
    name: "a page that an unrelated purge left is checked again after the next purge",
    source: "docs/protocol.md#r16-skip",
    origin: { "/about": [v1, v2] },
    steps: [
      { get: "/about", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/other"] } },
      { get: "/about", expect: { xCache: "HIT", body: "v1" } },
      { purge: { urls: ["/about"] } },
      { get: "/about", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purging/by-tag",
    name: "a purge by tag reaches the pages with that tag and no others",
    source: "docs/protocol.md#what-a-purge-promises",
    origin: {
      "/song/42": [v1, v2],
      "/other": [page("max-age=3600", "v1", { "cache-tag": "song:43" })],
    },
    steps: [
      { get: "/song/42", expect: { xCache: "MISS" } },
      { get: "/other", expect: { xCache: "MISS" } },
      { purge: { tags: ["song:42"] } },
      { get: "/other", expect: { xCache: "HIT" } },
      { get: "/song/42", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purging/tags-are-case-sensitive",
    name: "tags are case-sensitive",
    source: "docs/http.md#what-clients-see",
    origin: { "/a": [v1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { tags: ["SONG:42"] } },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "purging/tags-of-route",
    name: "a route's tags count like the origin's tags",
    source: "docs/reference/worker.md#siteinput",
    site: { routes: [{ match: "/plog/:slug", tags: ["plog", "plog:{slug}"] }] },
    origin: {
      "/plog/a": [page("max-age=3600")],
      "/plog/b": [page("max-age=3600")],
    },
    steps: [
      { get: "/plog/a", expect: { xCache: "MISS" } },
      { get: "/plog/b", expect: { xCache: "MISS" } },
      { purge: { tags: ["plog:a"] } },
      { get: "/plog/a", expect: { xCache: "MISS" } },
      { get: "/plog/b", expect: { xCache: "HIT" } },
      { purge: { tags: ["plog"] } },
      { get: "/plog/b", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "purging/tags-of-route-and-escapes",
    name: "a purge by a route's tag reaches the pages whose parameter is escaped, and may spell it as their URL does",
    source: "docs/reference/worker.md#siteinput",
    site: {
      routes: [
        { match: "/wiki/:title", tags: ["page:{title}"] },
        { match: "/:user@:host", tags: ["host:{host}"] },
      ],
    },
    origin: Object.fromEntries(
      [
        "/ann@b@c",
        "/ann%40b@c",
        ...["Foo_(film)", "Foo_%28film%29", "a,b", "a%2Cb", "Ol%C3%A9%20o%22"].map((title) => `/wiki/${title}`),
      ].map((path) => [path, [v1]]),
    ),
    steps: [
      { get: "/wiki/Foo_(film)", expect: { xCache: "MISS" } },
      { get: "/wiki/Foo_%28film%29", expect: { xCache: "MISS" } },
      { purge: { tags: ["page:Foo_(film)"] } },
      { get: "/wiki/Foo_(film)", expect: { xCache: "MISS" } },
      { get: "/wiki/Foo_%28film%29", expect: { xCache: "MISS" } },
      { purge: { tags: ["page:Foo_%28film%29"] } },
      { get: "/wiki/Foo_(film)", expect: { xCache: "HIT" } },
      { get: "/wiki/Foo_%28film%29", expect: { xCache: "MISS" } },
      { get: "/wiki/a,b", expect: { xCache: "MISS", cacheStatus: /stored/ } },
      { get: "/wiki/a%2Cb", expect: { xCache: "MISS" } },
      { purge: { tags: ["page:a%2Cb"] } },
      { get: "/wiki/a,b", expect: { xCache: "MISS" } },
      { get: "/wiki/a%2Cb", expect: { xCache: "MISS" } },
      { get: "/wiki/Ol%C3%A9%20o%22", expect: { xCache: "MISS" } },
      { purge: { tags: ['page:Ol%C3%A9%20o"'] } },
      { get: "/wiki/Ol%C3%A9%20o%22", expect: { xCache: "MISS" } },
      { get: "/ann@b@c", expect: { xCache: "MISS" } },
      { get: "/ann%40b@c", expect: { xCache: "MISS" } },
      { purge: { tags: ["host:b@c"] } },
      { get: "/ann@b@c", expect: { xCache: "MISS" } },
      { get: "/ann%40b@c", expect: { xCache: "MISS" } },
      { purge: { tags: ["host:c"] } },
      { get: "/ann@b@c", expect: { xCache: "HIT" } },
      { get: "/ann%40b@c", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "purging/relative-and-absolute-urls",
    name: "a purge of a relative URL reaches every host, and one of an absolute URL only its host, for http and https",
    source: "docs/reference/http-api.md#purge",
    site: { hosts: ["www.example.test", "m.example.test"] },
    origin: { "/a": [v1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { send: { path: "/a", host: "m.example.test" }, expect: { xCache: "MISS" } },
      { purge: { urls: ["https://m.example.test/a"] } },
      { get: "/a", expect: { xCache: "HIT" } },
      { send: { path: "/a", host: "m.example.test" }, expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"] } },
      { get: "/a", expect: { xCache: "MISS" } },
      { send: { path: "/a", host: "m.example.test" }, expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "purging/any-spelling-of-url",
    name: "a purge by URL reaches the page under every spelling that shares the key",
    source: "docs/http.md#the-cache-key",
    origin: { "/caf%C3%A9?x=1": [v1] },
    steps: [
      { get: "/caf%c3%a9?x=1&utm_source=mail", expect: { xCache: "MISS" } },
      { purge: { urls: ["/café?x=1"] } },
      { get: "/caf%C3%A9?x=1", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "purging/everything-at-once",
    name: "a purge of everything reaches every page",
    source: "docs/reference/http-api.md#purge",
    origin: { "/a": [v1], "/b": [v1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "MISS" } },
      { purge: { everything: true } },
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "purging/bad-item-rejects-all",
    name: "one invalid item makes the edge refuse the whole purge",
    source: "docs/protocol.md#promise-5-purges-are-whole-and-durable",
    origin: { "/a": [v1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      {
        purge: { urls: ["/a"], tags: ["ok", "not ok"] },
        expect: { status: 400, fields: { "content-type": "application/problem+json" } },
      },
      { purge: { urls: ["/a", "https://elsewhere.example/a"] }, expect: { status: 400 } },
      { purge: { urls: ["/a"], tag: ["typo"] }, expect: { status: 400 } },
      { purge: { urls: ["/a"], everything: true }, expect: { status: 400 } },
      { purge: {}, expect: { status: 400 } },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "purging/retried-with-same-id",
    name: "a purge that is retried with its id happens once, and the same id for other items is refused",
    source: "docs/protocol.md#promise-5-purges-are-whole-and-durable",
    origin: { "/a": [v1], "/b": [v1] },
    steps: [
      { purge: { urls: ["/a"], id: "once" } },
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], id: "once" } },
      { get: "/a", expect: { xCache: "HIT" } },
      { purge: { urls: ["/b"], id: "once" }, expect: { status: 409 } },
    ],
  },
  {
    id: "purging/purge-method",
    name: "a PURGE request to a URL purges that URL",
    source: "docs/reference/http-api.md#purge",
    origin: { "/a?x=1": [v1, v2] },
    steps: [
      { get: "/a?x=1", expect: { xCache: "MISS" } },
      { send: { method: "PURGE", path: "/a?x=1" }, expect: { status: 401 } },
      { get: "/a?x=1", expect: { xCache: "HIT" } },
      purgeOf("/a?x=1&utm_source=z", 200),
      { get: "/a?x=1", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purging/purge-method-of-stars",
    name: "in the URL of a PURGE request a star is part of a page's name, unless a segment begins with it",
    source: "docs/reference/http-api.md#purge",
    origin: { "/wiki/A*": [v1, v2], "/img/a.png": [v1] },
    steps: [
      { get: "/wiki/A*", expect: { xCache: "MISS" } },
      { get: "/img/a.png", expect: { xCache: "MISS" } },
      ...["/*", "/img/*", "/img/*.png"].map((path) => purgeOf(path, 400)),
      purgeOf("/wiki/A*", 200),
      { get: "/wiki/A*", expect: { xCache: "MISS", body: "v2" } },
      { get: "/img/a.png", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "purging/wrong-token",
    name: "a wrong or missing token purges nothing",
    source: "docs/reference/http-api.md#purge",
    origin: { "/a": [v1] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      {
        send: {
          method: "POST",
          path: "/_tidemark/purge",
          fields: { "content-type": "application/json" },
          body: '{"everything":true}',
        },
        expect: { status: 401, fields: { "www-authenticate": 'Bearer realm="tidemark"' } },
      },
      {
        send: {
          method: "POST",
          path: "/_tidemark/purge",
          fields: { authorization: "Bearer guess", "content-type": "application/json" },
          body: '{"everything":true}',
        },
        expect: { status: 401 },
      },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "purging/refresh-needs-token",
    name: "a refresh needs the token, stores the new response, and is reported as BYPASS",
    source: "docs/reference/http-api.md#purge",
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/a", fields: { "tidemark-refresh": "guess" }, expect: { status: 401, xCache: null } },
      {
        get: "/a",
        fields: { "tidemark-refresh": "scenario-token-with-32-characters0" },
        expect: { xCache: "BYPASS", body: "v2" },
      },
      { originLastSaw: "/a", fields: { "tidemark-refresh": null } },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "purging/refresh-with-purge",
    name: "a purge can refetch its URLs: the refreshed page is stored and survives its own purge",
    source: "docs/protocol.md#r20-refresh-and-repeat",
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"], refresh: true } },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
      { originSaw: { "/a": 2 } },
      { stats: { "answers.MISS": 1, "answers.BYPASS": 0, "answers.HIT": 2, "origin.asked": 2 } },
    ],
  },
  {
    id: "purging/refresh-in-browsers-codings",
    name: "a purge refetches its URLs in the codings of browsers, which then get the page as the origin codes it",
    source: "docs/protocol.md#r20-refresh-and-repeat; docs/decisions/0011-encodings-are-variants.md",
    origin: { "/a": [zipped("v1"), zipped("v2")] },
    steps: [
      { get: "/a", fields: BROWSER, expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], refresh: true } },
      { originLastSaw: "/a", fields: { "accept-encoding": "br, gzip, zstd" } },
      { get: "/a", fields: BROWSER, expect: { xCache: "HIT", body: "v2" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "purging/refresh-is-an-error",
    name: "a refresh that brings an error with a lifetime leaves the page that is stored",
    source: "docs/protocol.md#r20-refresh-and-repeat",
    origin: { "/a": [page("max-age=60"), { ...page("max-age=60", "broken"), status: 503 }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { get: "/a", fields: { "tidemark-refresh": TOKEN }, expect: { status: 503, xCache: "BYPASS", body: "broken" } },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
    ],
  },
  {
    id: "purging/refresh-carries-trace",
    name: "a purge's traceparent reaches the origin with the refetches, whose pages are still stored",
    source: "docs/security.md#what-of-a-request-reaches-the-origin; www.w3.org/TR/trace-context",
    origin: { "/a": [v1, v2], "/b": [v1, v2], "/c": [v1, v2] },
    steps: [
      { send: tracedPurge("/a", trace), expect: { status: 200 } },
      { originLastSaw: "/a", fields: trace },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      { send: tracedPurge("/b", { ...trace, traceparent: '"<evil>"' }), expect: { status: 200 } },
      { originLastSaw: "/b", fields: { traceparent: null, tracestate: null } },
      { get: "/b", expect: { xCache: "HIT", body: "v1" } },
      { send: tracedPurge("/c", { traceparent: `${trace.traceparent}-later` }), expect: { status: 200 } },
      { originLastSaw: "/c", fields: { traceparent: `${trace.traceparent}-later`, tracestate: null } },
      { get: "/c", expect: { xCache: "HIT", body: "v1" } },
      { get: "/a", fields: { "tidemark-refresh": TOKEN, ...trace }, expect: { xCache: "BYPASS", body: "v2" } },
      { originLastSaw: "/a", fields: { ...trace, "tidemark-refresh": null } },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "purging/refused-while-log-silent",
    name: "while the log is silent, a purge is refused, and the answer says that it may be retried",
    source: "docs/protocol.md#promise-5-purges-are-whole-and-durable",
    only: LOST_LOG,
    steps: [
      { log: "down" },
      { purge: { everything: true }, expect: { status: 503, fields: { "retry-after": "1" } } },
      { log: "up" },
      { purge: { everything: true } },
    ],
  },
  {
    id: "purging/refresh-keeps-other-variants",
    name: "a refresh by an isolate that has just started leaves the page's other variants in the PoP",
    source: "docs/protocol.md#r19-markers",
    only: SEVERAL_ISOLATES,
    origin: {
      "/a": [inLanguage("en", "v1"), inLanguage("de", "v1"), inLanguage("en", "v2")],
    },
    steps: [
      { send: { path: "/a", fields: { "accept-language": "en" } }, expect: { xCache: "MISS", body: "v1 en" } },
      { send: { path: "/a", fields: { "accept-language": "de" } }, expect: { xCache: "MISS", body: "v1 de" } },
      { work: "finished" },
      {
        send: { path: "/a", fields: { "accept-language": "en", "tidemark-refresh": TOKEN }, isolate: "b" },
        expect: { xCache: "BYPASS", body: "v2 en" },
      },
      { work: "finished" },
      {
        send: { path: "/a", fields: { "accept-language": "de" }, isolate: "c" },
        expect: { xCache: "HIT", body: "v1 de" },
      },
      {
        send: { path: "/a", fields: { "accept-language": "en" }, isolate: "c" },
        expect: { xCache: "HIT", body: "v2 en" },
      },
    ],
  },
  {
    id: "purging/refresh-by-new-isolate",
    name: "a refresh by an isolate that has just started is stored",
    source: "docs/protocol.md#r1-stamp",
    origin: { "/a": [v1] },
    steps: [
      { get: "/a", fields: { "tidemark-refresh": "scenario-token-with-32-characters0" }, expect: { xCache: "BYPASS" } },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "purging/repeated-purge",
    name: "a purge can be repeated later, so that it also removes a page fetched from a lagging replica",
    source: "docs/protocol.md#r20-refresh-and-repeat",
    origin: { "/a": [v1, v1, v2] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { purge: { urls: ["/a"], repeatAfterMs: 5_000 } },
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 4_999 },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 1 },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { advanceMs: 10_000 },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "purging/refresh-serves-whole-pop",
    name: "story 29: the whole PoP uses a page that a purge refetched, without fetching it again",
    source: "docs/protocol.md#r20-refresh-and-repeat",
    only: SEVERAL_ISOLATES,
    origin: { "/a": [songsV1, songsV2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], refresh: true } },
      { work: "finished" },
      { advanceMs: 1_250 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "purging/refresh-during-earlier-fetch",
    name: "a fetch that began before a refresh and ends after it replaces the refreshed page nowhere",
    source: "docs/protocol.md#r23-no-waste",
    only: BACKGROUND_WORK,
    origin: { "/a": [{ ...songsV1, hold: "slow" }, songsV2], "/b": [songsV1] },
    steps: [
      { get: "/b", expect: { body: "v1" } },
      { begin: "early", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { advanceMs: 1 },
      { send: { path: "/a", fields: { "tidemark-refresh": TOKEN } }, expect: { body: "v2" } },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
      { release: "slow" },
      { finish: "early", expect: { body: "v1" } },
      { work: "finished" },
      { restart: "isolate" },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "purging/repeated-with-id",
    name: "story 30: a purge with an id is repeated too, and a retry with that id still counts as the first purge",
    source: "docs/protocol.md#r20-refresh-and-repeat; docs/protocol.md#r10-modes",
    origin: { "/a": [songsV1, songsV1, songsV2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], repeatAfterMs: 5_000, id: "once" } },
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 5_000 },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { purge: { urls: ["/a"], repeatAfterMs: 5_000, id: "once" }, expect: { status: 200, body: /"replayed":true/ } },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
];
