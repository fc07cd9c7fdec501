import { type Scenario, type SiteChange, type Step, TOKEN } from "../../engine/scenario.ts";
import { page } from "../page.ts";

/** Pages that are worth coding. */
const V1 = "The first version. ".repeat(200);
const V2 = "The second version. ".repeat(200);

const SOURCE = "docs/server.md#compression";
const BROWSER = { "accept-encoding": "gzip, deflate, br, zstd" };

const site: SiteChange = { compression: {} };
const only: Scenario["only"] = { on: ["memory", "server"], because: "Workers compress by themselves" };

const common = { source: SOURCE, site, only } as const;

/** A page of text, with these fields. */
function text(cacheControl: string, body = V1, fields: Readonly<Record<string, string>> = {}) {
  return page(cacheControl, body, { "content-type": "text/html; charset=utf-8", ...fields });
}

const PLAIN = { "content-encoding": null } as const;

/** Asks twice, so that the first answer has the form made that the second one gets. */
function warmed(path: string): readonly Step[] {
  return [{ get: path, fields: BROWSER, expect: { xCache: "MISS", fields: PLAIN, body: V1 } }, { work: "finished" }];
}

/** A page with these fields stays plain, and does not vary. */
function staysPlain(path: string, body = V1): readonly Step[] {
  return [
    { get: path, fields: BROWSER, expect: { xCache: "MISS", fields: { ...PLAIN, vary: null }, body } },
    { work: "finished" },
    { get: path, fields: BROWSER, expect: { xCache: "HIT", fields: { ...PLAIN, vary: null }, body } },
    { work: "finished" },
    { get: path, fields: BROWSER, expect: { xCache: "HIT", fields: { ...PLAIN, vary: null }, body } },
  ];
}

function wants(path: string, acceptEncoding: string, coding: string | null): Step {
  const fields = { "content-encoding": coding, vary: "Accept-Encoding" };
  return { get: path, fields: { "accept-encoding": acceptEncoding }, expect: { xCache: "HIT", fields, body: V1 } };
}

export const scenarios: readonly Scenario[] = [
  {
    ...common,
    id: "compression/behind-the-first-answer",
    name: "the first visitor gets a page as the origin sent it, and the next ones get it compressed",
    origin: { "/a": [text("max-age=60", V1, { etag: '"1"', "x-own": "kept" })] },
    steps: [
      {
        get: "/a",
        fields: BROWSER,
        expect: { xCache: "MISS", body: V1, fields: { ...PLAIN, etag: '"1"', vary: "Accept-Encoding" } },
      },
      { work: "finished" },
      {
        get: "/a",
        fields: BROWSER,
        expect: {
          xCache: "HIT",
          body: V1,
          fields: {
            "content-encoding": "br",
            etag: 'W/"1"',
            vary: "Accept-Encoding",
            "content-type": "text/html; charset=utf-8",
            "cache-control": "max-age=60",
            "x-own": "kept",
          },
        },
      },
      {
        get: "/a",
        expect: { xCache: "HIT", body: V1, fields: { ...PLAIN, etag: '"1"', vary: "Accept-Encoding" } },
      },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    ...common,
    id: "compression/each-coding-once",
    name: "the edge makes each coding when a client first wants it, and meanwhile sends one that it already has",
    origin: { "/a": [text("max-age=60")] },
    steps: [
      ...warmed("/a"),
      wants("/a", "gzip", null),
      { work: "finished" },
      wants("/a", "gzip", "gzip"),
      wants("/a", "zstd, gzip;q=0.5", "gzip"),
      { work: "finished" },
      wants("/a", "zstd, gzip;q=0.5", "zstd"),
      wants("/a", "br", "br"),
    ],
  },
  {
    ...common,
    id: "compression/weights",
    name: "a client gets the coding that it prefers, and none that it refuses or likes less than plain bytes",
    source: "RFC 9110 §12.5.3",
    origin: { "/a": [text("max-age=60")] },
    steps: [
      ...["br", "gzip", "zstd"].flatMap((coding): Step[] => [
        { get: "/a", fields: { "accept-encoding": coding }, expect: { body: V1 } },
        { work: "finished" },
        { get: "/a", fields: { "accept-encoding": coding }, expect: { fields: { "content-encoding": coding } } },
      ]),
      wants("/a", "gzip, br", "br"),
      wants("/a", "gzip;q=1.0, br;q=0.9", "gzip"),
      wants("/a", "br;q=0, *", "zstd"),
      wants("/a", "br;q=0, zstd;q=0.000, gzip;q=0.001", "gzip"),
      wants("/a", "*;q=0", null),
      wants("/a", "identity;q=0", null),
      wants("/a", "identity;q=0, *", "br"),
      wants("/a", "identity, gzip;q=0.5", null),
      wants("/a", "identity;q=0.5, gzip;q=0.5", "gzip"),
      wants("/a", "GZIP", "gzip"),
      wants("/a", "x-gzip", "gzip"),
      wants("/a", "deflate, compress", null),
      wants("/a", "br;q=high, gzip", "gzip"),
      wants("/a", "", null),
    ],
  },
  {
    ...common,
    id: "compression/no-transform",
    name: "with no-transform in the page or the request, the page is sent plain",
    source: "RFC 9111 §5.2.2.6",
    origin: {
      "/a": [text("max-age=60, no-transform")],
      "/b": [text("max-age=60", V1, { "cdn-cache-control": "max-age=60, no-transform" })],
      "/c": [text("max-age=60")],
    },
    steps: [
      ...staysPlain("/a"),
      ...staysPlain("/b"),
      ...warmed("/c"),
      {
        get: "/c",
        fields: { ...BROWSER, "cache-control": "no-transform" },
        expect: { xCache: "HIT", fields: PLAIN, body: V1 },
      },
      wants("/c", "br", "br"),
    ],
  },
  {
    ...common,
    id: "compression/only-plain-text-of-some-size",
    name: "pages that are already encoded, of another type, too small or too large are sent as they came",
    site: { compression: { minBytes: 1024, maxBytes: "8KiB", types: ["text/*", "*+json", "application/wasm"] } },
    origin: {
      "/picture": [page("max-age=60", V1, { "content-type": "image/png" })],
      "/unknown": [page("max-age=60", V1)],
      "/small": [text("max-age=60", "x".repeat(1023))],
      "/large": [text("max-age=60", "x".repeat(8193))],
      "/wasm": [page("max-age=60", V1, { "content-type": "application/wasm" })],
      "/least": [text("max-age=60", "x".repeat(1024))],
      "/most": [text("max-age=60", "x".repeat(8192))],
      "/api": [page("max-age=60", V1, { "content-type": "Application/Problem+JSON; charset=utf-8" })],
    },
    steps: [
      ...staysPlain("/picture"),
      ...staysPlain("/unknown"),
      ...staysPlain("/small", "x".repeat(1023)),
      ...staysPlain("/large", "x".repeat(8193)),
      ...["/wasm", "/least", "/most", "/api"].flatMap((path): Step[] => [
        { get: path, fields: BROWSER, expect: { fields: { ...PLAIN, vary: "Accept-Encoding" } } },
        { work: "finished" },
        { get: path, fields: BROWSER, expect: { fields: { "content-encoding": "br" } } },
      ]),
    ],
  },
  {
    ...common,
    id: "compression/only-200",
    name: "a stored error is sent as it came",
    origin: { "/gone": [{ ...text("max-age=60"), status: 404 }] },
    steps: staysPlain("/gone"),
  },
  {
    ...common,
    id: "compression/digests",
    name: "a page with a digest or a signature of its bytes is sent plain",
    source: "RFC 9530 §3",
    origin: {
      "/a": [text("max-age=60", V1, { "repr-digest": "sha-256=:AAAA:" })],
      "/b": [text("max-age=60", V1, { "content-md5": "AAAA" })],
      "/c": [text("max-age=60", V1, { signature: "sig1=:AAAA:" })],
    },
    steps: [...staysPlain("/a"), ...staysPlain("/b"), ...staysPlain("/c")],
  },
  {
    ...common,
    id: "compression/not-smaller",
    name: "a page that compression does not make smaller is sent plain, and still varies",
    site: { compression: { minBytes: 1 } },
    origin: { "/a": [text("max-age=60", "short")] },
    steps: [
      { get: "/a", fields: BROWSER, expect: { fields: { vary: "Accept-Encoding" } } },
      { work: "finished" },
      { get: "/a", fields: BROWSER, expect: { xCache: "HIT", fields: { ...PLAIN, vary: "Accept-Encoding" } } },
    ],
  },
  {
    ...common,
    id: "compression/conditions",
    name: "a client that has either form gets a 304 with the entity tag that it named",
    source: "RFC 9110 §13.1.2",
    origin: {
      "/a": [text("max-age=60", V1, { etag: '"1"' })],
      "/without-quotes": [text("max-age=60", V1, { etag: "1" })],
    },
    steps: [
      { get: "/without-quotes", expect: { xCache: "MISS" } },
      ...["1", "W/1"].map(
        (etag): Step => ({
          get: "/without-quotes",
          fields: { ...BROWSER, "if-none-match": etag },
          expect: { status: 304, fields: { etag } },
        }),
      ),
      ...warmed("/a"),
      {
        get: "/a",
        fields: { ...BROWSER, "if-none-match": 'W/"1"' },
        expect: { status: 304, xCache: "HIT", fields: { etag: 'W/"1"', vary: "Accept-Encoding", ...PLAIN } },
      },
      {
        get: "/a",
        fields: { ...BROWSER, "if-none-match": '"0", "1"' },
        expect: { status: 304, fields: { etag: '"1"', vary: "Accept-Encoding", ...PLAIN } },
      },
      { get: "/a", fields: { "if-none-match": 'W/"1"' }, expect: { status: 304, fields: { etag: 'W/"1"' } } },
      {
        get: "/a",
        fields: { ...BROWSER, "if-none-match": '"2"' },
        expect: { status: 200, fields: { "content-encoding": "br", etag: 'W/"1"' }, body: V1 },
      },
      { advanceMs: 61_000 },
      {
        get: "/a",
        fields: { ...BROWSER, "if-none-match": 'W/"1"' },
        expect: { status: 304, xCache: "EXPIRED", fields: { etag: 'W/"1"', vary: "Accept-Encoding" } },
      },
    ],
  },
  {
    ...common,
    id: "compression/parts",
    site: { compression: { types: ["text/*", "application/x-own"] } },
    name: "parts are cut from the plain bytes, and only for a client that does not have the compressed form",
    source: "RFC 9110 §13.1.5",
    origin: {
      "/a": [text("max-age=60", V1, { etag: '"1"', "last-modified": "Wed, 31 Dec 2025 12:00:00 GMT" })],
      "/own": [
        text("max-age=60", V1, {
          "content-type": "application/x-own",
          "last-modified": "Wed, 31 Dec 2025 12:00:00 GMT",
        }),
      ],
    },
    steps: [
      ...warmed("/a"),
      ...warmed("/own"),
      {
        get: "/own",
        fields: { ...BROWSER, range: "bytes=4-8", "if-range": "Wed, 31 Dec 2025 12:00:00 GMT" },
        expect: { status: 200, body: V1 },
      },
      {
        get: "/a",
        fields: { ...BROWSER, range: "bytes=4-8" },
        expect: { status: 206, body: "first", fields: { ...PLAIN, etag: '"1"', vary: "Accept-Encoding" } },
      },
      {
        get: "/a",
        fields: { ...BROWSER, range: "bytes=4-8", "if-range": '"1"' },
        expect: { status: 206, body: "first", fields: PLAIN },
      },
      {
        get: "/a",
        fields: { ...BROWSER, range: "bytes=4-8", "if-range": 'W/"1"' },
        expect: { status: 200, body: V1, fields: { ...PLAIN, etag: '"1"' } },
      },
      {
        get: "/a",
        fields: { ...BROWSER, range: "bytes=4-8", "if-range": "Wed, 31 Dec 2025 12:00:00 GMT" },
        expect: { status: 200, body: V1, fields: PLAIN },
      },
      { get: "/a", fields: { ...BROWSER, range: "bytes=9999-" }, expect: { status: 416, fields: PLAIN } },
    ],
  },
  {
    ...common,
    id: "compression/part-of-missing-page",
    name: "a client that may hold the coded form of a page that is missing gets the whole page, and no part of the plain one",
    site: {
      compression: {},
      routes: [
        { match: "/pass", pass: true },
        { match: "/*", bypass: { cookies: ["mine"] } },
      ],
    },
    origin: { "/a": [text("max-age=60", V1)], "/pass": [text("max-age=60", V1)] },
    steps: [
      ...[{}, { cookie: "mine=1" }].flatMap((fields): Step[] => [
        {
          get: "/a",
          fields: { ...BROWSER, ...fields, range: "bytes=4-8", "if-range": "Wed, 31 Dec 2025 12:00:00 GMT" },
          expect: { status: 200, body: V1 },
        },
        { originLastSaw: "/a", fields: { range: null, "if-range": null } },
      ]),
      {
        get: "/a",
        fields: { ...BROWSER, range: "bytes=4-8", "if-unmodified-since": "Wed, 31 Dec 2025 12:00:00 GMT" },
        expect: { status: 200, body: V1 },
      },
      {
        originLastSaw: "/a",
        fields: { range: null, "if-unmodified-since": "Wed, 31 Dec 2025 12:00:00 GMT" },
      },
      {
        get: "/pass",
        fields: { ...BROWSER, range: "bytes=4-8", "if-range": "Wed, 31 Dec 2025 12:00:00 GMT" },
        expect: { xCache: "BYPASS" },
      },
      { originLastSaw: "/pass", fields: { range: "bytes=4-8" } },
      {
        send: {
          method: "PUT",
          path: "/a",
          fields: { range: "bytes=4-8", "if-unmodified-since": "Wed, 31 Dec 2025 12:00:00 GMT" },
          body: "first",
        },
        expect: { status: 200 },
      },
      { originLastSaw: "/a", fields: { range: "bytes=4-8" } },
      { get: "/a", fields: { ...BROWSER, range: "bytes=4-8", "if-range": '"1"' }, expect: { status: 200, body: V1 } },
      { originLastSaw: "/a", fields: { range: "bytes=4-8", "if-range": '"1"' } },
    ],
  },
  {
    ...common,
    id: "compression/head",
    name: "HEAD gets the fields of the compressed page, with its length",
    source: "RFC 9110 §9.3.2",
    origin: { "/a": [text("max-age=60", V1, { etag: '"1"' })] },
    steps: [
      ...warmed("/a"),
      {
        send: { method: "HEAD", path: "/a", fields: BROWSER },
        expect: {
          xCache: "HIT",
          body: "",
          fields: { "content-encoding": "br", etag: 'W/"1"', "content-length": /^\d{2}$/, vary: "Accept-Encoding" },
        },
      },
      {
        send: { method: "HEAD", path: "/a" },
        expect: { fields: { ...PLAIN, etag: '"1"', "content-length": String(V1.length) } },
      },
    ],
  },
  {
    ...common,
    id: "compression/vary",
    name: "the edge adds Accept-Encoding once to the page's Vary",
    source: "RFC 9110 §12.5.5",
    origin: {
      "/a": [text("max-age=60", V1, { vary: "Accept-Language" })],
      "/b": [text("max-age=60", V1, { vary: "accept-encoding" })],
    },
    steps: [
      ...(["/a", "/b"] as const).flatMap((path): Step[] => {
        const vary = path === "/a" ? "Accept-Language, Accept-Encoding" : "accept-encoding";
        return [
          { get: path, fields: BROWSER, expect: { xCache: "MISS", fields: { ...PLAIN, vary } } },
          { work: "finished" },
          { get: path, fields: BROWSER, expect: { xCache: "HIT", fields: { "content-encoding": "br", vary } } },
          {
            get: path,
            fields: { ...BROWSER, range: "bytes=0-2" },
            expect: { status: 206, fields: { ...PLAIN, vary } },
          },
        ];
      }),
    ],
  },
  {
    ...common,
    id: "compression/purged",
    name: "a purge covers the compressed forms of a page",
    source: "docs/protocol.md#promise-2-purged-is-purged",
    origin: { "/a": [text("max-age=60", V1, { "cache-tag": "t" }), text("max-age=60", V2, { "cache-tag": "t" })] },
    steps: [
      ...warmed("/a"),
      wants("/a", "br", "br"),
      { purge: { tags: ["t"] } },
      { get: "/a", fields: BROWSER, expect: { xCache: "MISS", fields: PLAIN, body: V2 } },
      { work: "finished" },
      { get: "/a", fields: BROWSER, expect: { xCache: "HIT", fields: { "content-encoding": "br" }, body: V2 } },
    ],
  },
  {
    ...common,
    id: "compression/freshened",
    name: "a page that the origin confirmed keeps its compressed forms, with its new fields",
    source: "RFC 9111 §4.3.4",
    origin: {
      "/a": [
        text("max-age=10", V1, { etag: '"1"', "x-seen": "1" }),
        { status: 304, fields: { etag: '"1"', "cache-control": "max-age=10", "x-seen": "2" } },
        text("max-age=10", V2, { etag: '"2"' }),
      ],
    },
    steps: [
      ...warmed("/a"),
      { advanceMs: 11_000 },
      {
        get: "/a",
        fields: BROWSER,
        expect: {
          xCache: "REVALIDATED",
          body: V1,
          fields: { "content-encoding": "br", etag: 'W/"1"', "x-seen": "2", vary: "Accept-Encoding" },
        },
      },
      { get: "/a", fields: BROWSER, expect: { xCache: "HIT", fields: { "content-encoding": "br", "x-seen": "2" } } },
      { advanceMs: 11_000 },
      { get: "/a", fields: BROWSER, expect: { xCache: "EXPIRED", body: V2, fields: { ...PLAIN, etag: '"2"' } } },
      { work: "finished" },
      {
        get: "/a",
        fields: BROWSER,
        expect: { xCache: "HIT", body: V2, fields: { "content-encoding": "br", etag: 'W/"2"' } },
      },
    ],
  },
  {
    ...common,
    id: "compression/freshened-with-no-transform",
    name: "if a 304 adds no-transform to a page, the page is sent plain from then on",
    source: "RFC 9111 §5.2.2.6",
    origin: {
      "/a": [
        text("max-age=10", V1, { etag: '"1"' }),
        { status: 304, fields: { etag: '"1"', "cache-control": "max-age=10, no-transform" } },
      ],
    },
    steps: [
      ...warmed("/a"),
      { advanceMs: 11_000 },
      { get: "/a", fields: BROWSER, expect: { xCache: "REVALIDATED", body: V1, fields: { ...PLAIN, etag: '"1"' } } },
      { get: "/a", fields: BROWSER, expect: { xCache: "HIT", body: V1, fields: { ...PLAIN, etag: '"1"' } } },
    ],
  },
  {
    ...common,
    id: "compression/stale",
    name: "a stale page that replaces an error is compressed too",
    origin: { "/a": [text("max-age=10, stale-if-error=600"), { failure: "reset" }] },
    steps: [
      ...warmed("/a"),
      { advanceMs: 11_000 },
      { get: "/a", fields: BROWSER, expect: { xCache: "STALE", body: V1, fields: { "content-encoding": "br" } } },
    ],
  },
  {
    ...common,
    id: "compression/not-for-one-visitor",
    name: "an answer that is not stored is never compressed",
    source: "docs/security.md#compression",
    origin: { "/mine": [text("private"), text("private")] },
    steps: [
      { get: "/mine", fields: BROWSER, expect: { fields: { ...PLAIN, vary: null }, body: V1 } },
      { work: "finished" },
      { get: "/mine", fields: BROWSER, expect: { fields: { ...PLAIN, vary: null }, body: V1 } },
    ],
  },
  {
    ...common,
    id: "compression/off",
    name: "without the setting, pages are sent as the origin sent them",
    site: {},
    origin: { "/a": [text("max-age=60")] },
    steps: staysPlain("/a"),
  },
  {
    ...common,
    id: "compression/explained",
    name: "an explanation names the coding in which a page would be sent, or says why it would be sent plain",
    source: "docs/reference/http-api.md#explain",
    origin: { "/a": [text("max-age=60")], "/b": [page("max-age=60", V1, { "content-type": "image/png" })] },
    steps: [
      ...warmed("/a"),
      explained("/a", BROWSER, "br"),
      explained("/a", { "accept-encoding": "zstd" }, "zstd-later"),
      explained("/a", {}, "not-wanted"),
      explained("/a", { ...BROWSER, range: "bytes=0-1" }, "part"),
      { get: "/b", expect: { xCache: "MISS" } },
      { work: "finished" },
      explained("/b", BROWSER, "type"),
    ],
  },
];

function explained(url: string, fields: Readonly<Record<string, string>>, because: string): Step {
  const wanted = JSON.stringify([
    { step: "memory", because: "fresh" },
    { step: "coding", because },
  ]);
  return {
    send: {
      method: "POST",
      path: "/_tidemark/explain",
      fields: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ url, fields }),
    },
    expect: { status: 200, body: new RegExp(wanted.replace(/[[\]{}]/g, "\\$&")) },
  };
}
