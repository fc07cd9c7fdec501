import type { Scenario, Step } from "../engine/scenario.ts";

/** What a reverse proxy does with requests and answers that it does not store. */
export const proxy: readonly Scenario[] = [
  {
    name: "the origin hears from the edge who asked for what, whatever the client claims",
    source: "docs/design.md#what-goes-to-the-origin",
    origin: { "/a": [{ body: "v1" }] },
    steps: [
      {
        get: "/a",
        fields: {
          "x-forwarded-host": "evil.example",
          "x-forwarded-proto": "gopher",
          "x-forwarded-for": "6.6.6.6",
          "x-forwarded-port": "1",
          forwarded: "for=6.6.6.6;host=evil.example",
          "x-original-url": "/admin",
          "x-rewrite-url": "/admin",
          "x-http-method-override": "DELETE",
          "x-real-ip": "6.6.6.6",
          x_forwarded_host: "evil.example",
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
          forwarded: null,
          "x-original-url": null,
          "x-rewrite-url": null,
          "x-http-method-override": null,
          "x-real-ip": null,
          x_forwarded_host: null,
          "x-http-host-override": null,
          via: "1.1 tidemark",
          "cdn-loop": 'tidemark; host="www.example.test"',
          "user-agent": "test",
        },
      },
    ],
  },
  {
    name: "the origin gets no directive of the edge's own",
    source: "docs/design.md#asking-the-origin",
    origin: { "/a": [{ body: "v1" }] },
    steps: [
      { get: "/a", expect: { status: 200 } },
      { originLastSaw: "/a", fields: { "cache-control": null, pragma: null, range: null, "if-none-match": null } },
    ],
  },
  ...["POST", "PUT", "PATCH", "DELETE"].map(
    (method): Scenario => ({
      name: `${method} goes to the origin with its body and is never answered from store`,
      source: "RFC 9111 §4",
      origin: { "/a": [{ fields: { "cache-control": "max-age=60" }, body: "ok" }] },
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
    name: "a route that passes sends everything to the origin and stores nothing",
    source: "docs/design.md#key",
    site: { routes: [{ match: "/admin/*", pass: true }] },
    origin: { "/admin/x?utm_source=mail&b=1": [{ fields: { "cache-control": "max-age=60" }, body: "v1" }] },
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
    name: "hop-by-hop fields, and those that Connection names, are neither forwarded nor stored",
    source: "RFC 9110 §7.6.1",
    origin: {
      "/a": [
        {
          fields: {
            "cache-control": "max-age=60",
            connection: "x-hop",
            "x-hop": "1",
            "x-end": "2",
            "proxy-authenticate": "Basic",
          },
          body: "v1",
        },
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
    name: "tag fields are read and never shown",
    source: "docs/design.md#what-clients-see",
    origin: {
      "/a": [
        {
          fields: {
            "cache-control": "max-age=60",
            "cache-tag": "a, b",
            "surrogate-key": "c d",
            xkey: "e",
            "x-cache": "HIT from origin",
          },
          body: "v1",
        },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { "cache-tag": null, "surrogate-key": null, xkey: null } } },
      { get: "/a", expect: { xCache: "HIT", fields: { "cache-tag": null, "surrogate-key": null, xkey: null } } },
      { purge: { tags: ["d"] } },
      { get: "/a", expect: { xCache: "MISS" } },
    ],
  },
  {
    name: "an origin that is down is a 502 that says so, names nobody, and is not stored",
    source: "docs/design.md#promise-6",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60" }, body: "v1" }] },
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
    name: "an origin's own Cache-Status is kept, and ours comes after it",
    source: "RFC 9211 §2",
    origin: { "/a": [{ fields: { "cache-status": "inner; hit" }, body: "v1" }] },
    steps: [
      { get: "/a", expect: { cacheStatus: "inner; hit, tidemark; fwd=uri-miss; fwd-status=200; detail=no-freshness" } },
    ],
  },
  {
    name: "a host that is not the site's is refused with 421",
    source: "RFC 9110 §15.5.20",
    steps: [{ send: { path: "/a", host: "other.example" }, expect: { status: 421, xCache: null } }],
  },
  {
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
    name: "another Tidemark in front of this one is no loop",
    source: "RFC 8586 §2",
    origin: { "/a": [{ body: "v1" }] },
    steps: [{ get: "/a", fields: { "cdn-loop": 'tidemark; host="outer.example"' }, expect: { status: 200 } }],
  },
  {
    name: "a body that is cut off is passed on short, and is never a hit",
    source: "docs/design.md#promise-4",
    origin: {
      "/a": [
        { fields: { "cache-control": "max-age=60" }, body: "0123456789", cutAfterBytes: 4 },
        { fields: { "cache-control": "max-age=60" }, body: "0123456789" },
      ],
    },
    steps: [
      { get: "/a", expect: { status: 200, xCache: "MISS", body: "0123", cutOff: true } },
      { get: "/a", expect: { xCache: "MISS", body: "0123456789", cutOff: false } },
      { get: "/a", expect: { xCache: "HIT", body: "0123456789" } },
    ],
  },
  {
    name: "a chunked body that is cut off is never a hit",
    source: "docs/design.md#promise-4; docs/conformance.md#what-the-runtime-makes-impossible",
    origin: {
      "/a": [
        { fields: { "cache-control": "max-age=60" }, body: "0123456789", cutAfterBytes: 4, framing: "chunked" },
        { fields: { "cache-control": "max-age=60" }, body: "0123456789", framing: "chunked" },
      ],
    },
    steps: [
      { get: "/a", expect: { status: 200, xCache: "MISS", body: "0123" } },
      { get: "/a", expect: { xCache: "MISS", body: "0123456789" } },
      { get: "/a", expect: { xCache: "HIT", body: "0123456789" } },
    ],
  },
  {
    name: "a body whose end cannot be told from a cut is not stored",
    source: "RFC 9112 §6.3, §8",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60" }, body: "v1", framing: "close" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1", cacheStatus: /detail=unframed-body/ } },
      { get: "/a", expect: { xCache: "MISS" } },
    ],
  },
  {
    name: "a body over the limit streams past and is not stored, with or without a length",
    source: "docs/design.md#bodies",
    site: { limits: { storeBytes: 10, largeBytes: 10 } },
    origin: {
      "/length": [{ fields: { "cache-control": "max-age=60" }, body: "eleven byte" }],
      "/chunks": [{ fields: { "cache-control": "max-age=60" }, body: "eleven byte", framing: "chunked" }],
      "/fits": [{ fields: { "cache-control": "max-age=60" }, body: "ten bytes!" }],
    },
    steps: [
      { get: "/length", expect: { xCache: "MISS", body: "eleven byte", cacheStatus: /detail=too-large/ } },
      { get: "/length", expect: { xCache: "MISS", body: "eleven byte" } },
      { get: "/chunks", expect: { xCache: "MISS", body: "eleven byte" } },
      { get: "/chunks", expect: { xCache: "MISS", body: "eleven byte" } },
      { get: "/fits", expect: { xCache: "MISS", body: "ten bytes!" } },
      { get: "/fits", expect: { xCache: "HIT", body: "ten bytes!" } },
    ],
  },
  {
    name: "a request for a part that misses is passed on with its Range, and the part is not stored",
    source: "RFC 9111 §3.3",
    origin: {
      "/a": [
        { status: 206, fields: { "cache-control": "max-age=60", "content-range": "bytes 0-1/10" }, body: "01" },
        { fields: { "cache-control": "max-age=60" }, body: "0123456789" },
      ],
    },
    steps: [
      { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 206, xCache: "MISS", body: "01" } },
      { originLastSaw: "/a", fields: { range: "bytes=0-1" } },
      { get: "/a", expect: { status: 200, xCache: "MISS", body: "0123456789" } },
      { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 206, xCache: "HIT", body: "01" } },
    ],
  },
  {
    name: "a condition on the origin's own state is asked of the origin, and not stored",
    source: "RFC 9110 §13.1.1, §13.1.4; RFC 9111 §4.3.2",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60", etag: '"1"' }, body: "v1" }] },
    steps: [
      { get: "/a", fields: { "if-match": '"1"' }, expect: { xCache: "BYPASS" } },
      { originLastSaw: "/a", fields: { "if-match": '"1"' } },
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/a", fields: { "if-unmodified-since": "Thu, 01 Jan 2026 12:00:00 GMT" }, expect: { xCache: "BYPASS" } },
      { originLastSaw: "/a", fields: { "if-unmodified-since": "Thu, 01 Jan 2026 12:00:00 GMT" } },
    ],
  },
  {
    name: "a client's condition never makes the store keep a 304",
    source: "RFC 9111 §4.3.1",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60", etag: '"1"' }, body: "v1" }] },
    steps: [
      { get: "/a", fields: { "if-none-match": '"1"' }, expect: { status: 304, xCache: "MISS", body: "" } },
      { originLastSaw: "/a", fields: { "if-none-match": null } },
      { get: "/a", expect: { status: 200, body: "v1" } },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "the body of a GET is not forwarded",
    source: "docs/design.md#what-goes-to-the-origin",
    only: { engine: "runtime", because: "a request in memory has no body with GET" },
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
    name: "the owner's extra fields reach the origin, and a client cannot set them",
    source: "docs/design.md#what-goes-to-the-origin",
    site: { originFields: { "X-Origin-Secret": "s3cret" } },
    origin: { "/a": [{ body: "v1" }] },
    steps: [
      { get: "/a", fields: { "x-origin-secret": "guess" }, expect: { status: 200 } },
      { originLastSaw: "/a", fields: { "x-origin-secret": "s3cret" } },
    ],
  },
  {
    name: "every hop adds itself to Via, both ways, and once only: also when the origin confirms what is stored",
    source: "RFC 9110 §7.6.3; RFC 9111 §4.3.4",
    origin: {
      "/a": [
        { fields: { "cache-control": "max-age=60", etag: '"1"', via: "1.1 inner" }, body: "v1" },
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
    name: "what concerns one connection stays on it: Trailer, TE, Keep-Alive and the proxy's own fields, on every route",
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
    name: "Max-Forwards of OPTIONS counts the hops, and at zero the edge is the one that is asked",
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
    name: "Max-Forwards of TRACE counts the hops, too",
    source: "RFC 9110 §7.6.2",
    only: { engine: "runtime", because: "a request in memory cannot have this method" },
    origin: { "/a": [{ body: "ok" }] },
    steps: [
      { send: { method: "TRACE", path: "/a", fields: { "max-forwards": "0" } }, expect: { status: 200, xCache: null } },
      { originSaw: { "/a": 0 } },
      { send: { method: "TRACE", path: "/a", fields: { "max-forwards": "1" } }, expect: { body: "ok" } },
      { originLastSaw: "/a", fields: { "max-forwards": "0" } },
    ],
  },
  {
    name: "Max-Forwards means nothing for other methods: a GET with zero left is answered, and the field goes on only where nothing is stored",
    source: "RFC 9110 §7.6.2",
    site: { routes: [{ match: "/pass", pass: true }] },
    origin: {
      "/a": [{ fields: { "cache-control": "max-age=60" }, body: "v1" }],
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
