import { HOST, type Scenario } from "../../engine/scenario.ts";
import { page } from "../page.ts";

const kept = page("max-age=60");

const redirect = (location: string, cacheControl: string) => ({
  status: 301,
  fields: { location, "cache-control": cacheControl },
  body: "",
});

const to = (location: string) => ({ status: 301, fields: { location } });

/** Which requests share an entry. */
export const scenarios: readonly Scenario[] = [
  {
    id: "key/tracking-parameters",
    name: "tracking parameters are neither keyed nor sent to the origin",
    source: "docs/http.md#the-cache-key",
    origin: { "/a?x=1": [kept] },
    steps: [
      { get: "/a?utm_source=mail&x=1&fbclid=2", expect: { xCache: "MISS", body: "v1" } },
      { get: "/a?x=1", expect: { xCache: "HIT" } },
      { get: "/a?gclid=9&x=1", expect: { xCache: "HIT" } },
      { get: "/a?x=1&CMCD=bl%3D21300%2Cot%3Dv", expect: { xCache: "HIT" } },
      { originSaw: { "/a?x=1": 1 } },
    ],
  },
  {
    id: "key/trackers-on-redirects",
    name: "a redirect within the site has the tracking parameters that the origin did not get",
    source: "docs/http.md#redirects",
    site: { routes: [{ match: "/all", key: { query: { ignore: [] } } }] },
    origin: {
      "/a?x=1": [redirect("/a/?x=1#top", "max-age=60")],
      "/b": [redirect(`https://${HOST}/c?utm_source=own`, "no-store")],
      "/away": [redirect("https://elsewhere.test/", "max-age=60")],
      "/d?gclid=2": [redirect("/e", "no-store")],
      "/g": [redirect("/h", "max-age=60")],
      "/all?gclid=2": [redirect("/f", "max-age=60")],
      "/same?x=1": [redirect("#part", "max-age=60")],
    },
    steps: [
      {
        get: "/a?utm_source=mail&x=1&gclid=2",
        expect: { xCache: "MISS", ...to("/a/?x=1&utm_source=mail&gclid=2#top") },
      },
      { get: "/a?x=1", expect: { xCache: "HIT", ...to("/a/?x=1#top") } },
      { get: "/a?fbclid=3&x=1", expect: { xCache: "HIT", ...to("/a/?x=1&fbclid=3#top") } },
      { get: "/b?utm_source=mail&utm_medium=x", expect: to(`https://${HOST}/c?utm_source=own&utm_medium=x`) },
      { get: "/g?gclid=2", fields: { range: "bytes=0-9" }, expect: to("/h?gclid=2") },
      { get: "/g?gclid=3", fields: { "cache-control": "no-store" }, expect: to("/h?gclid=3") },
      { get: "/same?x=1&gclid=2", expect: to("#part") }, // it keeps the query that the client has
      { get: "/away?gclid=2", expect: to("https://elsewhere.test/") },
      { send: { method: "POST", path: "/d?gclid=2" }, expect: to("/e") },
      { get: "/all?gclid=2", expect: to("/f") },
    ],
  },
  {
    id: "key/query-of-what-is-not-stored",
    name: "a request whose answer is never stored reaches the origin with the query that the client sent",
    source: "docs/http.md#the-cache-key",
    site: {
      bypass: { cookies: ["sid"] },
      routes: [
        {
          match: "/search",
          key: { query: { only: ["q"], lowercase: ["q"] } },
          store: { when: { query: { q: { maxLength: 3 } } } },
        },
      ],
    },
    origin: { "/a?gclid=9&x=1": [kept], "/search?sign=1&q=LONG": [kept] },
    steps: [
      { send: { method: "POST", path: "/a?gclid=9&x=1" }, expect: { xCache: "BYPASS", body: "v1" } },
      { send: { method: "PUT", path: "/a?gclid=9&x=1", body: "x" }, expect: { xCache: "BYPASS", body: "v1" } },
      { get: "/a?gclid=9&x=1", fields: { cookie: "sid=1" }, expect: { xCache: "BYPASS", body: "v1" } },
      { get: "/a?gclid=9&x=1", fields: { "if-match": '"1"' }, expect: { xCache: "BYPASS", body: "v1" } },
      { get: "/search?sign=1&q=LONG", expect: { xCache: "BYPASS", body: "v1" } },
    ],
  },
  {
    id: "key/query-of-a-part",
    name: "a part is requested from the origin with the query of the key, as the whole page is",
    source: "docs/http.md#the-cache-key",
    origin: { "/a?x=1": [{ ...kept, status: 206, fields: { "content-range": "bytes 0-1/9" } }] },
    steps: [{ get: "/a?gclid=9&x=1", fields: { range: "bytes=0-1" }, expect: { status: 206, body: "v1" } }],
  },
  {
    id: "key/parameter-order",
    name: "another order of parameters makes another entry unless the route sorts them",
    source: "docs/http.md#the-cache-key",
    site: { routes: [{ match: "/sorted", key: { query: { sort: true } } }] },
    origin: { "/a?x=1&y=2": [kept], "/a?y=2&x=1": [{ ...kept, body: "v2" }], "/sorted?x=1&y=2": [kept] },
    steps: [
      { get: "/a?x=1&y=2", expect: { xCache: "MISS", body: "v1" } },
      { get: "/a?y=2&x=1", expect: { xCache: "MISS", body: "v2" } },
      { get: "/sorted?y=2&x=1", expect: { xCache: "MISS", body: "v1" } },
      { get: "/sorted?x=1&y=2", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "key/one-normalized-parameter",
    name: "a route can key by some parameters, lowercased and trimmed, and the origin gets that form",
    source: "docs/reference/worker.md#siteinput",
    site: { routes: [{ match: "/search", key: { query: { only: ["q", "by_*"], lowercase: ["q"], trim: ["q"] } } }] },
    origin: { "/search?q=the%20wall": [kept], "/search?q=the%20wall&by_year=1": [{ ...kept, body: "v2" }] },
    steps: [
      { get: "/search?q=+The+Wall%20&page=1", expect: { xCache: "MISS", body: "v1" } },
      { get: "/search?q=THE%20WALL", expect: { xCache: "HIT" } },
      { get: "/search?q=The+Wall&by_year=1", expect: { xCache: "MISS", body: "v2" } },
      { originSaw: { "/search?q=the%20wall": 1, "/search?q=the%20wall&by_year=1": 1 } },
    ],
  },
  {
    id: "key/equivalent-spellings",
    name: "equivalent spellings of a URL share one entry: escapes of plain characters, letter case of escapes, an empty query",
    source: "RFC 3986 §6.2.2",
    origin: { "/caf%C3%A9": [kept] },
    steps: [
      { get: "/caf%c3%a9", expect: { xCache: "MISS" } },
      { get: "/%63af%C3%A9", expect: { xCache: "HIT" } },
      { get: "/caf%C3%A9?", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "key/distinguishable-spellings",
    name: "spellings that an origin could tell apart are separate entries",
    source: "docs/http.md#the-cache-key",
    origin: {
      "/a": [kept],
      "/a/": [{ ...kept, body: "slash" }],
      "//a": [{ ...kept, body: "two" }],
      "/A": [{ ...kept, body: "upper" }],
      "/a;x": [{ ...kept, body: "semi" }],
      "/a%2Fb": [{ ...kept, body: "encoded" }],
      "/a/b": [{ ...kept, body: "plain" }],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { get: "/a/", expect: { xCache: "MISS", body: "slash" } },
      { get: "//a", expect: { xCache: "MISS", body: "two" } },
      { get: "/A", expect: { xCache: "MISS", body: "upper" } },
      { get: "/a;x", expect: { xCache: "MISS", body: "semi" } },
      { get: "/a%2fb", expect: { xCache: "MISS", body: "encoded" } },
      { get: "/a/b", expect: { xCache: "MISS", body: "plain" } },
    ],
  },
  {
    id: "key/encoded-dot-segment",
    name: "an encoded dot segment cannot smuggle a path past its route",
    source: "docs/http.md#the-cache-key",
    site: { routes: [{ match: "/admin/*", pass: true }] },
    origin: { "/admin/x": [kept] },
    steps: [
      { get: "/public/%2e%2e/admin/x", expect: { xCache: "BYPASS", body: "v1" } },
      { get: "/public/%2E%2E/admin/x", expect: { xCache: "BYPASS" } },
    ],
  },
  {
    id: "key/malformed-escape",
    name: "a malformed escape or an encoded control character is refused, and the origin is not asked",
    source: "docs/http.md#the-cache-key",
    steps: [
      { get: "/a%zz", expect: { status: 400, xCache: null } },
      { get: "/%5Ftidemark/stats", expect: { status: 400 } },
      { get: "/a%00b", expect: { status: 400 } },
      { get: "/a%0d%0ab", expect: { status: 400 } },
      { originSaw: { "/a%zz": 0, "/a%00b": 0 } },
    ],
  },
  {
    id: "key/public-url",
    name: "the public URL replaces the address under which the edge was reached",
    source: "docs/reference/worker.md#siteinput",
    site: { publicUrl: "https://www.example.test" },
    origin: { "/a": [page("max-age=60")] },
    steps: [
      { send: { path: "/a", host: "localhost:8787" }, expect: { xCache: "MISS" } },
      { originLastSaw: "/a", fields: { "x-forwarded-host": "www.example.test", "x-forwarded-proto": "https" } },
      { purge: { urls: ["https://www.example.test/a"] } },
      { send: { path: "/a", host: "localhost:8787" }, expect: { xCache: "MISS" } },
      { purge: { urls: ["https://localhost:8787/a"] }, expect: { status: 400 } },
    ],
  },
  {
    id: "key/name-in-full",
    name: "a host with the point that ends a name in full is the same host, in requests and in purges",
    source: "RFC 3986 §3.2.2",
    origin: { "/a": [page("max-age=60")] },
    steps: [
      { send: { path: "/a", host: "www.example.test." }, expect: { status: 200, xCache: "MISS" } },
      { originLastSaw: "/a", fields: { "x-forwarded-host": "www.example.test" } },
      { get: "/a", expect: { xCache: "HIT" } },
      { purge: { urls: ["https://www.example.test./a"] } },
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { hosts: ["www.example.test."] } },
      { send: { path: "/a", host: "www.example.test." }, expect: { xCache: "MISS" } },
      { send: { path: "/a", host: "www.example.test.." }, expect: { status: 421 } },
    ],
  },
  {
    id: "key/control-plane-spelling",
    name: "other spellings of the control plane's path reach neither the control plane nor the origin",
    source: "docs/http.md#the-cache-key",
    only: { on: ["runtime", "server"], because: "Node's requests resolve dot segments before the edge sees them" },
    steps: [
      { get: "/x/%2e%2e/_tidemark/health", expect: { status: 400, xCache: null } },
      { originSaw: { "/_tidemark/health": 0 } },
    ],
  },
  {
    id: "key/control-plane-behind-slashes",
    name: "a purge sent to an endpoint that ends with a slash, and its token, do not reach the origin",
    source: "docs/http.md#the-cache-key",
    steps: [
      { send: { method: "POST", path: "//_tidemark/purge" }, expect: { status: 400, xCache: null } },
      { originSaw: { "//_tidemark/purge": 0 } },
    ],
  },
];
