import type { Reply } from "../../cdn/scripted-origin.ts";
import type { Scenario, Step } from "../engine/scenario.ts";

const MODIFIED = "Thu, 01 Jan 2026 11:59:59 GMT";

/** Ten bytes, of which the second is just as old as it takes for its date to count. */
const ten: Reply = {
  fields: { "cache-control": "max-age=60", "content-type": "text/plain", etag: '"1"', "last-modified": MODIFIED },
  body: "0123456789",
};
const otherTen: Reply = { ...ten, fields: { ...ten.fields, etag: '"2"' }, body: "abcdefghij" };

const stored: readonly Step[] = [{ get: "/a", expect: { status: 200, xCache: "MISS", body: "0123456789" } }];

function part(range: string, contentRange: string, body: string, xCache = "HIT"): Step {
  const fields = { "content-range": contentRange, "content-type": "text/plain", etag: '"1"' };
  return { get: "/a", fields: { range }, expect: { status: 206, xCache, body, fields } };
}

function whole(fields: Readonly<Record<string, string>>): Step {
  const expect = { status: 200, xCache: "HIT", body: "0123456789", fields: { "content-range": null } };
  return { get: "/a", fields, expect };
}

const orderIsOurs = { engine: "memory", because: "what goes on behind an answer ends unseen in the runtime" } as const;

/** What is cut from a stored page. RFC 9110 §14. */
const cutting: readonly Scenario[] = [
  {
    name: "a part of a stored page is cut from it: the first and last byte, from one on, the last so many",
    source: "RFC 9110 §14.1.2, §14.4, §15.3.7",
    origin: { "/a": [ten] },
    steps: [
      ...stored,
      { advanceMs: 10_000 },
      part("bytes=0-0", "bytes 0-0/10", "0"),
      part("bytes=9-9", "bytes 9-9/10", "9"),
      part("bytes=2-4", "bytes 2-4/10", "234"),
      part("bytes=0-9", "bytes 0-9/10", "0123456789"),
      part("bytes=5-10", "bytes 5-9/10", "56789"),
      part("bytes=5-99999999999999999999", "bytes 5-9/10", "56789"),
      part("bytes=9-", "bytes 9-9/10", "9"),
      part("bytes=0-", "bytes 0-9/10", "0123456789"),
      part("bytes=-1", "bytes 9-9/10", "9"),
      part("bytes=-10", "bytes 0-9/10", "0123456789"),
      part("bytes=-11", "bytes 0-9/10", "0123456789"),
      part("BYTES= 0-1 ,", "bytes 0-1/10", "01"),
      {
        get: "/a",
        fields: { range: "bytes=0-0" },
        expect: { status: 206, ageSeconds: 10, cacheStatus: "tidemark; hit; ttl=50" },
      },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "a part is cut after the isolate has restarted, too",
    source: "RFC 9110 §14; docs/design.md#tiers",
    origin: { "/a": [ten] },
    steps: [
      ...stored,
      { advanceMs: 1 },
      { restart: "isolate" },
      part("bytes=-3", "bytes 7-9/10", "789"),
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "a part that the page does not have is a 416 with the length of the page",
    source: "RFC 9110 §15.5.17, §14.4",
    origin: { "/a": [ten] },
    steps: [
      ...stored,
      ...["bytes=10-10", "bytes=10-", "bytes=-0", "bytes=20-30,40-50", "bytes=99999999999999999999-"].map((range) => ({
        get: "/a",
        fields: { range },
        expect: {
          status: 416,
          xCache: "HIT",
          body: "",
          fields: { "content-range": "bytes */10", "content-type": null },
        },
      })),
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "a Range that is malformed, of another unit or of too many parts is passed over: the whole page is sent",
    source: "RFC 9110 §14.1.1, §14.2, §17.15",
    origin: { "/a": [ten], "/long": [{ ...ten, body: "x".repeat(100) }] },
    steps: [
      ...stored,
      ...[
        "",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=5-2",
        "bytes=a-b",
        "bytes=0x0-1",
        "bytes=+1-2",
        "bytes=1 - 2",
        "bytes 0-1",
        "bytes=0-1;2-3",
        "bytes=0-1,x",
        "lines=0-1",
        "bytes=0-5,0-5",
        `bytes=${"0-0,".repeat(17)}`,
      ].map((range) => whole({ range })),
      { get: "/long", expect: { xCache: "MISS" } },
      {
        get: "/long",
        fields: { range: `bytes=${Array.from({ length: 17 }, (_, index) => `${index * 2}-${index * 2}`)}` },
        expect: { status: 200, xCache: "HIT", body: "x".repeat(100) },
      },
      {
        get: "/long",
        fields: { range: `bytes=${Array.from({ length: 16 }, (_, index) => `${index * 2}-${index * 2}`)}` },
        expect: { status: 206, xCache: "HIT" },
      },
    ],
  },
  {
    name: "several parts come in one multipart body, each with its place and type, in the order of the request",
    source: "RFC 9110 §14.6, §15.3.7.2",
    origin: { "/a": [ten] },
    steps: [
      ...stored,
      {
        get: "/a",
        fields: { range: "bytes=0-1, -1" },
        expect: {
          status: 206,
          xCache: "HIT",
          fields: { "content-range": null, etag: '"1"' },
          parts: [
            { contentRange: "bytes 0-1/10", contentType: "text/plain", body: "01" },
            { contentRange: "bytes 9-9/10", contentType: "text/plain", body: "9" },
          ],
        },
      },
      {
        get: "/a",
        fields: { range: "bytes=8-,4-5,0-0,99-" },
        expect: {
          status: 206,
          parts: [
            { contentRange: "bytes 8-9/10", contentType: "text/plain", body: "89" },
            { contentRange: "bytes 4-5/10", contentType: "text/plain", body: "45" },
            { contentRange: "bytes 0-0/10", contentType: "text/plain", body: "0" },
          ],
        },
      },
      { advanceMs: 1 },
      { restart: "isolate" },
      {
        get: "/a",
        fields: { range: "bytes=0-0,2-2" },
        expect: {
          status: 206,
          parts: [
            { contentRange: "bytes 0-0/10", contentType: "text/plain", body: "0" },
            { contentRange: "bytes 2-2/10", contentType: "text/plain", body: "2" },
          ],
        },
      },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "the parts of a page without a type have none",
    source: "RFC 9110 §15.3.7.2",
    origin: { "/a": [{ ...ten, fields: { "cache-control": "max-age=60" } }] },
    steps: [
      ...stored,
      {
        get: "/a",
        fields: { range: "bytes=0-0,9-9" },
        expect: {
          status: 206,
          parts: [
            { contentRange: "bytes 0-0/10", contentType: null, body: "0" },
            { contentRange: "bytes 9-9/10", contentType: null, body: "9" },
          ],
        },
      },
    ],
  },
  {
    name: "parts that overlap or touch are sent as one, and one that is left over of several is sent alone",
    source: "RFC 9110 §15.3.7.2",
    origin: { "/a": [ten] },
    steps: [
      ...stored,
      part("bytes=0-2,2-4", "bytes 0-4/10", "01234"),
      part("bytes=0-1,2-3", "bytes 0-3/10", "0123"),
      part("bytes=4-5,0-1,2-3", "bytes 0-5/10", "012345"),
      part("bytes=0-1,10-", "bytes 0-1/10", "01"),
      {
        get: "/a",
        fields: { range: "bytes=0-1,3-4" },
        expect: {
          status: 206,
          parts: [
            { contentRange: "bytes 0-1/10", contentType: "text/plain", body: "01" },
            { contentRange: "bytes 3-4/10", contentType: "text/plain", body: "34" },
          ],
        },
      },
    ],
  },
  {
    name: "If-Range gives the part to who holds this very page, and the whole page to all others",
    source: "RFC 9110 §13.1.5, §8.8.2.2",
    origin: {
      "/a": [ten],
      "/weak": [{ ...ten, fields: { ...ten.fields, etag: 'W/"1"' } }],
      "/young": [{ ...ten, fields: { ...ten.fields, "last-modified": "Thu, 01 Jan 2026 12:00:00 GMT" } }],
    },
    steps: [
      ...stored,
      { get: "/weak", expect: { xCache: "MISS" } },
      { get: "/young", expect: { xCache: "MISS" } },
      ...['"1"', ` "1" `, MODIFIED].map((held) => ({
        get: "/a",
        fields: { range: "bytes=0-0", "if-range": held },
        expect: { status: 206, xCache: "HIT", body: "0" },
      })),
      ...[
        'W/"1"',
        '"2"',
        '"1", "2"',
        "1",
        "*",
        "Thu, 01 Jan 2026 11:59:58 GMT",
        "Thu, 01 Jan 2026 12:00:00 GMT",
        "2026-01-01T11:59:59Z",
      ].map((held) => whole({ range: "bytes=0-0", "if-range": held })),
      { get: "/weak", fields: { range: "bytes=0-0", "if-range": 'W/"1"' }, expect: { status: 200, xCache: "HIT" } },
      { get: "/weak", fields: { range: "bytes=0-0", "if-range": '"1"' }, expect: { status: 200, xCache: "HIT" } },
      {
        get: "/young",
        fields: { range: "bytes=0-0", "if-range": "Thu, 01 Jan 2026 12:00:00 GMT" },
        expect: { status: 200, xCache: "HIT" },
      },
      whole({ "if-range": '"1"' }),
      whole({ range: "bytes=99-", "if-range": '"2"' }),
    ],
  },
  {
    name: "a client that holds the page gets a 304 though it asks for a part of it",
    source: "RFC 9110 §13.2.2",
    origin: { "/a": [ten] },
    steps: [
      ...stored,
      { get: "/a", fields: { range: "bytes=0-0", "if-none-match": '"1"' }, expect: { status: 304, xCache: "HIT" } },
      { get: "/a", fields: { range: "bytes=99-", "if-modified-since": MODIFIED }, expect: { status: 304 } },
      {
        get: "/a",
        fields: { range: "bytes=0-0", "if-none-match": '"2"', "if-modified-since": MODIFIED },
        expect: { status: 206, xCache: "HIT", body: "0" },
      },
    ],
  },
  {
    name: "Range means nothing with HEAD",
    source: "RFC 9110 §14.2",
    origin: { "/a": [ten] },
    steps: [
      ...stored,
      {
        send: { method: "HEAD", path: "/a", fields: { range: "bytes=0-0" } },
        expect: { status: 200, xCache: "HIT", body: "", fields: { "content-length": "10", "content-range": null } },
      },
      { send: { method: "HEAD", path: "/a", fields: { range: "bytes=99-" } }, expect: { status: 200, xCache: "HIT" } },
    ],
  },
  {
    name: "nothing is cut from a stored error, a redirect, or a page without bytes",
    source: "RFC 9110 §14.2",
    origin: {
      "/gone": [{ ...ten, status: 410 }],
      "/moved": [{ ...ten, status: 301, fields: { ...ten.fields, location: "/a" } }],
      "/empty": [{ ...ten, body: "" }],
    },
    steps: [
      ...["/gone", "/moved", "/empty"].map((path) => ({ get: path, expect: { xCache: "MISS" } })),
      { get: "/gone", fields: { range: "bytes=0-0" }, expect: { status: 410, xCache: "HIT", body: "0123456789" } },
      { get: "/moved", fields: { range: "bytes=99-" }, expect: { status: 301, xCache: "HIT", body: "0123456789" } },
      { get: "/empty", fields: { range: "bytes=0-0" }, expect: { status: 200, xCache: "HIT", body: "" } },
    ],
  },
  {
    name: "a part of an encoded page is cut from its encoded bytes, for who accepts the coding",
    source: "RFC 9110 §14.1.2, §8.4",
    origin: {
      "/a": [
        { ...ten, fields: { ...ten.fields, "content-encoding": "gzip", vary: "accept-encoding" } },
        { status: 206, fields: { "content-range": "bytes 0-1/20" }, body: "pl" },
      ],
    },
    steps: [
      { get: "/a", fields: { "accept-encoding": "gzip" }, expect: { xCache: "MISS" } },
      {
        get: "/a",
        fields: { "accept-encoding": "gzip, br;q=0", range: "bytes=0-1" },
        expect: {
          status: 206,
          xCache: "HIT",
          body: "01",
          fields: { "content-encoding": "gzip", "content-range": "bytes 0-1/10" },
        },
      },
      {
        get: "/a",
        fields: { range: "bytes=0-1" },
        expect: { status: 206, xCache: "MISS", body: "pl", fields: { "content-encoding": null } },
      },
    ],
  },
];

/** What the origin is asked where a part is wanted and nothing fresh is stored. RFC 9111 §3.3, §4.3. */
const fetching: readonly Scenario[] = [
  {
    name: "a part of a page that is not stored is asked of the origin as it was asked for, and is not stored",
    source: "RFC 9111 §3.3; RFC 9110 §14.2",
    origin: {
      "/a": [
        { status: 206, fields: { ...ten.fields, "content-range": "bytes 0-1/10" }, body: "01" },
        { status: 416, fields: { "cache-control": "max-age=60", "content-range": "bytes */10" } },
        ten,
      ],
    },
    steps: [
      {
        get: "/a",
        fields: { range: "bytes=0-1", "if-range": '"1"', "if-none-match": '"0"' },
        expect: {
          status: 206,
          xCache: "MISS",
          body: "01",
          cacheStatus: "tidemark; fwd=partial; fwd-status=206",
          fields: { "content-range": "bytes 0-1/10" },
        },
      },
      { originLastSaw: "/a", fields: { range: "bytes=0-1", "if-range": '"1"', "if-none-match": '"0"' } },
      { get: "/a", fields: { range: "bytes=99-" }, expect: { status: 416, xCache: "MISS" } },
      { get: "/a", expect: { status: 200, xCache: "MISS", body: "0123456789" } },
      { originLastSaw: "/a", fields: { range: null } },
    ],
  },
  {
    name: "a part of a stale page is cut when the origin has confirmed the page, which is fresh again",
    source: "RFC 9111 §4.3; RFC 9110 §14.2",
    origin: { "/a": [ten, { status: 304, fields: { etag: '"1"' } }] },
    steps: [
      ...stored,
      { advanceMs: 60_000 },
      part("bytes=2-3", "bytes 2-3/10", "23", "REVALIDATED"),
      { originLastSaw: "/a", fields: { range: null, "if-none-match": '"1"', "if-modified-since": MODIFIED } },
      part("bytes=-1", "bytes 9-9/10", "9"),
      { get: "/a", expect: { xCache: "HIT", body: "0123456789" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "a part of a stale page that has changed is asked of the origin as it was asked for",
    source: "RFC 9110 §14.2",
    origin: {
      "/a": [ten, otherTen, { status: 206, fields: { etag: '"2"', "content-range": "bytes 0-1/10" }, body: "ab" }],
    },
    steps: [
      ...stored,
      { advanceMs: 60_000 },
      {
        get: "/a",
        fields: { range: "bytes=0-1" },
        expect: { status: 206, xCache: "EXPIRED", body: "ab", cacheStatus: "tidemark; fwd=partial; fwd-status=206" },
      },
      { originLastSaw: "/a", fields: { range: "bytes=0-1", "if-none-match": null } },
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    name: "a purged page gives no part",
    source: "docs/protocol.md#what-a-purge-promises",
    origin: {
      "/a": [ten, { status: 206, fields: { "content-range": "bytes 0-1/10" }, body: "ab" }],
    },
    steps: [
      ...stored,
      { purge: { urls: ["/a"] } },
      { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 206, xCache: "MISS", body: "ab" } },
      { originLastSaw: "/a", fields: { range: "bytes=0-1", "if-none-match": null } },
    ],
  },
  {
    name: "where the site says so, a small page is fetched whole for who asks for a part of it, and is stored",
    source: "RFC 9110 §14.2; docs/design.md#limits",
    site: { limits: { fetchWholeBytes: 10 } },
    origin: { "/a": [ten] },
    steps: [
      {
        get: "/a",
        fields: { range: "bytes=2-3", "if-range": '"1"' },
        expect: {
          status: 206,
          xCache: "MISS",
          body: "23",
          cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored",
          fields: { "content-range": "bytes 2-3/10" },
        },
      },
      { originLastSaw: "/a", fields: { range: null, "if-range": null } },
      { get: "/a", expect: { status: 200, xCache: "HIT", body: "0123456789" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  ...(
    [
      ["is too large", { ...ten, body: "eleven byte" }],
      ["does not tell its length", { ...ten, framing: "chunked" }],
      ["may not be stored", { ...ten, fields: { "cache-control": "no-store" } }],
      ["is cut off", { ...ten, cutAfterBytes: 5 }],
    ] as const
  ).map(
    ([what, reply]): Scenario => ({
      name: `where small pages are fetched whole, one that ${what} is asked for the part alone after all`,
      source: "RFC 9110 §14.2; docs/design.md#limits",
      site: { limits: { fetchWholeBytes: 10 } },
      origin: {
        "/a": [reply, { status: 206, fields: { "content-range": "bytes 2-3/11" }, body: "part" }, ten],
      },
      steps: [
        {
          get: "/a",
          fields: { range: "bytes=2-3" },
          expect: { status: 206, body: "part", fields: { "content-range": "bytes 2-3/11" } },
        },
        { originLastSaw: "/a", fields: { range: "bytes=2-3" } },
        { originSaw: { "/a": 2 } },
        { get: "/a", expect: { xCache: "MISS" } },
      ],
    }),
  ),
  {
    name: "who wants the whole page waits for the one that is fetched for a part",
    source: "docs/design.md#collapsing",
    only: orderIsOurs,
    site: { limits: { fetchWholeBytes: 10 } },
    origin: { "/a": [{ ...ten, hold: "slow" }] },
    steps: [
      { begin: "part", send: { path: "/a", fields: { range: "bytes=0-0" } } },
      { originSees: "/a", count: 1 },
      { begin: "whole", send: { path: "/a" } },
      { begin: "other part", send: { path: "/a", fields: { range: "bytes=-1" } } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "part", expect: { status: 206, body: "0" } },
      { finish: "whole", expect: { status: 200, body: "0123456789", cacheStatus: /; collapsed$/ } },
      { finish: "other part", expect: { status: 206, body: "9", cacheStatus: /; collapsed$/ } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    name: "a part of a page that may be shown stale is cut at once, and the whole page is fetched anew behind it",
    source: "RFC 5861 §3; RFC 9110 §14.2",
    only: orderIsOurs,
    origin: {
      "/a": [{ ...ten, fields: { ...ten.fields, "cache-control": "max-age=60, stale-while-revalidate=60" } }, otherTen],
    },
    steps: [
      ...stored,
      { advanceMs: 60_000 },
      part("bytes=0-1", "bytes 0-1/10", "01", "UPDATING"),
      { advanceMs: 1 },
      { originLastSaw: "/a", fields: { range: null, "if-none-match": '"1"' } },
      { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 206, xCache: "HIT", body: "ab" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    name: "a part of a stale page is cut where the origin has failed and the page allows that",
    source: "RFC 5861 §4; RFC 9110 §14.2",
    origin: {
      "/a": [
        { ...ten, fields: { ...ten.fields, "cache-control": "max-age=60, stale-if-error=60" } },
        { status: 503, body: "down" },
      ],
    },
    steps: [...stored, { advanceMs: 60_000 }, part("bytes=0-1", "bytes 0-1/10", "01", "STALE")],
  },
];

/** Ranges: parts of what is stored, and parts of what is not. */
export const ranges: readonly Scenario[] = [...cutting, ...fetching];
