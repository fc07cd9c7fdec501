import { type Expected, type Scenario, type SiteChange, type Step, TOKEN } from "../../engine/scenario.ts";
import { BENEATH_THE_ISOLATES, SEVERAL_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";
import { MODIFIED } from "../validation/openings.ts";

const MAY_READ = { authorization: `Bearer ${TOKEN}` };
const SOURCE = "docs/reference/http-api.md#explain";

/** Asks what the edge would do with a GET of this URL. */
function explain(url: string, ...told: readonly string[]): Step {
  return { send: { path: `/_tidemark/explain?url=${encodeURIComponent(url)}`, fields: MAY_READ }, expect: tells(told) };
}

/** The same for a request with these fields. */
function explainRequest(url: string, body: object, ...told: readonly string[]): Step {
  const path = `/_tidemark/explain?url=${encodeURIComponent(url)}`;
  const fields = { ...MAY_READ, "content-type": "application/json" };
  return { send: { method: "POST", path, fields, body: JSON.stringify(body) }, expect: tells(told) };
}

/** Each text stands in the answer, in this order. */
function tells(told: readonly string[]): Expected {
  const pattern = told.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*");
  return { status: 200, body: new RegExp(pattern, "s") };
}

const outcome = (xCache: string | null, detail: string | null = null) =>
  `"outcome":${JSON.stringify({ xCache, detail })}`;
const step = (name: string, because: string | null = null) => JSON.stringify({ step: name, because });

const LONG = `/${"a".repeat(200)}`;

const shop: SiteChange = {
  routes: [{ match: "/shop/*", key: { query: { ignore: ["utm_*", "ref"] } }, tags: ["shop"] }],
};

/** What `GET /_tidemark/explain` tells of the page, of what is stored, and of what would happen now. */
export const scenarios: readonly Scenario[] = [
  {
    id: "explain/route-and-key",
    name: "an explanation names the route, the key, and the parameters that are dropped from the URL",
    source: SOURCE,
    site: shop,
    steps: [
      explain(
        "/shop/a?utm_source=mail&page=2&ref=x",
        '"route":"/shop/*"',
        '"key":"http://www.example.test/shop/a?page=2"',
        '"dropped":["utm_source=mail","ref=x"]',
      ),
      explain("/about", '"route":null', '"key":"http://www.example.test/about"', '"dropped":[]'),
      explain(
        "/a\\b",
        '"key":null',
        outcome(null, "url-refused"),
        '"step":"refuse","because":"the path has a backslash',
      ),
      explain("https://other.example/", '"key":null', outcome(null, "host-unknown")),
      explain("/_tidemark/health", '"key":null', outcome(null), step("control-plane")),
      explain("//_tidemark/health", '"key":null', outcome(null, "url-refused")),
    ],
  },
  {
    id: "explain/too-long",
    name: "an explanation says that a URL is too long",
    source: SOURCE,
    site: { limits: { urlBytes: 200 } },
    steps: [
      {
        send: {
          method: "POST",
          path: "/_tidemark/explain",
          fields: { ...MAY_READ, "content-type": "application/json" },
          body: JSON.stringify({ url: LONG }),
        },
        expect: tells(['"key":null', outcome(null, "url-too-long"), '"refuse","because":"it is longer than 200 bytes']),
      },
      { get: LONG, expect: { status: 414, cacheStatus: /detail=url-too-long/ } },
    ],
  },
  {
    id: "explain/miss-then-hit",
    name: "an explanation says whether a request would hit or miss, and what is stored, since when, for how long and with which tags",
    source: SOURCE,
    site: shop,
    origin: { "/shop/a": [page("max-age=60", "v1", { "cache-tag": "song:42" })] },
    steps: [
      explain(
        "/shop/a",
        '"memory":null,"sharedTier":null',
        outcome("MISS"),
        step("fetch", "fetch"),
        step("store", "yes"),
      ),
      { originSaw: { "/shop/a": 0 } },
      { get: "/shop/a", expect: { xCache: "MISS" } },
      { work: "finished" },
      { advanceMs: 10_000 },
      explain(
        "/shop/a",
        '"memory":{"status":200,"bodyBytes":2,"since":"2026-01-01T12:00:00.000Z","ageSeconds":10,"freshForSeconds":50',
        '"tags":["shop","song:42"]}',
        '"sharedTier":{"status":200',
        '"purge":null',
        outcome("HIT"),
        `[${step("memory", "fresh")}]`,
      ),
      { work: "finished" },
      { restart: "isolate" },
      explain("/shop/a", '"memory":null,"sharedTier":{"status":200', outcome("HIT"), step("sharedTier", "fresh")),
      { originSaw: { "/shop/a": 1 } },
    ],
  },
  {
    id: "explain/origin-down",
    name: "an explanation says that the origin is known to be down, and what is sent in its place",
    source: SOURCE,
    site: { limits: { originDownAfter: 2 }, routes: [{ match: "/pass/*", pass: true }] },
    origin: { "/a": [page("max-age=60, stale-if-error=600", "v1")], "/fresh": [page("max-age=600", "fresh")] },
    steps: [
      ...["/a", "/fresh"].map((path): Step => ({ get: path, expect: { xCache: "MISS" } })),
      { advanceMs: 61_000 },
      { origin: "down" },
      { get: "/x", expect: { status: 502 } },
      explain("/b", outcome("MISS"), step("fetch", "fetch")),
      { get: "/y", expect: { status: 502 } },
      explain("/b", outcome(null, "origin-down"), step("fetch", "fetch"), step("origin-down")),
      { get: "/b", expect: { status: 503, cacheStatus: /detail=origin-down/ } },
      explain("/pass/b", outcome(null, "origin-down"), step("bypass", "pass"), step("origin-down")),
      { get: "/pass/b", expect: { status: 503, cacheStatus: /detail=origin-down/ } },
      explain("/a", outcome("STALE", "stale-if-error"), step("origin-down"), step("stale-if-error", "stale-if-error")),
      { get: "/a", expect: { xCache: "STALE", cacheStatus: /detail=stale-if-error/ } },
      explain("/fresh", outcome("HIT"), `[${step("memory", "fresh")}]`),
      explainRequest("/b", { fields: { "cache-control": "only-if-cached" } }, outcome(null, "only-if-cached")),
      { originSaw: { "/b": 0, "/pass/b": 0, "/a": 1 } },
    ],
  },
  {
    id: "explain/changes-nothing",
    name: "an explanation counts no answer, stores nothing, and does not ask the origin",
    source: SOURCE,
    origin: { "/a": [page("max-age=60", "v1", { vary: "accept-language" })] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { work: "finished" },
      { restart: "isolate" },
      explain("/a", outcome("HIT")),
      explain("/b", outcome("MISS")),
      { stats: { "memory.entries": 0, "origin.asked": 0, "store.stored": 0 } },
      { originSaw: { "/a": 1, "/b": 0 } },
    ],
  },
  {
    id: "explain/purge",
    name: "an explanation names the purge that touched a page, its time and its caller",
    source: SOURCE,
    origin: { "/a": [page("max-age=60", "v1", { etag: '"1"', "cache-tag": "t" })] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { tags: ["t"], mode: "soft", reason: "new prices" } },
      explain(
        "/a",
        '"purge":{"seq":1,"made":"soft"',
        '"reason":"new prices"',
        outcome("EXPIRED", "soft-purge"),
        step("memory", "soft-purge"),
        step("revalidate"),
      ),
      { purge: { urls: ["/a"] } },
      explain(
        "/a",
        '"purge":{"seq":2,"made":"purged"',
        '"items":["/a"]',
        outcome("MISS", "purged"),
        step("memory", "purged"),
      ),
      { get: "/a", expect: { xCache: "MISS", cacheStatus: /fwd=stale/ } },
      explain("/a", '"purge":null', outcome("HIT")),
    ],
  },
  {
    id: "explain/stale",
    name: "an explanation says when a stale page may still be used",
    source: SOURCE,
    origin: { "/a": [page("max-age=1, stale-while-revalidate=10, stale-if-error=60", "v1", { etag: '"1"' })] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { work: "finished" },
      { advanceMs: 2_000 },
      explain("/a", outcome("UPDATING", "stale-while-revalidate"), step("memory", "stale-while-revalidate")),
      { advanceMs: 20_000 },
      explain(
        "/a",
        outcome("EXPIRED"),
        step("memory", "stale"),
        step("revalidate"),
        step("stale-if-error", "stale-if-error"),
      ),
      { origin: "down" },
      { get: "/a", expect: { xCache: "STALE" } },
    ],
  },
  {
    id: "explain/stale-by-site",
    name: "an explanation says that the owner's rules, and not the response, allow a stale page",
    source: SOURCE,
    site: { stale: { whileRevalidate: "10s", ifError: "30s", ifDisconnected: "60s" } },
    origin: { "/a": [page("max-age=1", "v1", { etag: '"1"' })] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { work: "finished" },
      { advanceMs: 2_000 },
      explain("/a", outcome("UPDATING", "stale.whileRevalidate"), step("memory", "stale.whileRevalidate")),
      { advanceMs: 20_000 },
      explain(
        "/a",
        outcome("EXPIRED"),
        step("memory", "stale"),
        step("revalidate"),
        step("stale-if-error", "stale.ifError"),
      ),
      { advanceMs: 30_000 },
      explain("/a", outcome("EXPIRED"), step("stale-if-error", "stale.ifDisconnected")),
    ],
  },
  {
    id: "explain/purged-in-memory-alone",
    name: "an explanation distinguishes a purged page in memory from its successor in the shared tier",
    source: SOURCE,
    only: SEVERAL_ISOLATES,
    origin: { "/a": [page("max-age=3600"), page("max-age=3600", "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { work: "finished" },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { purge: { urls: ["/a"], reason: "new" } },
      { advanceMs: 2_000 },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { work: "finished" },
      {
        send: { path: `/_tidemark/explain?url=${encodeURIComponent("/a")}`, fields: MAY_READ, isolate: "b" },
        expect: tells([
          '"purge":{"seq":1,"made":"purged","record":{"seq":1,',
          outcome("HIT"),
          `"steps":[${step("memory", "purged")},${step("sharedTier", "fresh")}]`,
        ]),
      },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "explain/stored-meanwhile",
    name: "a page that is stored while an explanation looks for it is explained as one in memory",
    source: SOURCE,
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [page("max-age=60", "v1")] },
    steps: [
      { holdNext: "look-up", until: "found" },
      { begin: "explanation", send: { path: `/_tidemark/explain?url=${encodeURIComponent("/a")}`, fields: MAY_READ } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "MISS" } },
      { work: "finished" },
      { release: "found" },
      {
        finish: "explanation",
        expect: tells([
          '"memory":{"status":200',
          '"sharedTier":null',
          outcome("HIT"),
          `"steps":[${step("memory", "fresh")}]`,
        ]),
      },
    ],
  },
  {
    id: "explain/purge-that-decides",
    name: "an explanation names the purge of the page that decides, not an earlier one of an older copy in memory",
    source: SOURCE,
    only: SEVERAL_ISOLATES,
    site: { purge: { softForMs: 5_000 } },
    origin: { "/a": [page("max-age=3600"), page("max-age=3600", "v2", { etag: '"2"' })] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { work: "finished" },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { purge: { urls: ["/a"] } },
      { advanceMs: 2_000 },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
      { work: "finished" },
      { purge: { urls: ["/a"], mode: "soft" } },
      { advanceMs: 2_000 },
      {
        send: { path: `/_tidemark/explain?url=${encodeURIComponent("/a")}`, fields: MAY_READ, isolate: "b" },
        expect: tells([
          '"purge":{"seq":2,"made":"soft"',
          outcome("UPDATING", "soft-purge"),
          `"steps":[${step("memory", "purged")},${step("sharedTier", "soft-purge")}]`,
        ]),
      },
      { advanceMs: 10_000 },
      {
        send: { path: `/_tidemark/explain?url=${encodeURIComponent("/a")}`, fields: MAY_READ, isolate: "b" },
        expect: tells(['"purge":{"seq":2,"made":"soft"', outcome("EXPIRED", "soft-purge"), step("revalidate")]),
      },
    ],
  },
  {
    id: "explain/last-refusal",
    name: "an explanation says why and when a page could not be stored, until it has been stored",
    source: SOURCE,
    origin: {
      "/a": [
        page("max-age=60", "v1", { "set-cookie": "a=1" }),
        page("max-age=60", "v1", { "set-cookie": "a=1" }),
        page("max-age=60"),
      ],
      "/field": [page("max-age=60")],
      "/token": [{ fields: { "x-auth-token": "of ann" }, body: "v1" }],
    },
    site: { routes: [{ match: "/token", ttl: "1h" }] },
    steps: [
      { get: "/token", expect: { xCache: "MISS" } },
      explain("/token", '"lastRefusal":{"because":"set-cookie:x-auth-token","at"'),
      explain("/a", step("store", "yes"), '],"nearest"'),
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 5_000 },
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 7_000 },
      explain("/a", step("store", "yes"), '"lastRefusal":{"because":"set-cookie","at":"2026-01-01T12:00:05.'),
      explain("/b", step("store", "yes"), '],"nearest"'),
      { get: "/a", expect: { xCache: "MISS" } },
      { work: "finished" },
      explain("/a", outcome("HIT"), '],"nearest"'),
      { purge: { urls: ["/a"] } },
      { advanceMs: 2_000 },
      explain("/a", outcome("MISS", "purged"), step("store", "yes"), '],"nearest"'),
      { send: { method: "POST", path: "/a" }, expect: { xCache: "BYPASS" } },
      explain("/a", step("store", "yes"), '],"nearest"'),
    ],
  },
  {
    id: "explain/stored-elsewhere-since",
    name: "an explanation says nothing of an answer that was not stored, if another isolate has stored the page since",
    source: SOURCE,
    only: { on: ["memory", "server"], because: "the runtime has one isolate" },
    origin: { "/a": [page("max-age=60", "v1", { "set-cookie": "a=1" }), page("max-age=60")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 1_000 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS" } },
      { work: "finished" },
      { advanceMs: 70_000 },
      explain("/a", step("fetch", "fetch"), '],"nearest"'),
    ],
  },
  ...(
    [
      ["too-large", "too-large", { storeBytes: 4 }, { framing: "chunked" }],
      ["over-budget", "over-budget", { fillBytes: 1 }, { framing: "chunked" }],
      ["cut-off", "cut-off", {}, { cutAfterBytes: 4 }],
      ["large-cut-off", "cut-off", { storeBytes: 4 }, { cutAfterBytes: 4 }],
    ] as const
  ).map(
    ([id, because, limits, sent]): Scenario => ({
      id: `explain/turns-out-${id}`,
      name: `an explanation says that the copy of a page was given up while its body came: ${id}`,
      source: SOURCE,
      site: { limits },
      origin: { "/a": [{ ...page("max-age=60", "0123456789"), ...sent }] },
      steps: [
        { get: "/a", expect: { cacheStatus: /; stored$/, cutOff: because === "cut-off" } },
        { work: "finished" },
        explain("/a", step("store", "yes"), `"lastRefusal":{"because":"${because}"`),
        { stats: { [`store.refused.${because}`]: 1, [`store.discarded.${because}`]: 0 } },
      ],
    }),
  ),
  {
    id: "explain/unreadable-cache-control",
    name: "an explanation says which Cache-Control could not be read, as far as ASCII can",
    source: SOURCE,
    origin: { "/a": [page("public; max-age=60")], "/long": [page(`max-age=60 pub\u00e9 ${"x".repeat(100)}`)] },
    steps: [
      { get: "/a", expect: { cacheStatus: /detail="unreadable-cache-control:public; max-age=60"$/ } },
      explain("/a", '"lastRefusal":{"because":"unreadable-cache-control:public; max-age=60"'),
      { get: "/long", expect: { cacheStatus: /detail="unreadable-cache-control:max-age=60 pub\?+ x{46,48}"$/ } },
      { stats: { "store.refused.unreadable-cache-control": 2, "store.refused.no-store": 0 } },
    ],
  },
  {
    id: "explain/past-the-cache",
    name: "an explanation says why a request goes past the cache",
    source: SOURCE,
    site: { bypass: { cookies: ["sid"] }, routes: [{ match: "/pass/*", pass: true }] },
    steps: [
      explainRequest(
        "/a",
        { fields: { Cookie: "sid=1" } },
        outcome("BYPASS", "bypass-cookie"),
        step("bypass", "bypass-cookie"),
      ),
      explainRequest("/a", { method: "POST" }, outcome("BYPASS"), step("bypass", "method")),
      explainRequest("/a", { fields: { "If-Match": '"1"' } }, outcome("BYPASS"), step("bypass", "condition")),
      explain("/pass/a", outcome("BYPASS"), step("bypass", "pass")),
      explainRequest("/a", { fields: { "Max-Forwards": "0" }, method: "OPTIONS" }, outcome(null, "max-forwards")),
    ],
  },
  {
    id: "explain/refresh",
    name: "an explanation of a refresh says whether its token may purge",
    source: SOURCE,
    origin: { "/a": [page("max-age=60"), page("max-age=60", "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      explainRequest("/a", { fields: { "Tidemark-Refresh": TOKEN } }, outcome("BYPASS", "refresh"), step("refresh")),
      { get: "/a", fields: { "tidemark-refresh": TOKEN }, expect: { xCache: "BYPASS", cacheStatus: /detail=refresh/ } },
      explainRequest(
        "/a",
        { fields: { "Tidemark-Refresh": "wrong" } },
        outcome(null, "refresh-refused"),
        `[${step("refresh", "unauthorized")}]`,
      ),
      { get: "/a", fields: { "tidemark-refresh": "wrong" }, expect: { status: 401, xCache: null } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "explain/request-decides-storing",
    name: "an explanation names the part of a request that keeps its answer from being stored",
    source: SOURCE,
    origin: { "/dated": [{ fields: { "last-modified": MODIFIED }, body: "v1" }] },
    steps: [
      explainRequest("/a", { fields: { Cookie: "id=1" } }, outcome("MISS"), step("store", "if-for-everybody")),
      explainRequest("/a", { fields: { Authorization: "Basic x" } }, step("store", "if-wholly-for-everybody")),
      explainRequest(
        "/a",
        { fields: { Authorization: "Basic x", Range: "bytes=0-1" } },
        step("fetch", "forward"),
        step("store", "no"),
      ),
      explainRequest("/a", { fields: { "X-App": "2" } }, step("store", "yes"), step("store", "unkeyed-field:x-app")),
      explainRequest(
        "/a",
        { fields: { "Cache-Control": "no-store" } },
        step("fetch", "fetch-unstored"),
        step("store", "no"),
      ),
      explainRequest("/a", { fields: { "Cache-Control": "only-if-cached" } }, outcome(null, "only-if-cached")),
      explainRequest("/a", { fields: { Range: "bytes=0-1" } }, step("fetch", "part"), step("store", "no")),
      { get: "/dated", expect: { xCache: "MISS" } },
      explainRequest(
        "/dated",
        { fields: { "If-Modified-Since": MODIFIED } },
        outcome("MISS"),
        step("fetch", "date"),
        step("store", "no"),
      ),
    ],
  },
  {
    id: "explain/another-fetch",
    name: "an explanation says that another request is already fetching the page, or that requests do not wait for each other",
    source: SOURCE,
    origin: {
      "/a": [{ ...page("max-age=60"), hold: "answer" }],
      "/own": [page("private")],
    },
    steps: [
      { begin: "first", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      explain("/a", outcome("MISS"), step("follow"), step("store", "yes")),
      { release: "answer" },
      { finish: "first", expect: { xCache: "MISS" } },
      { get: "/own", expect: { xCache: "MISS" } },
      explain("/own", outcome("MISS"), step("hit-for-miss")),
    ],
  },
  {
    id: "explain/cookie-waits-for-no-validation",
    name: "an explanation does not let a visitor with a cookie wait where each request for the held page is to ask the origin",
    source: `${SOURCE}; docs/decisions/0007-what-a-follower-may-take.md`,
    origin: {
      "/a": [
        page("no-cache", "v1", { etag: '"1"' }),
        { status: 304, fields: { etag: '"1"' }, hold: "answer" },
        { status: 304, fields: { etag: '"1"' } },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { begin: "anonymous", send: { path: "/a" } },
      { originSees: "/a", count: 2 },
      explain("/a", step("follow"), step("revalidate")),
      explainRequest("/a", { fields: { Cookie: "id=1" } }, `${step("fetch", "fetch")},${step("revalidate")}`),
      { get: "/a", fields: { cookie: "id=1" }, expect: { xCache: "REVALIDATED" } },
      { originSaw: { "/a": 3 } },
      { release: "answer" },
      { finish: "anonymous", expect: { xCache: "REVALIDATED" } },
    ],
  },
  {
    id: "explain/nearest-keys",
    name: "on a miss, an explanation names the most similar stored keys and their differences",
    source: SOURCE,
    origin: {
      "/list?page=1": [page("max-age=60")],
      "/list?page=1&token=secret": [page("max-age=60")],
      "/About/": [page("max-age=60")],
      "/de": [page("max-age=60", "v1", { vary: "accept-language" })],
      "/far?a=1&b=2&c=3&d=4&e=5": [page("max-age=60")],
    },
    steps: [
      { get: "/list?page=1", expect: { xCache: "MISS" } },
      { get: "/list?page=1&token=secret", expect: { xCache: "MISS" } },
      { get: "/About/", expect: { xCache: "MISS" } },
      { get: "/de", fields: { "accept-language": "de" }, expect: { xCache: "MISS" } },
      { get: "/far?a=1&b=2&c=3&d=4&e=5", expect: { xCache: "MISS" } },
      explain(
        "/list?page=2",
        '"nearest":[{"key":"http://www.example.test/list?page=1","differsIn":["query page=2","query page=1"]}',
        '{"key":"http://www.example.test/list?page=1&token=…","differsIn":["query page=2","query page=1","query token=…"]}]',
      ),
      explain("/about", '"differsIn":["path http://www.example.test/About/"]'),
      explainRequest(
        "/de",
        { fields: { "accept-language": "en" } },
        step("memory", "other-variants"),
        '"nearest":[{"key":"http://www.example.test/de","differsIn":["field accept-language"]}]',
      ),
      explain("/far", '"nearest":[]'),
    ],
  },
  {
    id: "explain/silent-log",
    name: "while the log is silent, an explanation says that the page may have been purged",
    source: SOURCE,
    only: { on: ["memory", "server"], because: "the log of the runtime always answers" },
    origin: { "/a": [page("max-age=60")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { log: "down" },
      { advanceMs: 5_000 },
      explain("/a", outcome("MISS", "purge-state-unknown"), step("memory", "purge-state-unknown")),
      { get: "/a", expect: { xCache: "MISS", cacheStatus: /detail=purge-state-unknown/ } },
    ],
  },
  {
    id: "explain/wrong-calls",
    name: "an explanation needs a URL, a token that may read, and a body that it understands",
    source: SOURCE,
    steps: [
      { get: "/_tidemark/explain?url=/a", expect: { status: 401 } },
      { send: { path: "/_tidemark/explain", fields: MAY_READ }, expect: { status: 400, body: /"path":"url"/ } },
      { send: { path: "/_tidemark/explain?url=a", fields: MAY_READ }, expect: { status: 400, body: /absolute URL/ } },
      {
        send: {
          method: "POST",
          path: "/_tidemark/explain?url=/a",
          fields: { ...MAY_READ, "content-type": "application/json" },
          body: '{"field":{}}',
        },
        expect: { status: 400, body: /unknown field field; known are url, method, fields/ },
      },
      {
        send: { method: "POST", path: "/_tidemark/explain?url=/a", fields: MAY_READ, body: "{}" },
        expect: { status: 415 },
      },
    ],
  },
];
