import type { Scenario, Step } from "../../engine/scenario.ts";
import { MODIFIED, part, stored, ten } from "./openings.ts";

function whole(fields: Readonly<Record<string, string>>): Step {
  const expect = { status: 200, xCache: "HIT", body: "0123456789", fields: { "content-range": null } };
  return { get: "/a", fields, expect };
}

function singleBytes(count: number, lengthBytes: string) {
  return Array.from({ length: count }, (_, index) => ({
    contentRange: `bytes ${index * 2}-${index * 2}/${lengthBytes}`,
    contentType: "text/plain",
    body: "x",
  }));
}

/** No XML, in spite of its name, but a compressed archive. */
const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/** Longer than what a server's disk gives at once. */
const long = "0123456789".repeat(40_000);

/** Parts that are cut from a stored page, RFC 9110 §14. */
export const scenarios: readonly Scenario[] = [
  {
    id: "ranges/part-of-stored-page",
    name: "a part is cut from the stored page: by first and last byte, from a byte to the end, or the last bytes",
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
    id: "ranges/digest-of-the-whole",
    name: "a part does not come with the digest of the whole page, which every client would miss",
    source: "RFC 9530 §2",
    origin: {
      "/a": [{ ...ten, fields: { ...ten.fields, "content-digest": "sha-256=:ten:", "repr-digest": "sha-256=:ten:" } }],
    },
    steps: [
      ...stored,
      ...["bytes=0-0", "bytes=0-0, 2-4"].map(
        (range): Step => ({
          get: "/a",
          fields: { range },
          expect: { status: 206, fields: { "content-digest": null, "repr-digest": "sha-256=:ten:" } },
        }),
      ),
      { get: "/a", expect: { status: 200, fields: { "content-digest": "sha-256=:ten:" } } },
    ],
  },
  {
    id: "ranges/date-of-many-forms",
    name: "a date in If-Range gives no part of a text, or of bytes in a coding, to a client that may hold them in another, which has the same date",
    source: "RFC 9110 §13.1.5, §8.8.2.2",
    origin: {
      "/text": [{ ...ten, fields: { ...ten.fields, "content-type": "text/html" } }],
      "/picture": [{ ...ten, fields: { ...ten.fields, "content-type": "image/png" } }],
      "/letter": [{ ...ten, fields: { ...ten.fields, "content-type": DOCX } }],
      "/coded": [
        { ...ten, fields: { ...ten.fields, "content-type": "application/octet-stream", "content-encoding": "gzip" } },
      ],
    },
    steps: [
      { get: "/text", expect: { xCache: "MISS" } },
      { get: "/picture", expect: { xCache: "MISS" } },
      { get: "/letter", expect: { xCache: "MISS" } },
      { get: "/coded", fields: { "accept-encoding": "gzip" }, expect: { xCache: "MISS" } },
      ...(
        [
          ["/text", "gzip", MODIFIED, 200],
          ["/text", "gzip", '"1"', 206],
          ["/text", "identity", MODIFIED, 206],
          ["/picture", "gzip", MODIFIED, 206],
          ["/letter", "gzip", MODIFIED, 206],
          ["/coded", "gzip", MODIFIED, 200],
          ["/coded", "gzip", '"1"', 206],
        ] as const
      ).map(
        ([get, coding, held, status]): Step => ({
          get,
          fields: { "accept-encoding": coding, range: "bytes=0-0", "if-range": held },
          expect: { status, xCache: "HIT" },
        }),
      ),
    ],
  },
  {
    id: "ranges/part-after-restart",
    name: "a part can also be cut after the isolate has restarted",
    source: "RFC 9110 §14; docs/http.md#memory-and-the-cache-api",
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
    id: "ranges/part-of-page-not-in-memory",
    name: "a part of a page that is not in memory is cut from the shared tier's stream; if several parts would need it twice, the whole page is sent",
    source: "RFC 9110 §14.2; docs/http.md#bodies-and-ranges",
    origin: { "/a": [{ ...ten, body: long }] },
    site: { limits: { memoryBytes: 0 } },
    steps: [
      { get: "/a", expect: { status: 200, xCache: "MISS" } },
      { advanceMs: 10_000 },
      part("bytes=0-0", "bytes 0-0/400000", "0"),
      part("bytes=-3", "bytes 399997-399999/400000", "789"),
      part("bytes=262139-262149", "bytes 262139-262149/400000", "90123456789"),
      {
        get: "/a",
        fields: { range: "bytes=1-2,262143-262144,399999-" },
        expect: {
          status: 206,
          xCache: "HIT",
          ageSeconds: 10,
          parts: [
            { contentRange: "bytes 1-2/400000", contentType: "text/plain", body: "12" },
            { contentRange: "bytes 262143-262144/400000", contentType: "text/plain", body: "34" },
            { contentRange: "bytes 399999-399999/400000", contentType: "text/plain", body: "9" },
          ],
        },
      },
      { get: "/a", fields: { range: "bytes=5-6,1-2" }, expect: { status: 200, xCache: "HIT", body: long } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "ranges/unsatisfiable-is-416",
    name: "a part that the page does not have answered 416 and the length of the page",
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
    id: "ranges/range-is-ignored",
    name: "a Range that is malformed, in another unit or for more bytes than the page has is ignored: the whole page is sent",
    source: "RFC 9110 §14.1.1, §14.2, §17.15",
    origin: { "/a": [ten] },
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
    ],
  },
  {
    id: "ranges/many-parts",
    name: "up to 256 parts are sent, but above 16 only if their heads do not make the answer larger than the page",
    source: "RFC 9110 §14.1.1, §14.2, §17.15",
    origin: {
      "/100": [{ ...ten, body: "x".repeat(100) }],
      "/3000": [{ ...ten, body: "x".repeat(3000) }],
      "/60000": [{ ...ten, body: "x".repeat(60_000) }],
    },
    steps: [
      ...["/100", "/3000", "/60000"].map((get) => ({ get, expect: { xCache: "MISS" } })),
      ...(
        [
          ["/100", 16, 206],
          ["/100", 17, 200],
          ["/3000", 39, 206],
          ["/3000", 40, 200],
          ["/60000", 256, 206],
          ["/60000", 257, 200],
        ] as const
      ).map(
        ([get, count, status]): Step => ({
          get,
          fields: { range: `bytes=${Array.from({ length: count }, (_, index) => `${index * 2}-${index * 2}`)}` },
          expect: { status, xCache: "HIT", ...(status === 206 && { parts: singleBytes(count, get.slice(1)) }) },
        }),
      ),
    ],
  },
  {
    id: "ranges/many-parts-stored-apart",
    name: "up to 64 parts are sent of a large page, which is read from its store for each",
    source: "RFC 9110 §14.2, §17.15",
    origin: { "/60000": [{ ...ten, body: "x".repeat(60_000) }] },
    site: { limits: { storeBytes: 1000 } },
    steps: [
      { get: "/60000", expect: { xCache: "MISS" } },
      { work: "finished" },
      ...(
        [
          [64, 206],
          [65, 200],
        ] as const
      ).map(
        ([count, status]): Step => ({
          get: "/60000",
          fields: { range: `bytes=${Array.from({ length: count }, (_, index) => `${index * 2}-${index * 2}`)}` },
          expect: { status, xCache: "HIT", ...(status === 206 && { parts: singleBytes(count, "60000") }) },
        }),
      ),
    ],
  },
  {
    id: "ranges/several-parts",
    name: "several parts are sent in one multipart body, each with its position and type, in the order of the request",
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
    id: "ranges/several-parts-of-a-download",
    name: "several parts of a page do not come with the Content-Range that scripts send with the whole",
    source: "RFC 9110 §15.3.7.2",
    origin: { "/a": [{ ...ten, fields: { ...ten.fields, "content-range": "bytes 0-9/10" } }] },
    steps: [
      ...stored,
      {
        get: "/a",
        fields: { range: "bytes=0-1,9-" },
        expect: {
          status: 206,
          fields: { "content-range": null },
          parts: [
            { contentRange: "bytes 0-1/10", contentType: "text/plain", body: "01" },
            { contentRange: "bytes 9-9/10", contentType: "text/plain", body: "9" },
          ],
        },
      },
    ],
  },
  {
    id: "ranges/parts-without-type",
    name: "parts of a page without a Content-Type have none",
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
    id: "ranges/overlapping-parts",
    name: "parts that overlap or touch are sent as one, and if only one of several parts exists, it is sent without multipart",
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
    id: "ranges/if-range-decides",
    name: "If-Range gives the part to a client that has this version of the page, and the whole page to all others",
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
    id: "ranges/condition-before-range",
    name: "a client that has the page gets a 304 even if it asks for a part",
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
    id: "ranges/range-with-head",
    name: "Range has no effect on HEAD",
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
    id: "ranges/nothing-to-cut",
    name: "no part is cut from a stored error, a redirect, or an empty page",
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
    id: "ranges/part-of-encoded-page",
    name: "a part of an encoded page is cut from its encoded bytes, for a client that accepts the coding",
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
