import type { Scenario, Step } from "../../engine/scenario.ts";
import { page } from "../page.ts";

const minute = { "cache-control": "max-age=60" };

/** Requests that may make an origin send an answer meant for them alone. */
const odd: readonly (readonly [id: string, what: string, fields: Readonly<Record<string, string>>])[] = [
  ["unusual-field", "an unusual field", { "x-debug": "1" }],
  ["unusual-characters", "a value with unusual characters", { "user-agent": "{jndi:ldap}" }],
  ["escaped-letter", "a value with an escaped letter", { "user-agent": String.raw`a \x3cb` }],
  ["user-context", "what asks for the hash of its visitor", { accept: "application/vnd.fos.user-context-hash" }],
  ["long-field-value", "a value of more than 1024 characters", { "user-agent": "x".repeat(1_025) }],
  ["long-number", "a client hint that is no short number", { width: "100000" }],
  ["odd-number", "a client hint that is no number", { dpr: "2x" }],
  [
    "too-much-field-text",
    "more than 4096 characters of fields",
    Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`sec-ch-${n}`, "x".repeat(900)])),
  ],
];

/** Fields that any browser may send. */
const plain = {
  accept: "text/html,*/*;q=0.8",
  "accept-language": "de-DE,de;q=0.9",
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64)",
  "sec-fetch-site": "same-origin",
  "x-forwarded-for": "<odd>",
  cookie: "_ga=1",
};

/** Fields that a page for all is asked for without. */
const signed = {
  range: "bytes=0-",
  "accept-encoding": "identity;q=1, *;q=0",
  "x-ms-client-request-id": "7",
  referer: "https://www.example.test/",
};

const docker = { "user-agent": String.raw`docker/24.0.7 go/go1.20.10 UpstreamClient(Docker-Client/24.0.7 \(linux\))` };

/** What is added to requests on the way, or by the software that makes them. */
const software = {
  "alt-used": "www.example.test",
  "x-requested-with": "com.example.app",
  "icy-metadata": "1",
  "cmcd-session": 'sid="6e2fb550-c457-11e9-bb97-0800200c9a66"',
  "x-playback-session-id": "8E5F",
  rtt: "50",
  downlink: "10",
  ect: "4g",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: "vendor=1",
  "x-request-id": "7",
  "x-turbo-request-id": "9a3f1c52-0b7e-4d1a-8f3e-6c2d5b4a7e10",
  "x-b3-traceid": "80f198ee56343ba8",
  "docker-distribution-api-version": "registry/2.0",
  "cargo-protocol": "version=1",
};

/** Chrome sends these where `Accept-CH` names them. */
const hints = { dpr: "1.100000023841858", width: "320", "viewport-width": "1280", "device-memory": "0.25" };

const inVary = (what: number) => ({ fields: { ...minute, vary: "DPR, Width, ECT" }, body: String(what) });

/** Pages for one visitor are not shared: cookies, credentials, and unusual request fields. */
export const scenarios: readonly Scenario[] = [
  {
    id: "identity/session-cookie",
    name: "a response to a request with a session cookie is not stored unless the origin says that it is shared",
    source: "docs/http.md#cookies-sessions-and-authorization",
    origin: {
      "/mine": [page("max-age=60", "for one")],
      "/not-public": [page("public=False, max-age=60", "for one")],
      "/shared": [page("public, max-age=60", "for all")],
    },
    steps: [
      { get: "/not-public", fields: { cookie: "session=1" }, expect: { xCache: "MISS", cacheStatus: /detail=cookie/ } },
      { get: "/mine", fields: { cookie: "session=1" }, expect: { xCache: "MISS", cacheStatus: /detail=cookie/ } },
      { get: "/mine", expect: { xCache: "MISS" } },
      { get: "/shared", fields: { cookie: "session=1" }, expect: { xCache: "MISS" } },
      { get: "/shared", fields: { cookie: "session=2" }, expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "identity/analytics-cookies",
    name: "analytics cookies change nothing and do not reach the origin",
    source: "docs/http.md#cookies-sessions-and-authorization",
    origin: { "/a": [page("max-age=60")] },
    steps: [
      { get: "/a", fields: { cookie: "_ga=GA1.2; _fbp=fb.1" }, expect: { xCache: "MISS" } },
      { originLastSaw: "/a", fields: { cookie: null } },
      { get: "/a", fields: { cookie: "_ga=GA1.9" }, expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "identity/session-named-like-analytics",
    name: "sessions of applications reach the origin, whose names begin like those of analytics cookies",
    source: "docs/http.md#cookies-sessions-and-authorization",
    origin: { "/mine": [page("max-age=60", "for one")] },
    steps: [
      {
        get: "/mine",
        fields: { cookie: "_gateway_session=1; mp_session=2; _hjem_session=3; __hsmem=4; _gat=5" },
        expect: { xCache: "MISS", cacheStatus: /detail=cookie/ },
      },
      { originLastSaw: "/mine", fields: { cookie: "_gateway_session=1; mp_session=2; _hjem_session=3; __hsmem=4" } },
    ],
  },
  {
    id: "identity/ignored-session",
    name: "a framework's session that the owner ignores keeps nobody from the cache",
    source: "docs/http.md#cookies-sessions-and-authorization",
    site: { cookies: { ignore: ["PHPSESSID"] }, routes: [{ match: "/*", ttl: "1m" }] },
    origin: { "/a": [{ body: "v1" }] },
    steps: [
      { get: "/a", fields: { cookie: "PHPSESSID=0123456789abcdef0123456789" }, expect: { xCache: "MISS" } },
      { originLastSaw: "/a", fields: { cookie: null } },
      { get: "/a", fields: { cookie: "PHPSESSID=f123456789abcdef0123456789" }, expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "identity/session-in-path",
    name: "a page is not stored whose path has a session of Java, as servlet containers write it for clients without cookies",
    source: "docs/http.md#cookies-sessions-and-authorization",
    site: {
      routes: [
        { match: "/account", pass: true },
        { match: "/*", defaultTtl: "1h" },
      ],
    },
    origin: Object.fromEntries(
      ["/a;jsessionid=0A1B.node1", "/a;v=1;JSessionId=0A1B", "/account;jsessionid=0A1B"].map((path) => [
        path,
        [{ body: "Ann's" }, { body: "logged out" }],
      ]),
    ),
    steps: ["/a;jsessionid=0A1B.node1", "/a;v=1;JSessionId=0A1B", "/account;jsessionid=0A1B"].flatMap((path) => [
      { get: path, expect: { xCache: "BYPASS", body: "Ann's", cacheStatus: /detail=bypass-session$/ } },
      { get: path, expect: { xCache: "BYPASS", body: "logged out" } },
    ]),
  },
  {
    id: "identity/other-cookies-are-forwarded",
    name: "a cookie that may matter is forwarded, and ignored cookies beside it are removed",
    source: "docs/http.md#cookies-sessions-and-authorization",
    origin: { "/a": [{ body: "v1" }] },
    steps: [
      { get: "/a", fields: { cookie: "_ga=1; theme=dark; tidemark-after=log.1" }, expect: { status: 200 } },
      { originLastSaw: "/a", fields: { cookie: "theme=dark" } },
    ],
  },
  {
    id: "identity/authorization-served-from-store",
    name: "a request with Authorization is answered from the store only if the stored response allows it",
    source: "RFC 9111 §3.5",
    origin: {
      "/plain": [page("max-age=60")],
      "/public": [page("public, max-age=60")],
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
    id: "identity/authorization-and-shared-answers",
    name: "a response to a request with Authorization is stored only if it says public or s-maxage",
    source: "RFC 9111 §3.5",
    origin: {
      "/plain": [page("max-age=60")],
      "/not-public": [page("public=False, max-age=60")],
      "/must-revalidate": [page("max-age=60, must-revalidate")],
      "/public": [page("public, max-age=60")],
      "/s-maxage": [page("s-maxage=60")],
    },
    steps: [
      ...["/plain", "/not-public", "/must-revalidate"].flatMap((path) => [
        {
          get: path,
          fields: { authorization: "Basic eDp5" },
          expect: { xCache: "MISS", cacheStatus: /detail=authorization$/ },
        },
        { get: path, expect: { xCache: "MISS" } },
      ]),
      ...["/public", "/s-maxage"].flatMap((path) => [
        { get: path, fields: { authorization: "Basic eDp5" }, expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
        { get: path, expect: { xCache: "HIT" } },
        { get: path, fields: { authorization: "Basic ejp6" }, expect: { xCache: "HIT" } },
      ]),
      { stats: { "store.refused.authorization": 3, askedPastTheCache: 5 } },
    ],
  },
  {
    id: "identity/authorization-and-statuses",
    name: "an error for a request with Authorization is not stored, even if it says public",
    source: "RFC 9111 §3.5; docs/http.md#cookies-sessions-and-authorization",
    origin: {
      "/error": [{ status: 404, fields: { "cache-control": "public, max-age=60" }, body: "not for you" }],
      "/elsewhere": [{ status: 302, fields: { "cache-control": "public, max-age=60", location: "/you" } }],
      "/moved": [{ status: 301, fields: { "cache-control": "public, max-age=60", location: "/new" } }],
    },
    steps: [
      ...["/error", "/elsewhere"].map((path) => ({
        get: path,
        fields: { authorization: "Basic eDp5" },
        expect: { xCache: "MISS", cacheStatus: /detail=authorization$/ },
      })),
      { get: "/moved", fields: { authorization: "Basic eDp5" }, expect: { status: 301, cacheStatus: /; stored$/ } },
    ],
  },
  {
    id: "identity/authorization-and-ttl",
    name: "a route's lifetimes do not lengthen those of responses to requests with Authorization",
    source: "docs/http.md#cookies-sessions-and-authorization",
    site: {
      routes: [
        { match: "/ttl", ttl: "1h" },
        { match: "/*", defaultTtl: "1h" },
      ],
    },
    origin: { "/ttl": [page("public, max-age=60")], "/default": [page("public")] },
    steps: [
      { get: "/ttl", fields: { authorization: "Basic eDp5" }, expect: { cacheStatus: /; stored$/ } },
      { get: "/ttl", expect: { xCache: "HIT", cacheStatus: /ttl=60$/ } },
      { get: "/default", fields: { authorization: "Basic eDp5" }, expect: { cacheStatus: /detail=no-freshness$/ } },
      { get: "/default", expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
    ],
  },
  {
    id: "identity/authorization-and-shorter-ttl",
    name: "a request with Authorization keeps a page no longer than the route's ttl",
    source: "docs/http.md#cookies-sessions-and-authorization",
    site: {
      routes: [
        { match: "/never", ttl: "0s" },
        { match: "/*", ttl: "30s" },
      ],
    },
    origin: {
      "/a": [page("public, max-age=60", "v1"), page("public, max-age=60", "v2")],
      "/never": [page("public, max-age=60", "v1", { etag: '"1"' })],
    },
    steps: [
      { get: "/a", fields: { authorization: "Basic eDp5" }, expect: { body: "v1", cacheStatus: /; stored$/ } },
      { get: "/a", expect: { xCache: "HIT", cacheStatus: /ttl=30$/ } },
      { advanceMs: 30_000 },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
      { get: "/never", fields: { authorization: "Basic eDp5" }, expect: { cacheStatus: /detail=no-freshness$/ } },
    ],
  },
  {
    id: "identity/authorization-and-must-revalidate",
    name: "must-revalidate lets a page that only the route's lifetime keeps answer no request with Authorization",
    source: "RFC 9111 §3.5, §5.2.2.2; docs/http.md#cookies-sessions-and-authorization",
    site: {
      routes: [
        { match: "/ttl", ttl: "1h" },
        { match: "/*", defaultTtl: "1h" },
      ],
    },
    origin: {
      "/ttl": [page("max-age=0, must-revalidate", "for all"), page("max-age=0, must-revalidate", "for one")],
      "/default": [page("must-revalidate", "for all"), page("must-revalidate", "for one")],
      "/own": [page("max-age=60, must-revalidate", "for all")],
    },
    steps: [
      ...["/ttl", "/default"].flatMap((path) => [
        { get: path, expect: { body: "for all", cacheStatus: /; stored$/ } },
        { get: path, fields: { authorization: "Basic eDp5" }, expect: { xCache: "MISS", body: "for one" } },
        { get: path, expect: { xCache: "HIT", body: "for all" } },
      ]),
      { get: "/own", expect: { xCache: "MISS" } },
      { get: "/own", fields: { authorization: "Basic eDp5" }, expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "identity/authorization-and-vary",
    name: "a response to credentials that varies by Authorization is not stored",
    source: "docs/http.md#cookies-sessions-and-authorization",
    origin: { "/a": [{ fields: { "cache-control": "public, max-age=60", vary: "Authorization" }, body: "for one" }] },
    steps: [
      { get: "/a", fields: { authorization: "Basic eDp5" }, expect: { cacheStatus: /detail=vary$/ } },
      { get: "/a", fields: { authorization: "Basic eDp5" }, expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "identity/signed-request-is-not-changed",
    name: "a request whose Authorization may sign its fields reaches the origin with all of them, and may be answered from the store",
    source: "docs/http.md#cookies-sessions-and-authorization",
    origin: { "/a": [page("public, max-age=60")] },
    steps: [
      ...[
        "AWS4-HMAC-SHA256 Credential=AK/1/eu/s3/aws4_request, SignedHeaders=host;range, Signature=fe5f80",
        "SharedKey account:ctzMq410TV3wS7upTBcu=",
      ].flatMap((authorization) => [
        { get: "/a", fields: { ...signed, authorization }, expect: { cacheStatus: /fwd-status=200$/ } },
        { originLastSaw: "/a", fields: { ...signed, authorization } },
      ]),
      { get: "/a", fields: { ...signed, authorization: "Bearer abc" }, expect: { cacheStatus: /; stored$/ } },
      { originLastSaw: "/a", fields: { range: null, referer: null, "x-ms-client-request-id": null } },
      { get: "/a", fields: { authorization: "AWS AK:fe5f80=" }, expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "identity/authorization-is-not-joined",
    name: "no request waits for the answer to a request with Authorization",
    source: "docs/decisions/0007-what-a-follower-may-take.md",
    origin: {
      "/a": [
        { fields: { "cache-control": "public, max-age=60" }, body: "for one", hold: "first" },
        { fields: { "cache-control": "public, max-age=60" }, body: "for all" },
      ],
    },
    steps: [
      { begin: "one", send: { path: "/a", fields: { authorization: "Basic eDp5" } } },
      { originSees: "/a", count: 1 },
      { get: "/a", expect: { xCache: "MISS", body: "for all" } },
      { release: "first" },
      { finish: "one", expect: { body: "for one" } },
    ],
  },
  {
    id: "identity/authorization-and-conditions",
    name: "a conditional request with Authorization goes to the origin with its own condition, not with the stored page's validators",
    source: "RFC 9111 §3.5",
    origin: {
      "/a": [
        { fields: { "cache-control": "max-age=60", etag: '"1"' }, body: "v1" },
        { status: 304, fields: { etag: '"2"' } },
        { fields: { "cache-control": "max-age=60", etag: '"2"' }, body: "v2" },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      {
        get: "/a",
        fields: { authorization: "Basic eDp5", "if-none-match": '"2"' },
        expect: { status: 304, xCache: "MISS" },
      },
      { originLastSaw: "/a", fields: { "if-none-match": '"2"' } },
      { get: "/a", fields: { authorization: "Basic eDp5" }, expect: { body: "v2" } },
      { originLastSaw: "/a", fields: { "if-none-match": null } },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
    ],
  },
  ...(
    [
      ["s-maxage-zero-shares-nothing", "s-maxage=0"],
      ["malformed-s-maxage-shares-nothing", "s-maxage=foo"],
      ["s-maxage-zero-with-max-age", "max-age=60, s-maxage=0"],
    ] as const
  ).map(
    ([id, directives]): Scenario => ({
      id: `identity/${id}`,
      name: `Cache-Control: ${directives} does not let one visitor's page be shared, whatever the route's lifetime`,
      source: "RFC 9111 §3.5; docs/protocol.md#promise-1-private-stays-private",
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
  ...odd.map(
    ([id, what, fields]): Scenario => ({
      id: `identity/${id}`,
      name: `neither an error nor a page is stored if its request had ${what}`,
      site: { secondLook: false },
      source: "docs/protocol.md#promise-1-private-stays-private",
      origin: { "/error": [{ status: 404, fields: minute, body: "no" }], "/page": [{ fields: minute, body: "v1" }] },
      steps: [
        {
          get: "/error",
          fields,
          expect: { status: 404, xCache: "MISS", cacheStatus: /detail=error-for-odd-request$/ },
        },
        { get: "/page", fields, expect: { xCache: "MISS", cacheStatus: /detail="unkeyed-field:[a-z0-9-]+"$/ } },
        { get: "/error", fields: plain, expect: { status: 404, xCache: "MISS", cacheStatus: /; stored$/ } },
        { get: "/page", fields: plain, expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
        { get: "/error", fields, expect: { status: 404, xCache: "HIT" } },
        { get: "/page", fields, expect: { xCache: "HIT" } },
      ],
    }),
  ),
  {
    id: "identity/escaped-parentheses",
    name: "a page is stored although its client escapes parentheses, as Docker does",
    source: "docs/security.md#what-of-a-request-reaches-the-origin; RFC 9110 §5.6.5",
    origin: { "/v2/a/manifests/1": [page("max-age=60")] },
    steps: [
      { get: "/v2/a/manifests/1", fields: docker, expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
      { originLastSaw: "/v2/a/manifests/1", fields: docker },
      { get: "/v2/a/manifests/1", fields: docker, expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "identity/client-hints",
    name: "what a browser says of its screen and its memory reaches the origin, and selects only where Vary names it",
    source: "RFC 9111 §4.1; docs/security.md#what-of-a-request-reaches-the-origin",
    origin: { "/a": [page("max-age=60")], "/error": [{ status: 404, fields: minute }], "/vary": [1, 2, 3].map(inVary) },
    steps: [
      ...["/a", "/error"].flatMap((path): readonly Step[] => [
        { get: path, fields: hints, expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
        { originLastSaw: path, fields: hints },
        { get: path, fields: { ...hints, dpr: "1" }, expect: { xCache: "HIT" } },
        { get: path, expect: { xCache: "HIT" } },
      ]),
      { get: "/vary", fields: { dpr: "1", width: "320" }, expect: { xCache: "MISS", body: "1" } },
      { get: "/vary", fields: { dpr: "2", width: "320" }, expect: { xCache: "MISS", body: "2" } },
      { get: "/vary", expect: { xCache: "MISS", body: "3" } },
      { get: "/vary", fields: { dpr: "2", width: "320", ect: "4g" }, expect: { xCache: "HIT", body: "2" } },
      { get: "/vary", fields: { dpr: "1", width: "320" }, expect: { xCache: "HIT", body: "1" } },
      { get: "/vary", fields: { ect: "3g" }, expect: { xCache: "HIT", body: "3" } },
    ],
  },
  {
    id: "identity/software-fields",
    name: "if the answer is stored, the origin does not get the fields that tracers, WebViews, players and clients of registries add",
    source: "docs/security.md#what-of-a-request-reaches-the-origin",
    origin: { "/a": [page("max-age=60")], "/shared": [page("public, max-age=60")] },
    steps: [
      {
        get: "/shared",
        fields: { ...software, cookie: "session=1" },
        expect: { xCache: "MISS", cacheStatus: /; stored$/ },
      },
      { get: "/a", fields: software, expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
      {
        originLastSaw: "/a",
        fields: {
          ...Object.fromEntries(Object.keys(software).map((name) => [name, null])),
          traceparent: software.traceparent,
        },
      },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "identity/traceparent",
    name: "a visitor's traceparent reaches the origin on a miss, and does not select a page",
    source: "docs/security.md#what-of-a-request-reaches-the-origin",
    origin: { "/a": [page("max-age=60", "v1"), page("max-age=60", "v2")] },
    steps: [
      {
        get: "/a",
        fields: { traceparent: software.traceparent },
        expect: { xCache: "MISS", cacheStatus: /; stored$/ },
      },
      { originLastSaw: "/a", fields: { traceparent: software.traceparent } },
      {
        get: "/a",
        fields: { traceparent: software.traceparent.replace("b7ad6b71", "00000001") },
        expect: { xCache: "HIT", body: "v1" },
      },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "identity/software-fields-pass",
    name: "if the answer is not stored, the origin gets the fields that tracers add",
    source: "docs/security.md#what-of-a-request-reaches-the-origin",
    site: { routes: [{ match: "/*", pass: true }] },
    origin: { "/a": [page("max-age=60")] },
    steps: [
      { get: "/a", fields: software, expect: { xCache: "BYPASS" } },
      { originLastSaw: "/a", fields: { "x-request-id": "7", "x-requested-with": "com.example.app" } },
    ],
  },
  {
    id: "identity/script-marks-its-requests",
    name: "X-Requested-With: XMLHttpRequest reaches the origin, and its answer is not stored for others",
    source: "docs/security.md#what-of-a-request-reaches-the-origin",
    site: { secondLook: false },
    origin: { "/a": [page("max-age=60", "part"), page("max-age=60", "whole")] },
    steps: [
      {
        get: "/a",
        fields: { "x-requested-with": "XMLHttpRequest" },
        expect: { body: "part" },
      },
      { originLastSaw: "/a", fields: { "x-requested-with": "XMLHttpRequest" } },
      { get: "/a", expect: { xCache: "MISS", body: "whole" } },
    ],
  },
  {
    id: "identity/webview-and-vary",
    name: "a WebView's app name selects no variant, even if Vary names X-Requested-With",
    source: "RFC 9111 §4.1; docs/security.md#what-of-a-request-reaches-the-origin",
    origin: { "/a": [{ fields: { ...minute, vary: "X-Requested-With" }, body: "whole" }] },
    steps: [
      { get: "/a", fields: { "x-requested-with": "com.example.app" }, expect: { xCache: "MISS" } },
      { get: "/a", expect: { xCache: "HIT" } },
      { get: "/a", fields: { "x-requested-with": "XMLHttpRequest" }, expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "identity/error-for-odd-accept",
    name: "an error is stored only for a request that accepts anything or HTML",
    source: "docs/protocol.md#promise-1-private-stays-private; RFC 9110 §12.5.1",
    origin: { "/a": [{ status: 400, fields: minute, body: "no such type" }, page("max-age=60", "the page")] },
    steps: [
      {
        get: "/a",
        fields: { accept: "text/evil" },
        expect: { status: 400, cacheStatus: /detail=error-for-odd-request$/ },
      },
      { get: "/a", fields: { accept: "text/html" }, expect: { status: 200, body: "the page", xCache: "MISS" } },
    ],
  },
  {
    id: "identity/error-for-prefetch",
    name: "an error for a request that a browser sends ahead is not stored, because the origin may have refused only that",
    source: "docs/protocol.md#promise-1-private-stays-private",
    origin: {
      "/a": [{ status: 503, fields: minute, body: "not ahead" }, page("max-age=60", "the page")],
      "/b": [{ status: 503, fields: minute, body: "not ahead" }, page("max-age=60", "the page")],
      "/c": [page("max-age=60", "the page")],
      "/d": [page("public, max-age=60", "the page")],
      "/e": [{ status: 503, fields: minute, body: "not ahead" }],
    },
    steps: [
      {
        get: "/a",
        fields: { "sec-purpose": "prefetch;prerender" },
        expect: { status: 503, cacheStatus: /detail=error-for-odd-request$/ },
      },
      { get: "/a", expect: { status: 200, body: "the page", xCache: "MISS" } },
      { get: "/b", fields: { purpose: "prefetch" }, expect: { status: 503 } },
      { get: "/b", expect: { status: 200, body: "the page", xCache: "MISS" } },
      { get: "/c", fields: { "sec-purpose": "prefetch" }, expect: { status: 200, cacheStatus: /; stored$/ } },
      { get: "/c", expect: { status: 200, xCache: "HIT" } },
      {
        get: "/d",
        fields: { "x-sec-purpose": "prefetch", cookie: "session=0123456789abcdef0123456789abcdef" },
        expect: { status: 200, cacheStatus: /; stored$/ },
      },
      { get: "/e", fields: { "x-sec-purpose": "prefetch" }, expect: { cacheStatus: /detail=error-for-odd-request$/ } },
    ],
  },
  {
    id: "identity/error-for-keyed-accept",
    name: "if the route keys by Accept, an error is also stored for a request that accepts neither",
    source: "docs/protocol.md#promise-1-private-stays-private",
    site: { routes: [{ match: "/*", key: { fields: ["accept"] } }] },
    origin: { "/a": [{ status: 400, fields: minute, body: "no such type" }] },
    steps: [
      { get: "/a", fields: { accept: "text/evil" }, expect: { status: 400, cacheStatus: /; stored$/ } },
      { get: "/a", fields: { accept: "text/evil" }, expect: { status: 400, xCache: "HIT" } },
      { get: "/a", fields: { accept: "text/html" }, expect: { status: 400, xCache: "MISS" } },
    ],
  },
  {
    id: "identity/dropped-fields",
    name: "if the answer is stored, a field that the owner drops does not reach the origin and selects no variant",
    source: "docs/security.md#fields-of-your-own",
    site: {
      fields: { drop: ["X-App-*"] },
      routes: [
        { match: "/pass", pass: true },
        { match: "/*", fields: { drop: ["x-tenant"] } },
      ],
    },
    origin: {
      "/a": [{ fields: { ...minute, vary: "x-app-version, x-tenant" }, body: "v1" }],
      "/pass": [page("max-age=60")],
    },
    steps: [
      { get: "/a", fields: { "x-app-version": "7", "x-tenant": "a" }, expect: { cacheStatus: /; stored$/ } },
      { originLastSaw: "/a", fields: { "x-app-version": null, "x-tenant": null } },
      { get: "/a", fields: { "x-app-version": "8" }, expect: { xCache: "HIT" } },
      { get: "/pass", fields: { "x-app-version": "7" }, expect: { xCache: "BYPASS" } },
      { originLastSaw: "/pass", fields: { "x-app-version": "7" } },
    ],
  },
  {
    id: "identity/trusted-fields",
    name: "a field that the owner trusts reaches the origin, and its answer is stored for everybody",
    source: "docs/security.md#fields-of-your-own",
    site: { routes: [{ match: "/*", fields: { trust: ["X-App-*", "x-request-id"] } }] },
    origin: { "/a": [page("max-age=60")] },
    steps: [
      { get: "/a", fields: { "x-app-version": "7", "x-request-id": "9" }, expect: { cacheStatus: /; stored$/ } },
      { originLastSaw: "/a", fields: { "x-app-version": "7", "x-request-id": "9" } },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "identity/trusted-referer",
    name: "a site whose forms go back by Referer may have the origin see it",
    source: "docs/security.md#fields-of-your-own",
    site: { fields: { trust: ["referer"] } },
    origin: { "/a": [page("max-age=60")] },
    steps: [
      { get: "/a", fields: { referer: "https://www.example.test/b" }, expect: { cacheStatus: /; stored$/ } },
      { originLastSaw: "/a", fields: { referer: "https://www.example.test/b" } },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "identity/trusted-fields-and-vary",
    name: "a field that the owner trusts selects a variant if Vary names it",
    source: "RFC 9111 §4.1; docs/security.md#fields-of-your-own",
    site: { fields: { trust: ["x-request-id"] } },
    origin: { "/a": [{ fields: { ...minute, vary: "x-request-id" }, body: "v1" }] },
    steps: [
      { get: "/a", fields: { "x-request-id": "7" }, expect: { cacheStatus: /; stored$/ } },
      { get: "/a", fields: { "x-request-id": "7" }, expect: { xCache: "HIT" } },
      { get: "/a", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "identity/trusted-fields-and-errors",
    name: "an error that a trusted field may have provoked is not stored",
    source: "docs/security.md#fields-of-your-own",
    site: { fields: { trust: ["x-app-*"] } },
    origin: { "/a": [{ status: 404, fields: minute, body: "no" }] },
    steps: [
      {
        get: "/a",
        fields: { "x-app-version": "7" },
        expect: { status: 404, cacheStatus: /detail=error-for-odd-request$/ },
      },
      { get: "/a", expect: { status: 404, xCache: "MISS" } },
    ],
  },
  {
    id: "identity/trusted-for-errors",
    name: "an error is stored if all odd fields of its request are trusted for errors",
    source: "docs/security.md#fields-of-your-own",
    site: { fields: { trustForErrors: ["x-app-*"] } },
    origin: {
      "/a": [{ status: 404, fields: minute, body: "no" }],
      "/b": [{ status: 599, fields: minute, body: "odd" }],
    },
    steps: [
      { get: "/a", fields: { "x-app-version": "7" }, expect: { status: 404, body: "no", xCache: "MISS" } },
      { get: "/a", expect: { status: 404, body: "no", xCache: "HIT" } },
      { get: "/b", fields: { "x-app-version": "7" }, expect: { status: 599, xCache: "MISS" } },
      { get: "/b", expect: { status: 599, xCache: "HIT" } },
    ],
  },
  {
    id: "identity/trusted-for-errors-beside-others",
    name: "an error is not stored if one odd field of its request is trusted only for pages, or is too long",
    source: "docs/security.md#fields-of-your-own",
    site: { fields: { trust: ["x-lang"] }, routes: [{ match: "/*", fields: { trustForErrors: ["x-app-*"] } }] },
    origin: { "/a": [{ status: 404, fields: minute, body: "no" }] },
    steps: [
      {
        get: "/a",
        fields: { "x-app-version": "7", "x-lang": "en" },
        expect: { status: 404, cacheStatus: /detail=error-for-odd-request$/ },
      },
      {
        get: "/a",
        fields: { "x-app-version": "7".repeat(2000) },
        expect: { status: 404, cacheStatus: /detail=error-for-odd-request$/ },
      },
      {
        get: "/a",
        fields: { "x-app-token": "7" },
        expect: { status: 404, cacheStatus: /detail=error-for-odd-request$/ },
      },
      { get: "/a", expect: { status: 404, xCache: "MISS" } },
    ],
  },
  {
    id: "identity/trusted-pattern-and-credentials",
    name: "a pattern of trusted fields does not cover a field whose name suggests credentials",
    source: "docs/security.md#fields-of-your-own",
    site: { fields: { trust: ["x-app-*"] } },
    origin: { "/a": [page("max-age=60")] },
    steps: [
      {
        get: "/a",
        fields: { "x-app-token": "7" },
        expect: { cacheStatus: /detail="unkeyed-field:x-app-token"$/ },
      },
      { get: "/a", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "identity/unkeyed-field-is-named",
    name: "Cache-Status and the stats name the field that keeps an answer from being stored",
    source: "docs/http.md#what-clients-see; RFC 9211 §2.8",
    site: { secondLook: false },
    origin: { "/a": [page("max-age=60")] },
    steps: [
      {
        get: "/a",
        fields: { "X-App-Version": "7" },
        expect: { cacheStatus: 'tidemark; fwd=uri-miss; fwd-status=200; detail="unkeyed-field:x-app-version"' },
      },
      {
        get: "/a",
        fields: { [`x-${"a".repeat(100)}`]: "7" },
        expect: { cacheStatus: `tidemark; fwd=uri-miss; fwd-status=200; detail="unkeyed-field:x-${"a".repeat(62)}"` },
      },
      { stats: { "store.refused.unkeyed-field": 2, "store.unkeyedFields.x-app-version": 1 } },
    ],
  },
  {
    id: "identity/unusual-field-in-vary",
    name: "a page for a request with an unusual field is stored if Vary names the field, and an error is not",
    source: "docs/protocol.md#promise-1-private-stays-private",
    origin: {
      "/error": [{ status: 404, fields: { ...minute, vary: "x-debug" }, body: "no" }],
      "/page": [{ fields: { ...minute, vary: "x-debug" }, body: "v1" }],
    },
    steps: [
      {
        get: "/error",
        fields: { "x-debug": "1" },
        expect: { status: 404, xCache: "MISS", cacheStatus: /detail=error-for-odd-request$/ },
      },
      { get: "/page", fields: { "x-debug": "1" }, expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
      { get: "/page", fields: { "x-debug": "1" }, expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "identity/unusual-field-in-vary-unseen",
    name: "a page that varies by cookies and codings is stored, however long those are of which the origin got its own form",
    source: "docs/protocol.md#promise-1-private-stays-private",
    origin: { "/a": [{ fields: { ...minute, vary: "Cookie, Accept-Encoding" }, body: "v1" }] },
    steps: [
      {
        get: "/a",
        fields: { cookie: `_ga=${"x".repeat(1_024)}`, "accept-encoding": `gzip, ${"identity, ".repeat(120)}br` },
        expect: { xCache: "MISS", cacheStatus: /; stored$/ },
      },
      { originLastSaw: "/a", fields: { cookie: null, "accept-encoding": "br, gzip" } },
      { get: "/a", fields: { cookie: "_ga=1", "accept-encoding": "gzip, br" }, expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "identity/method-override-is-dropped",
    name: "an error is stored if its request had a method override, which the origin does not see",
    source: "docs/http.md#what-goes-to-the-origin",
    origin: { "/error": [{ status: 404, fields: minute, body: "no" }] },
    steps: [
      {
        get: "/error",
        fields: { "x-http-method-override": "POST" },
        expect: { status: 404, xCache: "MISS", cacheStatus: /; stored$/ },
      },
      { originLastSaw: "/error", fields: { "x-http-method-override": null } },
      { get: "/error", expect: { status: 404, xCache: "HIT" } },
    ],
  },
  {
    id: "identity/error-with-cookies",
    name: "an error for a request with cookies is not stored, even if the origin calls it public",
    source: "docs/protocol.md#promise-1-private-stays-private",
    origin: { "/a": [{ status: 500, fields: { "cache-control": "public, max-age=60" } }] },
    steps: [
      { get: "/a", fields: { cookie: "session=1" }, expect: { cacheStatus: /detail=error-for-odd-request$/ } },
      { get: "/a", expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
    ],
  },
  {
    id: "identity/unusual-request-removes-nothing",
    name: "the origin's answer to an unusual request removes nothing from the store",
    source: "docs/security.md",
    origin: {
      "/a": [
        { fields: { ...minute, etag: '"1"' }, body: "v1" },
        { status: 304, fields: { "cache-control": "private", etag: '"1"' } },
        { fields: { ...minute, etag: '"odd"' } },
        { status: 304, fields: { ...minute, etag: '"1"' } },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 61_000 },
      { get: "/a", fields: { "x-debug": "1" }, expect: { xCache: "REVALIDATED", body: "v1" } },
      { send: { method: "HEAD", path: "/a", fields: { "x-debug": "1" } }, expect: { fields: { etag: '"odd"' } } },
      { get: "/a", expect: { xCache: "REVALIDATED", body: "v1", cacheStatus: /; stored$/ } },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
    ],
  },
  {
    id: "identity/unusual-request-validates",
    name: "if an unusual request gets a stale page confirmed, the page stays stale, and the next such requests wait for each other",
    source: "docs/decisions/0007-what-a-follower-may-take.md",
    site: { secondLook: false },
    origin: {
      "/a": [
        { fields: { ...minute, etag: '"1"' }, body: "v1" },
        { status: 304, fields: { ...minute, etag: '"1"' } },
        { status: 304, fields: { ...minute, etag: '"1"' }, hold: "slow" },
        { status: 304, fields: { ...minute, etag: '"1"' } },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 61_000 },
      {
        get: "/a",
        fields: { "x-debug": "1" },
        expect: { xCache: "REVALIDATED", cacheStatus: /detail="unkeyed-field:x-debug"$/ },
      },
      { begin: "one", send: { path: "/a", fields: { "x-debug": "1" } } },
      { originSees: "/a", count: 3 },
      { begin: "two", send: { path: "/a", fields: { "x-debug": "1" } } },
      { advanceMs: 1 },
      { originSaw: { "/a": 3 } },
      { release: "slow" },
      { finish: "one", expect: { xCache: "REVALIDATED", body: "v1" } },
      { finish: "two", expect: { body: "v1" } },
      { originSaw: { "/a": 4 } },
    ],
  },
  {
    id: "identity/unusual-request-with-followers",
    name: "requests that waited for an unusual request do not get its error, and share one fetch",
    source: "docs/decisions/0007-what-a-follower-may-take.md",
    site: { secondLook: false },
    origin: {
      "/a": [
        { status: 400, fields: minute, body: "odd", hold: "slow" },
        { fields: minute, body: "v1" },
      ],
    },
    steps: [
      { begin: "odd", send: { path: "/a", fields: { "sec-fetch-site": "cross-site" } } },
      { originSees: "/a", count: 1 },
      { begin: "one", send: { path: "/a" } },
      { begin: "two", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "odd", expect: { status: 400, body: "odd", cacheStatus: /detail=error-for-odd-request$/ } },
      { finish: "one", expect: { status: 200, body: "v1" } },
      { finish: "two", expect: { status: 200, body: "v1" } },
      { originSaw: { "/a": 2 } },
    ],
  },
];
