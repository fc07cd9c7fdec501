import type { Scenario, Step } from "../../engine/scenario.ts";
import { page } from "../page.ts";

/** The `Origin` of the site's own pages. */
const OWN_ORIGIN = { origin: "http://www.example.test" };

/** What the origin sees of a request, and what passes through unchanged. */
export const scenarios: readonly Scenario[] = [
  {
    id: "forwarding/redirect-hides-origin",
    name: "a redirect is passed on and does not name the hidden origin",
    source: "RFC 9110 §10.2.2",
    origin: {
      "/old": [{ status: 302, fields: { location: "/new" } }],
      "/later": [{ fields: { refresh: "5; url=/new" } }],
    },
    steps: [
      { get: "/old", expect: { status: 302, xCache: "MISS", fields: { location: "/new" } } },
      { get: "/later", expect: { fields: { refresh: "5; url=/new" } } },
    ],
  },
  {
    id: "forwarding/forwarded-fields-replaced",
    name: "the edge itself tells the origin the client's address, host and scheme, whatever the client claims",
    source: "docs/http.md#what-goes-to-the-origin",
    origin: { "/a": [{ body: "v1" }] },
    steps: [
      {
        get: "/a",
        fields: {
          "x-forwarded-host": "evil.example",
          "x-forwarded-proto": "gopher",
          "x-forwarded-for": "6.6.6.6",
          "x-forwarded-port": "1",
          "x-forwarded-prefix": "/evil",
          forwarded: "for=6.6.6.6;host=evil.example",
          "x-original-url": "/admin",
          "x-rewrite-url": "/admin",
          "x-http-method-override": "DELETE",
          "x-real-ip": "6.6.6.6",
          x_forwarded_host: "evil.example",
          "x.real.ip": "6.6.6.6",
          content_length: "400",
          transfer_encoding: "chunked",
          "x~original~url": "/admin",
          "x-http-host-override": "evil.example",
          "user-agent": "test",
        },
        expect: { status: 200, body: "v1" },
      },
      {
        originLastSaw: "/a",
        fields: {
          "x-forwarded-host": "www.example.test",
          "x-forwarded-proto": "http",
          "x-forwarded-for": "192.0.2.7",
          "x-forwarded-port": null,
          "x-forwarded-prefix": null,
          forwarded: null,
          "x-original-url": null,
          "x-rewrite-url": null,
          "x-http-method-override": null,
          "x-real-ip": null,
          x_forwarded_host: null,
          "x.real.ip": null,
          content_length: null,
          transfer_encoding: null,
          "x~original~url": null,
          "x-http-host-override": null,
          via: "1.1 tidemark",
          "cdn-loop": 'tidemark; host="www.example.test"',
          "user-agent": "test",
        },
      },
    ],
  },
  {
    id: "forwarding/real-ip-and-forwarded",
    name: "if the site wants X-Real-IP and Forwarded, the origin gets the edge's own, whatever the client sent",
    source: "docs/http.md#what-goes-to-the-origin",
    site: { forward: { realIp: true, forwarded: true } },
    origin: { "/a": [page("max-age=60")] },
    steps: [
      {
        get: "/a",
        fields: { "x-real-ip": "6.6.6.6", forwarded: "for=6.6.6.6;host=evil.example" },
        expect: { xCache: "MISS", cacheStatus: /stored/ },
      },
      {
        originLastSaw: "/a",
        fields: { "x-real-ip": "192.0.2.7", forwarded: 'for=192.0.2.7;host="www.example.test";proto=http' },
      },
    ],
  },
  {
    id: "forwarding/port",
    name: "the origin gets the port of the public host, if that names one, whatever the client claims",
    source: "docs/http.md#what-goes-to-the-origin",
    site: { publicUrl: "http://www.example.test:8787", routes: [{ match: "/login", pass: true }] },
    origin: { "/a": [page("max-age=60", "for all", { vary: "X-Forwarded-Port" })], "/login": [{ body: "v1" }] },
    steps: [
      { get: "/login", fields: { "x-forwarded-port": "1" }, expect: { status: 200 } },
      { originLastSaw: "/login", fields: { "x-forwarded-host": "www.example.test:8787", "x-forwarded-port": "8787" } },
      { get: "/a", fields: { "x-forwarded-port": "1" }, expect: { xCache: "MISS" } },
      { originLastSaw: "/a", fields: { "x-forwarded-port": "8787" } },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  ...(
    [
      ["origin", {}, "http://origin.internal:8080"],
      [
        "origin-by-public-host",
        { hosts: ["www.example.test"], forward: { host: "visitor" } },
        "http://www.example.test",
      ],
    ] as const
  ).map(
    ([id, site, address]): Scenario => ({
      id: `forwarding/destination-for-${id}`,
      name: `the Destination of a MOVE or COPY that names this site names the same page at ${address} where the origin has that name`,
      source: "RFC 4918 §10.3; docs/http.md#what-goes-to-the-origin",
      only: { on: ["memory"], because: "the address of an origin on a socket is not known before it is up" },
      site: { publicUrl: "https://www.example.test", routes: [{ match: "/*", key: { country: true } }], ...site },
      origin: { "/a": [{ status: 201 }] },
      steps: (
        [
          ["MOVE", "https://www.example.test//b%2fc;d?e#f", `${address}//b%2fc;d?e#f`],
          ["COPY", "HTTP://localhost:8787/b", `${address}/b`],
          ["COPY", "/b", "/b"],
          ["MOVE", "http://localhost:8787@evil.test/b", "http://localhost:8787@evil.test/b"],
          ["MOVE", "http://localhost:8787\\@evil.test/b", "http://localhost:8787\\@evil.test/b"],
          ["MOVE", "https://other.test/b", "https://other.test/b"],
          ["POST", "https://www.example.test/b", "https://www.example.test/b"],
        ] as const
      ).flatMap(([method, destination, sent]): Step[] => [
        { send: { method, path: "/a", host: "localhost:8787", fields: { destination } }, expect: { status: 201 } },
        { originLastSaw: "/a", method, fields: { destination: sent, "x-country": "XX" } },
      ]),
    }),
  ),
  {
    id: "forwarding/no-directives-added",
    name: "the edge sends the origin no directive of its own",
    source: "docs/http.md#redirects",
    origin: { "/a": [{ body: "v1" }] },
    steps: [
      { get: "/a", expect: { status: 200 } },
      { originLastSaw: "/a", fields: { "cache-control": null, pragma: null, range: null, "if-none-match": null } },
    ],
  },
  ...["POST", "PUT", "PATCH", "DELETE"].map(
    (method): Scenario => ({
      id: `forwarding/${method.toLowerCase()}-goes-to-origin`,
      name: `${method} goes to the origin with its body and is never answered from store`,
      source: "RFC 9111 §4",
      origin: { "/a": [page("max-age=60", "ok")] },
      steps: [
        {
          send: { method, path: "/a", body: "what the client sent" },
          expect: { status: 200, xCache: "BYPASS", body: "ok", cacheStatus: "tidemark; fwd=method; fwd-status=200" },
        },
        { send: { method, path: "/a", body: "again" }, expect: { xCache: "BYPASS" } },
        { originSaw: { "/a": 2 } },
      ],
    }),
  ),
  {
    id: "forwarding/pass-route",
    name: "a route that passes sends every request to the origin and stores nothing",
    source: "docs/http.md#the-cache-key",
    site: { routes: [{ match: "/admin/*", pass: true }] },
    origin: { "/admin/x?utm_source=mail&b=1": [page("max-age=60")] },
    steps: [
      {
        get: "/admin/x?utm_source=mail&b=1",
        fields: { cookie: "_ga=1; session=2", "accept-encoding": "br", "if-none-match": '"x"' },
        expect: { xCache: "BYPASS", body: "v1" },
      },
      {
        originLastSaw: "/admin/x?utm_source=mail&b=1",
        fields: { cookie: "_ga=1; session=2", "accept-encoding": "br", "if-none-match": '"x"' },
      },
      { get: "/admin/x?utm_source=mail&b=1", expect: { xCache: "BYPASS" } },
    ],
  },
  {
    id: "forwarding/pass-route-by-escapes",
    name: "a route holds for a path also where the client sends its characters as escapes",
    source: "docs/http.md#the-cache-key",
    site: { routes: [{ match: "/@team/*", pass: true }] },
    origin: {
      "/%40team/+": [page("max-age=60")],
      "/@team/%2Fx": [page("max-age=60")],
      "/%40teams": [page("max-age=60")],
    },
    steps: [
      { get: "/%40team/+", expect: { xCache: "BYPASS", body: "v1" } },
      { get: "/@team/%2Fx", expect: { xCache: "BYPASS" } },
      { get: "/%40teams", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "forwarding/hop-by-hop-fields",
    name: "hop-by-hop fields, and those that Connection names, are neither forwarded nor stored",
    source: "RFC 9110 §7.6.1",
    origin: {
      "/a": [
        page("max-age=60", "v1", { connection: "x-hop", "x-hop": "1", "x-end": "2", "proxy-authenticate": "Basic" }),
      ],
    },
    steps: [
      {
        get: "/a",
        fields: { connection: "x-mine, keep-alive", "x-mine": "1", te: "trailers" },
        expect: { xCache: "MISS", fields: { "x-hop": null, "x-end": "2", "proxy-authenticate": null } },
      },
      { originLastSaw: "/a", fields: { "x-mine": null, te: null } },
      { get: "/a", expect: { xCache: "HIT", fields: { "x-hop": null, "x-end": "2" } } },
    ],
  },
  {
    id: "forwarding/origin-down-is-502",
    name: "an origin that is down answered a 502 that gives the reason, does not name the origin, and is not stored",
    source: "docs/protocol.md#promise-6-failures-fall-back-to-the-origin",
    origin: { "/a": [page("max-age=60")] },
    steps: [
      { origin: "down" },
      {
        get: "/a",
        expect: {
          status: 502,
          xCache: null,
          cacheStatus: "tidemark; detail=origin-unreachable",
          body: "502: the origin cannot be reached, or hung up before it answered.\n",
          fields: { "cache-control": "no-store" },
        },
      },
      { origin: "up" },
      { get: "/a", expect: { status: 200, xCache: "MISS", body: "v1" } },
    ],
  },
  {
    id: "forwarding/foreign-host-is-421",
    name: "a request for a host that is not the site's is refused with 421",
    source: "RFC 9110 §15.5.20",
    steps: [
      {
        send: { path: "/a", host: "other.example" },
        expect: {
          status: 421,
          xCache: null,
          body: "Tidemark refused this request: other.example is not a host of this site.\n",
        },
      },
    ],
  },
  {
    id: "forwarding/foreign-port-is-421",
    name: "a request for the site's host on another port is refused with a 421 that names the right port",
    source: "RFC 9110 §15.5.20",
    steps: [
      {
        send: { path: "/a", host: "www.example.test:8081" },
        expect: {
          status: 421,
          xCache: null,
          body: "Tidemark refused this request: www.example.test:8081 is not a host of this site, but www.example.test is: the port counts.\n",
        },
      },
    ],
  },
  {
    id: "forwarding/loop-is-508",
    name: "a request that comes back to its own edge is refused with 508",
    source: "RFC 8586 §2",
    steps: [
      {
        get: "/a",
        fields: { "cdn-loop": 'other, tidemark; host="www.example.test"' },
        expect: { status: 508, cacheStatus: "tidemark; detail=loop" },
      },
      { originSaw: { "/a": 0 } },
    ],
  },
  {
    id: "forwarding/loop-does-not-wait-for-itself",
    name: "a request that comes back while the edge waits for its answer is refused at once",
    source: "RFC 8586 §2",
    origin: { "/a": [{ body: "what the front makes of the 508", hold: "front" }] },
    steps: [
      { begin: "visitor", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { get: "/a", fields: { "cdn-loop": 'tidemark; host="www.example.test"' }, expect: { status: 508 } },
      { release: "front" },
      { finish: "visitor", expect: { body: "what the front makes of the 508" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "forwarding/outer-tidemark-is-no-loop",
    name: "another Tidemark in front of this one does not count as a loop",
    source: "RFC 8586 §2",
    origin: { "/a": [{ body: "v1" }] },
    steps: [{ get: "/a", fields: { "cdn-loop": 'tidemark; host="outer.example"' }, expect: { status: 200 } }],
  },
  {
    id: "forwarding/get-body-is-dropped",
    name: "the body of a GET is not forwarded",
    source: "docs/http.md#what-goes-to-the-origin",
    only: { on: ["runtime", "server"], because: "a request in memory has no body with GET" },
    origin: { "/a": [{ body: "v1" }] },
    steps: [
      {
        send: { method: "GET", path: "/a", fields: { "x-plain": "1", "content-length": "4" }, body: "body" },
        expect: { status: 200 },
      },
      { originLastSaw: "/a", fields: { "content-length": null, "transfer-encoding": null, "x-plain": "1" } },
    ],
  },
  {
    id: "forwarding/expectation-is-met",
    name: "a client that waits for a 100 gets it from the edge, and the origin is not asked for one",
    source: "RFC 9110 §10.1.1",
    origin: { "/a": [{ status: 201, body: "made" }] },
    steps: [
      {
        send: { method: "POST", path: "/a", body: "new", fields: { expect: "100-continue" } },
        expect: { status: 201, body: "made" },
      },
      { originLastSaw: "/a", fields: { expect: null } },
    ],
  },
  {
    id: "forwarding/owner-fields-reach-origin",
    name: "the owner's extra fields reach the origin, and a client cannot set them, nor what gateways read as them",
    source: "docs/http.md#what-goes-to-the-origin",
    site: { originFields: { "X-Origin-Secret": "s3cret\n" } }, // as read from a file
    origin: { "/a": [{ body: "v1" }] },
    steps: [
      {
        get: "/a",
        fields: { "x-origin-secret": "guess", x_origin_secret: "guess", "x-origin.secret": "guess" },
        expect: { status: 200 },
      },
      {
        originLastSaw: "/a",
        fields: { "x-origin-secret": "s3cret", x_origin_secret: null, "x-origin.secret": null },
      },
    ],
  },
  {
    id: "forwarding/owner-fields-replace-the-edges",
    name: "the owner's fields reach the origin in place of what the edge would say there",
    source: "docs/http.md#what-goes-to-the-origin",
    site: { originFields: { "X-Forwarded-Proto": "https", "Accept-Encoding": "identity", Cookie: "theme=plain" } },
    origin: { "/a": [{ body: "v1" }] },
    steps: [
      { get: "/a", fields: { cookie: "theme=dark", "accept-encoding": "gzip" }, expect: { status: 200 } },
      {
        originLastSaw: "/a",
        fields: { "x-forwarded-proto": "https", "accept-encoding": "identity", cookie: "theme=plain" },
      },
    ],
  },
  {
    id: "forwarding/trace-shows-no-secret",
    name: "a TRACE does not carry the owner's extra fields, because its answer would show them to the client",
    source: "RFC 9110 §9.3.8",
    site: { originFields: { "X-Origin-Secret": "s3cret" } },
    origin: { "/a": [{ body: "v1" }] },
    steps: [
      {
        send: { method: "TRACE", path: "/a", fields: { "x-origin-secret": "guess", "x-plain": "1" } },
        expect: { status: 200 },
      },
      { originLastSaw: "/a", fields: { "x-origin-secret": null, "x-plain": "1" } },
    ],
  },
  {
    id: "forwarding/via-once-per-hop",
    name: "the edge adds itself to Via once in each direction, even when the origin confirms a stored page",
    source: "RFC 9110 §7.6.3; RFC 9111 §4.3.4",
    origin: {
      "/a": [
        page("max-age=60", "v1", { etag: '"1"', via: "1.1 inner" }),
        { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"', via: "1.1 inner" } },
        { status: 304, fields: { "cache-control": "max-age=60", etag: '"1"' } },
      ],
    },
    steps: [
      {
        get: "/a",
        fields: { via: "1.0 fred" },
        expect: { xCache: "MISS", fields: { via: "1.1 inner, 1.1 tidemark" } },
      },
      { originLastSaw: "/a", fields: { via: "1.0 fred, 1.1 tidemark" } },
      { get: "/a", expect: { xCache: "HIT", fields: { via: "1.1 inner, 1.1 tidemark" } } },
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "REVALIDATED", fields: { via: "1.1 inner, 1.1 tidemark" } } },
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "REVALIDATED", fields: { via: "1.1 inner, 1.1 tidemark" } } },
      { get: "/a", expect: { xCache: "HIT", fields: { via: "1.1 inner, 1.1 tidemark" } } },
    ],
  },
  {
    id: "forwarding/connection-fields-any-route",
    name: "fields of one connection are not forwarded on any route: Trailer, TE, Keep-Alive and the proxy's own fields",
    source: "RFC 9110 §7.6.1, §6.6.2, §10.1.4, §11.7",
    site: { routes: [{ match: "/passed", pass: true }] },
    origin: Object.fromEntries(
      ["/stored", "/passed"].map((path) => [
        path,
        [
          {
            fields: {
              "cache-control": "max-age=60",
              trailer: "x-sum",
              "keep-alive": "timeout=5",
              "proxy-connection": "keep-alive",
              "proxy-authentication-info": "x",
              connection: "X-Hop, close",
              "x-hop": "1",
            },
            body: "v1",
            framing: "chunked",
          },
        ],
      ]),
    ),
    steps: [
      ...["/stored", "/passed"].flatMap((path): readonly Step[] => [
        {
          get: path,
          fields: {
            te: "trailers",
            "keep-alive": "timeout=5",
            "proxy-authorization": "Basic eDp5",
            "proxy-connection": "keep-alive",
            connection: "close, X-Mine",
            "x-mine": "1",
          },
          expect: {
            body: "v1",
            fields: {
              trailer: null,
              "proxy-connection": null,
              "proxy-authentication-info": null,
              "x-hop": null,
            },
          },
        },
        {
          originLastSaw: path,
          fields: {
            te: null,
            "proxy-authorization": null,
            "proxy-connection": null,
            "x-mine": null,
          },
        },
      ]),
      { get: "/stored", expect: { xCache: "HIT", body: "v1", fields: { trailer: null, "x-hop": null } } },
    ],
  },
  {
    id: "forwarding/max-forwards-of-options",
    name: "Max-Forwards of OPTIONS counts the hops, and at zero the edge itself answers",
    source: "RFC 9110 §7.6.2",
    origin: { "/a": [{ body: "ok" }] },
    steps: [
      {
        send: { method: "OPTIONS", path: "/a", fields: { "max-forwards": "0" } },
        expect: { status: 200, xCache: null, cacheStatus: "tidemark; detail=max-forwards" },
      },
      { originSaw: { "/a": 0 } },
      ...[
        ["1", "0"],
        ["10", "9"],
        ["99999999999", "2147483646"],
        ["-1", "-1"],
        ["few", "few"],
      ].flatMap(([sent, seen]): readonly Step[] => [
        {
          send: { method: "OPTIONS", path: "/a", fields: { "max-forwards": sent! } },
          expect: { status: 200, body: "ok", xCache: "BYPASS" },
        },
        { originLastSaw: "/a", fields: { "max-forwards": seen! } },
      ]),
      { send: { method: "OPTIONS", path: "/a" }, expect: { body: "ok" } },
      { originLastSaw: "/a", fields: { "max-forwards": null } },
    ],
  },
  {
    id: "forwarding/max-forwards-of-trace",
    name: "Max-Forwards of TRACE counts the hops as well",
    source: "RFC 9110 §7.6.2",
    only: { on: ["runtime", "server"], because: "a request in memory cannot have this method" },
    origin: { "/a": [{ body: "ok" }] },
    steps: [
      { send: { method: "TRACE", path: "/a", fields: { "max-forwards": "0" } }, expect: { status: 200, xCache: null } },
      { originSaw: { "/a": 0 } },
      { send: { method: "TRACE", path: "/a", fields: { "max-forwards": "1" } }, expect: { body: "ok" } },
      { originLastSaw: "/a", fields: { "max-forwards": "0" } },
    ],
  },
  {
    id: "forwarding/too-many-field-bytes-on-hit",
    name: "a request with too many bytes of fields is refused, even if a stored page could answer it",
    source: "docs/http.md#limits",
    only: {
      on: ["server"],
      because: "the Workers runtime has a limit of its own, and only requests to the origin are measured",
    },
    site: { limits: { requestFieldBytes: 1000 } },
    origin: { "/a": [page("max-age=60")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/a", fields: { "x-large": "x".repeat(500) }, expect: { xCache: "HIT" } },
      {
        get: "/a",
        fields: { "x-large": "x".repeat(1000) },
        expect: { status: 431, xCache: null, cacheStatus: "tidemark; detail=request-fields-too-large" },
      },
      { get: "/a", expect: { xCache: "HIT" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "forwarding/own-origin",
    name: "the site's own Origin, which Chrome sends for fonts and module scripts, tells nothing beyond the key: one page for all",
    source: "docs/security.md#what-of-a-request-reaches-the-origin",
    site: {
      routes: [
        { match: "/pass", pass: true },
        { match: "/keyed", key: { fields: ["origin"] } },
      ],
    },
    origin: {
      "/app.js": [page("public, max-age=60")],
      "/font": [page("public, max-age=60", "v1", { vary: "Origin" })],
      "/slow": [{ ...page("public, max-age=60"), hold: "slow" }],
      "/pass": [{ body: "passed" }],
      "/keyed": [page("public, max-age=60")],
      "/other": [page("public, max-age=60")],
    },
    steps: [
      { get: "/app.js", fields: { ...OWN_ORIGIN, cookie: "theme=dark" }, expect: { cacheStatus: /stored/ } },
      { originLastSaw: "/app.js", fields: { origin: null } },
      { get: "/app.js", expect: { xCache: "HIT" } },
      { get: "/font", expect: { cacheStatus: /stored/ } },
      { get: "/font", fields: OWN_ORIGIN, expect: { xCache: "HIT" } },
      { begin: "first", send: { path: "/slow", fields: OWN_ORIGIN } },
      { begin: "second", send: { path: "/slow", fields: OWN_ORIGIN } },
      { originSees: "/slow", count: 1 },
      { release: "slow" },
      { finish: "first", expect: { body: "v1" } },
      { finish: "second", expect: { body: "v1" } },
      { originSaw: { "/app.js": 1, "/font": 1, "/slow": 1 } },
      ...["http://evil.example", "https://www.example.test", "http://www.example.test:8080", "null"].map(
        (origin): Step => ({
          get: "/other",
          fields: { origin, cookie: "theme=dark" },
          expect: { cacheStatus: /unkeyed-field:origin/ },
        }),
      ),
      { send: { method: "POST", path: "/other", fields: OWN_ORIGIN, body: "x" }, expect: { xCache: "BYPASS" } },
      { originLastSaw: "/other", fields: OWN_ORIGIN },
      { get: "/pass", fields: OWN_ORIGIN, expect: { xCache: "BYPASS" } },
      { originLastSaw: "/pass", fields: OWN_ORIGIN },
      { get: "/keyed", fields: OWN_ORIGIN, expect: { cacheStatus: /stored/ } },
      { originLastSaw: "/keyed", fields: OWN_ORIGIN },
    ],
  },
  {
    id: "forwarding/max-forwards-of-get",
    name: "Max-Forwards does not stop other methods: a GET with 0 is answered, and the field is forwarded only if the answer is not stored",
    source: "RFC 9110 §7.6.2",
    site: { routes: [{ match: "/pass", pass: true }] },
    origin: {
      "/a": [page("max-age=60")],
      "/pass": [{ body: "passed" }],
    },
    steps: [
      { get: "/a", fields: { "max-forwards": "0" }, expect: { status: 200, xCache: "MISS", body: "v1" } },
      { originLastSaw: "/a", fields: { "max-forwards": null } },
      { get: "/a", fields: { "max-forwards": "0" }, expect: { xCache: "HIT" } },
      { get: "/pass", fields: { "max-forwards": "0" }, expect: { status: 200, xCache: "BYPASS", body: "passed" } },
      { originLastSaw: "/pass", fields: { "max-forwards": "0" } },
    ],
  },
];
