import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import { holding } from "../../engine/held-dictionaries.ts";
import { type Expected, type Scenario, type SiteChange, type Step, TOKEN } from "../../engine/scenario.ts";
import { BENEATH_THE_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

/** A script that compresses as scripts do, with one line that is `changed`. */
function script(changed: string): string {
  let state = 7;
  const lines = Array.from({ length: 200 }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return `export const value_${state % 977} = ${state % 1_000_003};`;
  });
  return [...lines.slice(0, 50), changed, ...lines.slice(50)].join("\n");
}

const V1 = script("export const version = 1;");
const V2 = script("export const version = 2;");
const V3 = script("export const version = 3;");

const SOURCE = "docs/server.md#deltas";
const AE = "gzip, deflate, br, zstd, dcb, dcz";
const BROWSER = { "accept-encoding": AE };
/** Browsers that hold a version. */
const HOLDS_V1 = { ...BROWSER, "available-dictionary": holding(V1) };
const HOLDS_V2 = { ...BROWSER, "available-dictionary": holding(V2) };

const VARY = "Accept-Encoding, Available-Dictionary";
const OLD = "/assets/app.4f3a9c1d.js";
const NEW = "/assets/app.91bc04fe.js";

const site: SiteChange = {
  publicUrl: "https://www.example.test",
  compression: {},
  routes: [{ match: "/*", deltas: true }],
};
const only: Scenario["only"] = { on: ["memory", "server"], because: "the Workers runtime has no dictionaries" };
const common = { source: SOURCE, site, only } as const;

function js(body: string, fields: Readonly<Record<string, string>> = {}, cacheControl = "public, max-age=600") {
  return page(cacheControl, body, { "content-type": "text/javascript", ...fields });
}

function html(body: string, fields: Readonly<Record<string, string>> = {}, cacheControl = "max-age=600") {
  return js(body, { "content-type": "text/html", ...fields }, cacheControl);
}

/** What an origin sends that names `Accept-Encoding`, to a request for plain bytes. */
function negotiated(body: string): Reply {
  return js(body, { vary: "Accept-Encoding" });
}

/** What an origin has encoded. The clients of scenarios leave the coding alone under its old name. */
function zipped(body: string): Reply {
  return js(body, { vary: "Accept-Encoding", "content-encoding": "x-gzip" });
}

function gets(path: string, fields: Readonly<Record<string, string>>, expect: Expected): Step {
  return { get: path, fields, expect };
}

const FINISHED: Step = { work: "finished" };

/** Gets a page, so that it is stored and all that follows is made. */
function fetched(path: string, body: string, fields: Readonly<Record<string, string>> = BROWSER): readonly Step[] {
  return [gets(path, fields, { xCache: /MISS|EXPIRED/, body, fields: { "content-encoding": null } }), FINISHED];
}

/** The next answer has this coding. */
function sends(coding: string | null, path: string, fields: Readonly<Record<string, string>>, body = V2): Step {
  return gets(path, fields, { xCache: "HIT", body, fields: { "content-encoding": coding, vary: VARY } });
}

/** Asks twice, so that what the first answer has led to would show. */
function neverByDelta(
  path: string,
  fields: Readonly<Record<string, string>>,
  vary: string,
  body = V2,
): readonly Step[] {
  const expect = { body, fields: { "content-encoding": /^(br|zstd|gzip)$/, vary } };
  return [gets(path, fields, { body }), FINISHED, gets(path, fields, expect), FINISHED, gets(path, fields, expect)];
}

/** Of two versions of a page none is a dictionary, for visitors who say that they hold the first. */
function isNoDictionary(path: string, vary = "Accept-Encoding"): readonly Step[] {
  return [
    gets(path, BROWSER, { body: V1, fields: { "use-as-dictionary": null, vary } }),
    FINISHED,
    { purge: { urls: [path] } },
    { advanceMs: 2000 },
    ...neverByDelta(path, HOLDS_V1, vary),
  ];
}

export const scenarios: readonly Scenario[] = [
  {
    ...common,
    id: "deltas/hashed-name",
    name: "a visitor who has a file's previous version gets a delta, once another visitor's request has made it",
    source: "RFC 9842 §2",
    origin: { [OLD]: [js(V1)], [NEW]: [js(V2, { etag: '"2"' })] },
    steps: [
      gets(OLD, BROWSER, { body: V1, fields: { "use-as-dictionary": 'match="/assets/app.*.js"', vary: VARY } }),
      FINISHED,
      gets(NEW, HOLDS_V1, { xCache: "MISS", body: V2, fields: { "content-encoding": null, vary: VARY } }),
      FINISHED,
      gets(NEW, HOLDS_V1, {
        xCache: "HIT",
        body: V2,
        fields: {
          "content-encoding": "dcz",
          vary: VARY,
          etag: 'W/"2"',
          "use-as-dictionary": 'match="/assets/app.*.js"',
        },
      }),
      sends("br", NEW, BROWSER),
      sends(null, NEW, {}),
      { originSaw: { [OLD]: 1, [NEW]: 1 } },
    ],
  },
  {
    ...common,
    id: "deltas/purged-page",
    name: "a purged version is no longer an answer, but stays a dictionary for visitors who name it",
    origin: { "/a": [html(V1), html(V2)] },
    steps: [
      gets("/a", BROWSER, { body: V1, fields: { "use-as-dictionary": 'match="/a"', vary: VARY } }),
      FINISHED,
      { purge: { urls: ["/a"] } },
      { advanceMs: 2000 },
      ...fetched("/a", V2, HOLDS_V1),
      sends("dcz", "/a", HOLDS_V1),
      sends("br", "/a", BROWSER),
    ],
  },
  {
    ...common,
    id: "deltas/only-purges-of-everything",
    name: "purges of a host, a prefix or a tag also leave dictionaries",
    origin: { "/a": [html(V1, { "cache-tag": "t" }), html(V2, { "cache-tag": "t" })] },
    steps: [
      ...fetched("/a", V1),
      { purge: { hosts: ["www.example.test"], prefixes: ["/a"], tags: ["t"] } },
      { advanceMs: 2000 },
      ...fetched("/a", V2, HOLDS_V1),
      sends("dcz", "/a", HOLDS_V1),
    ],
  },
  {
    ...common,
    id: "deltas/kept-for-a-while",
    name: "a version stays a dictionary for the route's time after it was last sent",
    site: { ...site, routes: [{ match: "/*", deltas: { keep: "1h" } }] },
    origin: { "/a": [html(V1, {}, "max-age=600"), html(V2, {}, "max-age=86400")] },
    steps: [
      ...fetched("/a", V1),
      { advanceMs: 300_000 },
      gets("/a", BROWSER, { xCache: "HIT", body: V1 }),
      { purge: { urls: ["/a"] } },
      { advanceMs: 2000 },
      ...fetched("/a", V2, HOLDS_V1),
      { advanceMs: 3_598_000 },
      // The view may be older than its lease by now.
      gets("/a", HOLDS_V1, { body: V2, fields: { "content-encoding": "dcz" } }),
      { advanceMs: 1 },
      sends("br", "/a", HOLDS_V1),
    ],
  },
  {
    ...common,
    id: "deltas/everything-purged",
    name: "a purge of everything ends all dictionaries, including those with deltas made from them",
    origin: { "/a": [html(V1), html(V2), html(V2), html(V3)] },
    steps: [
      ...fetched("/a", V1),
      { purge: { urls: ["/a"] } },
      { advanceMs: 2000 },
      ...fetched("/a", V2, HOLDS_V1),
      sends("dcz", "/a", HOLDS_V1),
      { purge: { everything: true } },
      { advanceMs: 2000 },
      ...neverByDelta("/a", HOLDS_V1, VARY),
      // What was fetched since is a dictionary again, although it has the same bytes as before.
      { purge: { urls: ["/a"] } },
      { advanceMs: 2000 },
      ...fetched("/a", V3, HOLDS_V2),
      sends("dcz", "/a", HOLDS_V2, V3),
      sends("br", "/a", HOLDS_V1, V3),
    ],
  },
  {
    ...common,
    id: "deltas/everything-made-stale",
    name: "a soft purge of everything leaves dictionaries and pages",
    origin: { "/a": [html(V1), html(V2)] },
    steps: [
      ...fetched("/a", V1),
      { purge: { everything: true, mode: "soft" } },
      { advanceMs: 2000 },
      gets("/a", HOLDS_V1, { body: V2 }),
      FINISHED,
      sends("dcz", "/a", HOLDS_V1),
    ],
  },
  {
    ...common,
    id: "deltas/unknown-hash",
    name: "a dictionary hash that is unknown or malformed changes nothing",
    source: "RFC 9842 §2.2",
    origin: { [NEW]: [js(V2)] },
    steps: [
      ...fetched(NEW, V2),
      ...[holding("never sent"), ":AAAA:", "?1", holding(V2).slice(1), `${holding(V2)}, ${holding(V2)}`].flatMap(
        (field) => neverByDelta(NEW, { ...BROWSER, "available-dictionary": field }, VARY),
      ),
      { stats: { "deltas.sent": 0 } },
    ],
  },
  {
    ...common,
    id: "deltas/other-family",
    name: "a version of another file is not used as a dictionary",
    origin: { "/other.4f3a9c1d.js": [js(V1)], [NEW]: [js(V2)] },
    steps: [...fetched("/other.4f3a9c1d.js", V1), ...neverByDelta(NEW, HOLDS_V1, VARY)],
  },
  {
    ...common,
    id: "deltas/match-of-the-route",
    name: "a route may say for which URLs its files are dictionaries",
    site: { ...site, routes: [{ match: "/app/*", deltas: { match: "/app/:version/main.js" } }] },
    origin: { "/app/1/main.js": [js(V1)], "/app/2/main.js": [js(V2)], "/main.js": [js(V1)] },
    steps: [
      gets("/app/1/main.js", BROWSER, { fields: { "use-as-dictionary": 'match="/app/:version/main.js"' } }),
      FINISHED,
      ...fetched("/app/2/main.js", V2, HOLDS_V1),
      sends("dcz", "/app/2/main.js", HOLDS_V1),
      gets("/main.js", BROWSER, { fields: { "use-as-dictionary": null, vary: "Accept-Encoding" } }),
    ],
  },
  {
    ...common,
    id: "deltas/weights",
    name: "a client gets a delta only in a coding that it accepts and prefers no other to",
    source: "RFC 9842 §6",
    origin: { [OLD]: [js(V1)], [NEW]: [js(V2)] },
    steps: [
      ...fetched(OLD, V1),
      ...fetched(NEW, V2, HOLDS_V1),
      ...["dcb", "zstd", "br"].flatMap((coding) => [
        gets(NEW, { ...HOLDS_V1, "accept-encoding": coding }, { body: V2 }),
        FINISHED,
      ]),
      sends("dcb", NEW, { ...HOLDS_V1, "accept-encoding": "br, dcb" }),
      sends("dcb", NEW, { ...HOLDS_V1, "accept-encoding": "br, dcb, dcz;q=0" }),
      sends("br", NEW, { ...HOLDS_V1, "accept-encoding": "br, dcz;q=0.9" }),
      sends("br", NEW, { ...HOLDS_V1, "accept-encoding": "*" }),
      sends("zstd", NEW, { ...HOLDS_V1, "accept-encoding": "zstd" }),
      sends(null, NEW, { "available-dictionary": holding(V1) }),
      sends(null, NEW, { ...HOLDS_V1, "accept-encoding": "identity" }),
      sends("dcz", NEW, HOLDS_V1),
    ],
  },
  {
    ...common,
    id: "deltas/conditions",
    name: "HEAD, conditions and parts work as with any other coding",
    source: "RFC 9110 §13, §14",
    origin: { [OLD]: [js(V1)], [NEW]: [js(V2, { etag: '"2"' })] },
    steps: [
      ...fetched(OLD, V1),
      ...fetched(NEW, V2, HOLDS_V1),
      {
        send: { method: "HEAD", path: NEW, fields: HOLDS_V1 },
        expect: {
          xCache: "HIT",
          body: "",
          fields: { "content-encoding": "dcz", "content-length": /^\d{2,3}$/, vary: VARY },
        },
      },
      gets(NEW, { ...HOLDS_V1, "if-none-match": 'W/"2"' }, { status: 304, fields: { etag: 'W/"2"', vary: VARY } }),
      gets(NEW, { ...HOLDS_V1, "if-none-match": '"2"' }, { status: 304, fields: { etag: '"2"', vary: VARY } }),
      gets(
        NEW,
        { ...HOLDS_V1, "if-none-match": '"1"' },
        { status: 200, body: V2, fields: { "content-encoding": "dcz" } },
      ),
      gets(
        NEW,
        { ...HOLDS_V1, range: "bytes=0-9" },
        { status: 206, body: V2.slice(0, 10), fields: { "content-encoding": null, vary: VARY } },
      ),
      gets(NEW, { ...HOLDS_V1, range: "bytes=0-9", "if-range": 'W/"2"' }, { status: 200, body: V2 }),
      { stats: { "deltas.sent": 1 } },
    ],
  },
  {
    ...common,
    id: "deltas/credentials",
    name: "an answer to credentials is no dictionary, and a request with credentials always gets the whole page",
    source: "RFC 9842 §9.2",
    origin: { [OLD]: [js(V1)], [NEW]: [js(V2)], "/b.4f3a9c1d.js": [js(V1)], "/b.91bc04fe.js": [js(V2)] },
    steps: [
      ...fetched(OLD, V1, { ...BROWSER, authorization: "Basic YTpi" }),
      ...neverByDelta(NEW, HOLDS_V1, VARY),
      ...fetched("/b.4f3a9c1d.js", V1),
      ...fetched("/b.91bc04fe.js", V2, { ...HOLDS_V1, authorization: "Basic YTpi" }),
      ...neverByDelta("/b.91bc04fe.js", HOLDS_V1, VARY),
    ],
  },
  {
    ...common,
    id: "deltas/request-with-credentials",
    name: "a request with credentials gets the whole page, although others get a delta",
    source: "RFC 9842 §9.2",
    origin: { [OLD]: [js(V1)], [NEW]: [js(V2)] },
    steps: [
      ...fetched(OLD, V1),
      ...fetched(NEW, V2, HOLDS_V1),
      sends("dcz", NEW, HOLDS_V1),
      FINISHED,
      sends("br", NEW, { ...HOLDS_V1, authorization: "Basic YTpi" }),
    ],
  },
  {
    ...common,
    id: "deltas/keyed",
    name: "a page that a cookie, a language, a query, a part's name or another Vary field selects is no dictionary",
    origin: {
      "/cookie": [html(V1, { vary: "Cookie" }), html(V2, { vary: "Cookie" })],
      "/language": [html(V1, { vary: "Accept-Language" }), html(V2, { vary: "Accept-Language" })],
      "/query?page=2": [html(V1), html(V2)],
      "/referer": [html(V1, { vary: "Referer" }), html(V2, { vary: "Referer" })],
      "/part": [html(V1)],
    },
    steps: [
      ...isNoDictionary("/cookie", "Cookie, Accept-Encoding"),
      ...isNoDictionary("/language", "Accept-Language, Accept-Encoding"),
      ...isNoDictionary("/query?page=2"),
      ...isNoDictionary("/referer", "Referer, Accept-Encoding"),
      gets("/part", { ...BROWSER, "hx-request": "true" }, { body: V1, fields: { "use-as-dictionary": null } }),
    ],
  },
  {
    ...common,
    id: "deltas/cookies",
    name: "for a page that is for everybody, a visitor's cookies change nothing",
    origin: { "/a": [html(V1), html(V2)] },
    steps: [
      ...fetched("/a", V1),
      { purge: { urls: ["/a"] } },
      { advanceMs: 2000 },
      ...fetched("/a", V2, HOLDS_V1),
      sends("dcz", "/a", { ...HOLDS_V1, cookie: "sid=1" }),
    ],
  },
  {
    ...common,
    id: "deltas/private",
    name: "a page that is private for browsers is no dictionary, although CDNs may store it",
    origin: {
      "/a": [V1, V2].map((body) => html(body, { "cdn-cache-control": "max-age=600" }, "private, max-age=600")),
    },
    steps: isNoDictionary("/a"),
  },
  {
    ...common,
    id: "deltas/no-browser-lifetime",
    name: "a page with no lifetime in browsers is no dictionary, unless they may use it stale",
    source: "RFC 9842 §2.2.1",
    origin: {
      "/a": [html(V1, {}, "s-maxage=600"), html(V2, {}, "s-maxage=600")],
      "/b": [html(V1, {}, "no-cache, s-maxage=600"), html(V2, {}, "no-cache, s-maxage=600")].map((reply, index) => ({
        ...reply,
        fields: { ...reply.fields, "cdn-cache-control": "max-age=600", etag: `"${index}"` },
      })),
      "/c": [html(V1, {}, "s-maxage=600, max-age=0, stale-while-revalidate=600")],
    },
    steps: [
      ...isNoDictionary("/a"),
      ...isNoDictionary("/b"),
      gets("/c", BROWSER, { fields: { "use-as-dictionary": 'match="/c"', vary: VARY } }),
    ],
  },
  {
    ...common,
    id: "deltas/browser-ttl",
    name: "the lifetime that the owner gives to browsers makes a page a dictionary",
    site: { ...site, routes: [{ match: "/*", deltas: true, browserTtl: "60s" }] },
    origin: { "/a": [html(V1, {}, "s-maxage=600")] },
    steps: [gets("/a", BROWSER, { fields: { "use-as-dictionary": 'match="/a"', vary: VARY } })],
  },
  {
    ...common,
    id: "deltas/insecure",
    name: "over http no page is a dictionary",
    source: "RFC 9842 §8",
    site: { compression: {}, routes: [{ match: "/*", deltas: true }] },
    origin: { "/a": [html(V1), html(V2)] },
    steps: isNoDictionary("/a"),
  },
  {
    ...common,
    id: "deltas/no-transform",
    name: "with no-transform in the page or the request, the whole page is sent plain",
    source: "RFC 9111 §5.2.2.6",
    origin: { "/a": [html(V1, {}, "max-age=600, no-transform")], [OLD]: [js(V1)], [NEW]: [js(V2)] },
    steps: [
      gets("/a", HOLDS_V1, { body: V1, fields: { "use-as-dictionary": null, vary: null } }),
      FINISHED,
      gets("/a", HOLDS_V1, { body: V1, fields: { "content-encoding": null, "use-as-dictionary": null, vary: null } }),
      ...fetched(OLD, V1),
      ...fetched(NEW, V2, HOLDS_V1),
      sends(null, NEW, { ...HOLDS_V1, "cache-control": "no-transform" }),
      sends("dcz", NEW, HOLDS_V1),
    ],
  },
  {
    ...common,
    id: "deltas/own-dictionary",
    name: "if the origin names its own dictionaries, the edge does not interfere",
    origin: { "/a": [html(V1, { "use-as-dictionary": 'match="/*"' })] },
    steps: [
      gets("/a", BROWSER, { fields: { "use-as-dictionary": 'match="/*"', vary: "Accept-Encoding" } }),
      FINISHED,
      gets("/a", { ...HOLDS_V1 }, { fields: { "content-encoding": "br", vary: "Accept-Encoding" } }),
    ],
  },
  {
    ...common,
    id: "deltas/off",
    name: "without the setting no page is a dictionary",
    site: { publicUrl: "https://www.example.test", compression: {} },
    origin: { "/a": [html(V1), html(V2)] },
    steps: isNoDictionary("/a"),
  },
  {
    ...common,
    id: "deltas/not-smaller",
    name: "a delta that is no smaller than the usual form is not sent",
    origin: { [OLD]: [js(`${"0123456789abcdef".repeat(64)}`)], [NEW]: [js("x".repeat(4000))] },
    steps: [
      ...fetched(OLD, "0123456789abcdef".repeat(64)),
      // It is made before the usual form is.
      ...fetched(NEW, "x".repeat(4000), {
        "accept-encoding": "dcz",
        "available-dictionary": holding("0123456789abcdef".repeat(64)),
      }),
      ...neverByDelta(
        NEW,
        { ...BROWSER, "available-dictionary": holding("0123456789abcdef".repeat(64)) },
        VARY,
        "x".repeat(4000),
      ),
    ],
  },
  {
    ...common,
    id: "deltas/confirmed",
    name: "after a purge of everything, a page that the origin confirms is a dictionary again",
    origin: {
      "/a": [
        html(V1, { etag: '"1"' }),
        { status: 304, fields: { etag: '"1"', "cache-control": "max-age=600" } },
        html(V2),
      ],
    },
    steps: [
      ...fetched("/a", V1),
      { purge: { everything: true, mode: "soft" } },
      { advanceMs: 2000 },
      gets("/a", BROWSER, { xCache: "REVALIDATED", body: V1 }),
      FINISHED,
      { purge: { urls: ["/a"] } },
      { advanceMs: 2000 },
      ...fetched("/a", V2, HOLDS_V1),
      sends("dcz", "/a", HOLDS_V1),
    ],
  },
  {
    ...common,
    id: "deltas/from-disk",
    name: "a new process reads dictionaries and deltas from the disk, without asking the origin",
    only: { on: ["server"], because: "only a server of one's own has a disk" },
    origin: { [OLD]: [js(V1)], [NEW]: [js(V2)] },
    steps: [
      ...fetched(OLD, V1),
      ...fetched(NEW, V2, HOLDS_V1),
      sends("dcz", NEW, HOLDS_V1),
      { restart: "isolate" },
      gets(NEW, HOLDS_V1, { body: V2, fields: { vary: VARY } }),
      FINISHED,
      gets(NEW, HOLDS_V1, { body: V2, fields: { vary: VARY } }),
      FINISHED,
      sends("dcz", NEW, HOLDS_V1),
      { originSaw: { [OLD]: 1, [NEW]: 1 } },
    ],
  },
  {
    ...common,
    id: "deltas/everything-purged-on-disk",
    name: "a new process does not use dictionaries on the disk that a purge of everything has ended",
    only: { on: ["server"], because: "only a server of one's own has a disk" },
    origin: { [OLD]: [js(V1)], [NEW]: [js(V2)] },
    steps: [
      ...fetched(OLD, V1),
      { purge: { everything: true } },
      { advanceMs: 2000 },
      { restart: "isolate" },
      ...neverByDelta(NEW, HOLDS_V1, VARY),
    ],
  },
  {
    ...common,
    id: "deltas/plain-from-origin",
    name: "on a route with deltas the origin is asked for plain bytes, so that one version is there for all codings",
    site: { ...site, routes: [{ match: "/assets/*", deltas: true }] },
    origin: {
      [OLD]: [negotiated(V1)],
      [NEW]: [negotiated(V2)],
      "/assets/part.js": [negotiated(V1)],
      "/elsewhere.js": [negotiated(V1)],
    },
    steps: [
      ...fetched(OLD, V1),
      { originLastSaw: OLD, fields: { "accept-encoding": "identity" } },
      ...fetched(NEW, V2, HOLDS_V1),
      sends("dcz", NEW, HOLDS_V1),
      gets(NEW, { "accept-encoding": "gzip" }, { xCache: "HIT", body: V2 }),
      FINISHED,
      sends("gzip", NEW, { "accept-encoding": "gzip" }),
      sends(null, NEW, {}),
      { originSaw: { [OLD]: 1, [NEW]: 1 } },
      gets("/assets/part.js", { ...BROWSER, range: "bytes=0-9" }, { xCache: "MISS" }),
      { originLastSaw: "/assets/part.js", fields: { range: "bytes=0-9", "accept-encoding": "identity" } },
      gets("/elsewhere.js", BROWSER, { xCache: "MISS" }),
      { originLastSaw: "/elsewhere.js", fields: { "accept-encoding": "br, gzip, zstd" } },
    ],
  },
  {
    ...common,
    id: "deltas/origin-encodes-anyway",
    name: "what an origin encodes although it is asked for plain bytes has no deltas, and is there for those who decode it",
    origin: { [OLD]: [zipped("first"), zipped("second"), zipped("third")] },
    steps: [
      gets(OLD, BROWSER, { xCache: "MISS", body: "first", fields: { "use-as-dictionary": null } }),
      { originLastSaw: OLD, fields: { "accept-encoding": "identity" } },
      FINISHED,
      gets(OLD, BROWSER, { xCache: "HIT", body: "first", fields: { "content-encoding": "x-gzip" } }),
      gets(OLD, { "accept-encoding": "gzip" }, { xCache: "HIT", body: "first" }),
      explained(OLD, HOLDS_V1, "encoded", "encoded"),
      gets(OLD, { "accept-encoding": "br" }, { xCache: "MISS", body: "second" }),
      gets(OLD, {}, { xCache: "MISS", body: "third" }),
      gets(OLD, {}, { xCache: "HIT", body: "third" }),
    ],
  },
  {
    ...common,
    id: "deltas/many-followers-in-other-codings",
    name: "clients that cannot use what an origin encodes anyway wait for one fetch before its variants are known and for two after, and then each asks for itself",
    source: "RFC 9110 §12.5.3; docs/http.md#collapsed-requests",
    origin: {
      [OLD]: [
        ...["first", "second", "third", "fourth"].map((hold) => ({ ...zipped("zipped"), hold })),
        zipped("zipped"),
      ],
    },
    steps: [
      ...["br", "zstd", "br, zstd", "identity", "identity"].map((codings, index) => ({
        begin: `client ${index}`,
        send: { path: OLD, fields: { "accept-encoding": codings } },
      })),
      { originSees: OLD, count: 1 },
      { advanceMs: 1 },
      { release: "first" },
      { originSees: OLD, count: 2 },
      { advanceMs: 1 },
      { release: "second" },
      { originSees: OLD, count: 3 },
      { advanceMs: 1 },
      { release: "third" },
      // One is left, or the two that accept the same, depending on who has asked before.
      { originSees: OLD, count: 4 },
      { release: "fourth" },
      ...[0, 1, 2, 3, 4].map((index) => ({ finish: `client ${index}`, expect: { body: "zipped" } })),
    ],
  },
  {
    ...common,
    id: "deltas/encoded-for-one-who-asks",
    name: "what the origin encodes for a visitor who accepts it, because it was not stored before, is not for one who does not",
    source: `${SOURCE}; RFC 9110 §12.5.3`,
    origin: { [OLD]: [page("private", V1), zipped("first"), negotiated(V1)] },
    steps: [
      gets(OLD, BROWSER, { xCache: "MISS", body: V1 }),
      gets(OLD, BROWSER, { xCache: "MISS", body: "first" }),
      { originLastSaw: OLD, fields: { "accept-encoding": "br, gzip, zstd" } },
      FINISHED,
      gets(OLD, BROWSER, { xCache: "HIT", body: "first" }),
      gets(OLD, {}, { xCache: "MISS", body: V1, fields: { "content-encoding": null } }),
      { originLastSaw: OLD, fields: { "accept-encoding": "identity" } },
    ],
  },
  {
    ...common,
    id: "deltas/encoded-before",
    name: "what was stored encoded before the route had deltas answers as before, and is asked for plain the next time",
    only: BENEATH_THE_ISOLATES,
    site: { ...site, routes: [] },
    origin: { [OLD]: [zipped("first"), negotiated(V1)] },
    steps: [
      gets(OLD, BROWSER, { xCache: "MISS", body: "first" }),
      FINISHED,
      { deploy: site },
      { restart: "isolate" },
      gets(OLD, BROWSER, { xCache: "HIT", body: "first", fields: { "content-encoding": "x-gzip" } }),
      { advanceMs: 600_000 },
      gets(OLD, BROWSER, { xCache: "EXPIRED", body: V1, fields: { "use-as-dictionary": /app/, vary: VARY } }),
      { originLastSaw: OLD, fields: { "accept-encoding": "identity" } },
    ],
  },
  {
    ...common,
    id: "deltas/not-stored",
    name: "a page that turns out not to be stored is asked for as the visitor accepts it, for an hour",
    origin: { "/mine": [page("private", V1)] },
    steps: [
      gets("/mine", BROWSER, { xCache: "MISS", body: V1 }),
      { originLastSaw: "/mine", fields: { "accept-encoding": "identity" } },
      gets("/mine", BROWSER, { xCache: "MISS", body: V1 }),
      { originLastSaw: "/mine", fields: { "accept-encoding": "br, gzip, zstd" } },
      { advanceMs: 3_600_000 },
      gets("/mine", BROWSER, { xCache: "MISS", body: V1 }),
      { originLastSaw: "/mine", fields: { "accept-encoding": "identity" } },
    ],
  },
  {
    ...common,
    id: "deltas/no-store-request",
    name: "a request that forbids storing does not change in which coding the page is asked for by others",
    origin: { [OLD]: [js(V1)] },
    steps: [
      gets(OLD, { ...BROWSER, "cache-control": "no-store" }, { body: V1 }),
      gets(OLD, BROWSER, { xCache: "MISS", body: V1 }),
      { originLastSaw: OLD, fields: { "accept-encoding": "identity" } },
    ],
  },
  {
    ...common,
    id: "deltas/explained",
    name: "an explanation names the version that a delta would be based on, or says why there would be none",
    source: "docs/reference/http-api.md#explain",
    origin: { [OLD]: [js(V1)], [NEW]: [js(V2)], "/b": [html(V1, {}, "s-maxage=600")] },
    steps: [
      ...fetched(OLD, V1),
      ...fetched(NEW, V2, HOLDS_V1),
      explained(NEW, HOLDS_V1, "dcz", `dcz ${base64url(holding(V1))}`),
      explained(NEW, { ...HOLDS_V1, authorization: "Basic YTpi" }, "br", "credentials"),
      explained(NEW, BROWSER, "br", "not-wanted"),
      explained(NEW, { ...BROWSER, "available-dictionary": holding("never sent") }, "br", "unknown-dictionary"),
      gets("/b", {}, { body: V1 }),
      FINISHED,
      explained("/b", BROWSER, "br-later", "no-browser-lifetime"),
    ],
  },
];

function base64url(field: string): string {
  return field.replace(/[:=]/g, "").replaceAll("+", "-").replaceAll("/", "_");
}

function explained(url: string, fields: Readonly<Record<string, string>>, coding: string, delta: string): Step {
  const wanted = JSON.stringify([
    { step: "memory", because: "fresh" },
    { step: "coding", because: coding },
    { step: "delta", because: delta },
  ]);
  return {
    send: {
      method: "POST",
      path: "/_tidemark/explain",
      fields: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ url: `https://www.example.test${url}`, fields }),
    },
    expect: { status: 200, body: new RegExp(wanted.replace(/[[\]{}]/g, "\\$&")) },
  };
}
