import type { Scenario, Step } from "../../engine/scenario.ts";
import { SEVERAL_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";
import { MODIFIED, stillV1, storedAndStale, v1, v2 } from "./openings.ts";

const ACROSS = { origin: "https://a.example" };

const SINCE = { "if-modified-since": MODIFIED };

const LATER = "Thu, 01 Jan 2026 10:00:01 GMT";

/** A page with a date and no lifetime. */
const DATED = { fields: { "last-modified": MODIFIED } };

function dated(cacheControl: string, body = "v1") {
  return page(cacheControl, body, DATED.fields);
}

/** What lets the scripts of other sites read a page. */
const READABLE = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "x-total",
  "cross-origin-resource-policy": "cross-origin",
  "timing-allow-origin": "*",
  "x-total": "7",
};

/** Clients' own conditions, RFC 9110 §13. */
export const scenarios: readonly Scenario[] = [
  {
    id: "validation/client-304-from-store",
    name: "a client that has the stored page gets a 304 from the store, with the required fields and no others",
    source: "RFC 9111 §4.3.2; RFC 9110 §15.4.5",
    origin: {
      "/a": [page("max-age=60", "v1", { etag: '"1"', "content-type": "text/plain" })],
    },
    steps: [
      { get: "/a", expect: { status: 200, xCache: "MISS", body: "v1" } },
      { advanceMs: 10_000 },
      {
        get: "/a",
        fields: { "if-none-match": 'W/"1"' },
        expect: {
          status: 304,
          xCache: "HIT",
          body: "",
          ageSeconds: 10,
          cacheStatus: "tidemark; hit; ttl=50",
          fields: { etag: '"1"', "cache-control": "max-age=60", "content-type": null },
        },
      },
      { get: "/a", fields: { "if-none-match": '"2"' }, expect: { status: 200, xCache: "HIT", body: "v1" } },
      {
        send: { method: "HEAD", path: "/a", fields: { "if-none-match": "*" } },
        expect: { status: 304, xCache: "HIT" },
      },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "validation/304-for-another-origin",
    name: "a 304 and a 416 from the store let the same scripts read them as the page, and leave out only what describes its bytes",
    source: "RFC 9110 §15.4.5; the Fetch standard, CORS check",
    origin: {
      "/a": [
        page("max-age=60", "v1", {
          ...READABLE,
          etag: '"1"',
          "last-modified": MODIFIED,
          "content-type": "text/plain",
          "content-language": "en",
          "content-digest": "sha-256=:1:",
        }),
      ],
    },
    steps: [
      { get: "/a", fields: ACROSS, expect: { xCache: "MISS", fields: READABLE } },
      ...(
        [
          [304, { "if-none-match": '"1"' }, { "last-modified": null }],
          [416, { range: "bytes=9-" }, { "content-range": "bytes */2" }],
        ] as const
      ).map(
        ([status, asked, fields]): Step => ({
          get: "/a",
          fields: { ...ACROSS, ...asked },
          expect: {
            status,
            xCache: "HIT",
            fields: {
              ...READABLE,
              "content-type": null,
              "content-language": null,
              "content-digest": null,
              ...fields,
            },
          },
        }),
      ),
    ],
  },
  {
    id: "validation/purged-is-never-304",
    name: "a purged page never gives a 304: a client that has the old page gets the new one",
    source: "docs/protocol.md#what-a-purge-promises",
    origin: {
      "/a": [page("max-age=60", "v1", { etag: '"1"' }), page("max-age=60", "v2", { etag: '"2"' })],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { purge: { urls: ["/a"] } },
      { get: "/a", fields: { "if-none-match": '"1"' }, expect: { status: 200, xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "validation/stored-error-is-never-304",
    name: "a stored error or redirect never gives a 304",
    source: "RFC 9110 §13.2.1",
    origin: { "/a": [{ status: 404, fields: { "cache-control": "max-age=60", etag: '"1"' }, body: "nothing" }] },
    steps: [
      { get: "/a", expect: { status: 404, xCache: "MISS" } },
      { get: "/a", fields: { "if-none-match": '"1"' }, expect: { status: 404, xCache: "HIT", body: "nothing" } },
    ],
  },
  {
    id: "validation/precondition-goes-to-origin",
    name: "a precondition on the origin's own state goes to the origin, and the answer is not stored",
    source: "RFC 9110 §13.1.1, §13.1.4; RFC 9111 §4.3.2",
    origin: { "/a": [page("max-age=60", "v1", { etag: '"1"' })] },
    steps: [
      { get: "/a", fields: { "if-match": '"1"' }, expect: { xCache: "BYPASS" } },
      { originLastSaw: "/a", fields: { "if-match": '"1"' } },
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/a", fields: { "if-unmodified-since": "Thu, 01 Jan 2026 12:00:00 GMT" }, expect: { xCache: "BYPASS" } },
      { originLastSaw: "/a", fields: { "if-unmodified-since": "Thu, 01 Jan 2026 12:00:00 GMT" } },
    ],
  },
  {
    id: "validation/client-304-is-not-stored",
    name: "a client's condition never makes the edge store a 304",
    source: "RFC 9111 §4.3.1",
    origin: { "/a": [page("max-age=60", "v1", { etag: '"1"' })] },
    steps: [
      { get: "/a", fields: { "if-none-match": '"1"' }, expect: { status: 304, xCache: "MISS", body: "" } },
      { originLastSaw: "/a", fields: { "if-none-match": null } },
      { get: "/a", expect: { status: 200, body: "v1" } },
      { get: "/a", expect: { xCache: "HIT", body: "v1" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "validation/client-holds-unstored-page",
    name: "a client that has a page that is not stored gets a 304, with its cookie, if the origin has sent the same again",
    source: "RFC 9111 §4.3.2; RFC 9110 §13.1.2, §13.1.3, §15.4.5",
    site: { routes: [{ match: "/pass", pass: true }] },
    origin: {
      "/a": [page("private", "v1", { etag: '"1"', "content-type": "text/plain", "set-cookie": "a=1" })],
      "/dated": [page("no-store", "v1", { "last-modified": MODIFIED })],
      "/undated": [page("no-store", "v1")],
      "/error": [{ status: 404, fields: { "cache-control": "no-store", etag: '"1"' }, body: "nothing" }],
      "/pass": [page("private", "v1", { etag: '"1"' })],
    },
    steps: [
      {
        get: "/a",
        fields: { "if-none-match": 'W/"1"' },
        expect: {
          status: 304,
          xCache: "MISS",
          body: "",
          cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; detail=private",
          fields: { etag: '"1"', "cache-control": "private", "set-cookie": "a=1", "content-type": null },
        },
      },
      { originLastSaw: "/a", fields: { "if-none-match": null } },
      ...(
        [
          ["/a", { "if-none-match": '"2"' }, 200],
          ["/a", { "if-none-match": '"1"', range: "bytes=0-" }, 304],
          ["/dated", { "if-modified-since": MODIFIED }, 200], // PHP's date of a page is that of its script
          ["/dated", { "if-none-match": "*" }, 200],
          ["/undated", { "if-modified-since": "Fri, 01 Jan 2027 10:00:00 GMT" }, 200],
          ["/error", { "if-none-match": '"1"' }, 404],
          ["/pass", { "if-none-match": '"1"' }, 200], // for the origin alone
        ] as const
      ).flatMap(([path, fields, status]): readonly Step[] => [
        { get: path, fields, expect: { status } },
        { send: { method: "HEAD", path, fields }, expect: { status, body: "" } },
      ]),
    ],
  },
  {
    id: "validation/date-of-unstored-page",
    name: "the origin judges a client's date itself for a page with a date that only lacks a lifetime, for this client alone",
    source: "RFC 9110 §13.1.3, §13.2.2",
    origin: {
      "/a": [{ ...DATED, body: "v1" }, { status: 304 }, { ...DATED, body: "v2" }, { ...DATED, body: "v2" }],
      "/sent": [{ ...DATED, body: "v1" }],
      "/refused": [{ ...DATED, body: "v1" }, { status: 403 }, { ...DATED, body: "v1" }],
    },
    steps: [
      { get: "/a", fields: SINCE, expect: { status: 200, xCache: "MISS", body: "v1" } },
      { originLastSaw: "/a", fields: { "if-modified-since": null } },
      {
        get: "/a",
        fields: SINCE,
        expect: {
          status: 304,
          xCache: "MISS",
          body: "",
          cacheStatus: "tidemark; fwd=uri-miss; fwd-status=304; detail=no-freshness",
        },
      },
      { originLastSaw: "/a", fields: SINCE },
      {
        get: "/a",
        fields: SINCE,
        expect: { status: 200, body: "v2", cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; detail=no-freshness" },
      },
      { advanceMs: 3_600_000 },
      { get: "/a", fields: SINCE, expect: { status: 200, xCache: "MISS", body: "v2" } },
      { originLastSaw: "/a", fields: { "if-modified-since": null } },
      { get: "/sent", expect: { status: 200 } },
      ...(
        [
          [{ "if-none-match": '"1"', ...SINCE }, null],
          [{ "if-none-match": '"1"' }, null],
          [{ range: "bytes=0-", ...SINCE }, null],
          [{ cookie: "id=1", ...SINCE }, null],
          [{ authorization: "Basic x", ...SINCE }, MODIFIED],
          [{ "x-odd": "1", ...SINCE }, null],
          [{}, null],
          [SINCE, MODIFIED],
        ] as const
      ).flatMap(([fields, since]): readonly Step[] => [
        { get: "/sent", fields, expect: { body: "v1" } },
        { originLastSaw: "/sent", fields: { "if-modified-since": since, "if-none-match": null } },
      ]),
      { send: { method: "HEAD", path: "/sent", fields: SINCE }, expect: { status: 200 } },
      { originLastSaw: "/sent", fields: { "if-modified-since": null } },
      { get: "/refused", expect: { status: 200 } },
      { get: "/refused", fields: { ...SINCE, referer: "https://a.example/" }, expect: { status: 200, body: "v1" } },
    ],
  },
  {
    id: "validation/date-beside-a-fetch",
    name: "the answer to a client's date is for nobody who asks for the page at the same time, and neither waits for the other",
    source: "RFC 9110 §13.1.3",
    origin: {
      "/a": [
        { ...DATED, body: "v1" },
        { status: 304, hold: "by date" },
        { ...DATED, body: "v1", hold: "whole" },
        { status: 304 },
      ],
    },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { advanceMs: 61_000 },
      { begin: "by date", send: { path: "/a", fields: SINCE } },
      { originSees: "/a", count: 2 },
      { begin: "whole", send: { path: "/a" } },
      { originSees: "/a", count: 3 },
      { get: "/a", fields: { "if-modified-since": LATER }, expect: { status: 304 } },
      { originLastSaw: "/a", fields: { "if-modified-since": LATER } },
      { release: "by date" },
      { release: "whole" },
      { finish: "by date", expect: { status: 304, body: "" } },
      { finish: "whole", expect: { status: 200, body: "v1" } },
    ],
  },
  {
    id: "validation/date-of-page-that-is-stored-again",
    name: "a client's date goes to the origin only after an answer 200 that lacks a lifetime alone, and until one may be stored",
    source: "RFC 9110 §13.1.3; RFC 9111 §3",
    origin: {
      "/a": [{ ...DATED, body: "v1" }, { status: 304, fields: { "cache-control": "max-age=60" } }, dated("max-age=60")],
      "/b": [{ ...DATED, body: "v1" }, dated("max-age=60", "v2"), dated("max-age=60", "v2")],
      "/c": [{ ...DATED, body: "v1" }, dated("max-age=1"), dated("max-age=1")],
      "/error": [{ status: 500, ...DATED }, dated("max-age=60")],
      "/missing": [{ status: 404, ...DATED }, dated("max-age=60")],
      "/once": [dated("no-store"), dated("max-age=60")],
      "/undated": [{ body: "v1" }, dated("max-age=60")],
      "/held": [dated("max-age=60"), { ...DATED, body: "v2" }, { ...DATED, body: "v2" }],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/a", fields: SINCE, expect: { status: 304, cacheStatus: "tidemark; fwd=uri-miss; fwd-status=304" } },
      { get: "/a", fields: SINCE, expect: { status: 304, xCache: "MISS", cacheStatus: /stored/ } },
      { work: "finished" },
      { get: "/a", fields: SINCE, expect: { status: 304, xCache: "HIT" } },
      { get: "/b", expect: { xCache: "MISS" } },
      {
        get: "/b",
        fields: SINCE,
        expect: { status: 200, body: "v2", cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200" },
      },
      { get: "/b", fields: SINCE, expect: { status: 304, xCache: "MISS", cacheStatus: /stored/ } },
      { get: "/c", expect: { xCache: "MISS" } },
      { get: "/c", expect: { xCache: "MISS", cacheStatus: /stored/ } },
      { purge: { urls: ["/c"] } },
      { get: "/c", fields: SINCE, expect: { status: 304, xCache: "MISS", cacheStatus: /stored/ } },
      ...["/error", "/missing", "/once", "/undated"].flatMap((path): readonly Step[] => [
        { get: path, expect: { xCache: "MISS" } },
        { get: path, fields: SINCE, expect: { status: 304, xCache: "MISS", cacheStatus: /stored/ } },
      ]),
      { get: "/held", expect: { xCache: "MISS" } },
      { advanceMs: 61_000 },
      { get: "/held", fields: SINCE, expect: { status: 200, xCache: "EXPIRED", body: "v2" } },
      { get: "/held", fields: SINCE, expect: { status: 200, xCache: "MISS", body: "v2" } },
      { originLastSaw: "/held", fields: { "if-modified-since": null } },
      { get: "/held", fields: SINCE, expect: { status: 200, xCache: "MISS", body: "v2" } },
      { originLastSaw: "/held", fields: SINCE },
    ],
  },
  {
    id: "validation/date-of-page-that-another-isolate-stores",
    name: "an isolate that knows a page to lack a lifetime asks by the stored date, not the client's, once another has stored it",
    source: "RFC 9110 §13.1.3; RFC 9111 §4.3.1",
    only: SEVERAL_ISOLATES,
    origin: {
      "/a": [{ ...DATED, body: "v1" }, dated("max-age=1"), { status: 304, fields: { "cache-control": "max-age=60" } }],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS" } },
      { work: "finished" },
      { advanceMs: 2_000 },
      { get: "/a", fields: { "if-modified-since": LATER }, expect: { status: 304, xCache: "REVALIDATED" } },
      { originLastSaw: "/a", fields: SINCE },
    ],
  },
  {
    id: "validation/date-where-lifetimes-are-guessed",
    name: "a client's date does not go to the origin where the page has just changed, so that no lifetime could be guessed",
    source: "RFC 9110 §13.1.3, §8.8.2.2; RFC 9111 §4.2.2",
    site: { heuristic: {} },
    origin: { "/a": [{ fields: { "last-modified": "Thu, 01 Jan 2026 12:00:00 GMT" }, body: "v1" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", cacheStatus: /no-freshness/ } },
      { advanceMs: 600_000 },
      { get: "/a", fields: SINCE, expect: { status: 200, xCache: "MISS", cacheStatus: /stored/ } },
      { originLastSaw: "/a", fields: { "if-modified-since": null } },
    ],
  },
  {
    id: "validation/if-none-match",
    name: "a client's If-None-Match is compared weakly with the stored entity tag, and overrides If-Modified-Since",
    source: "RFC 9110 §13.1.2, §13.2.2",
    origin: {
      "/a": [{ ...v1, fields: { ...v1.fields, "last-modified": MODIFIED } }],
      "/weak": [{ ...v1, fields: { ...v1.fields, etag: 'W/"1"' } }],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/weak", expect: { xCache: "MISS" } },
      ...(
        [
          ['"1"', 304],
          ['W/"1"', 304],
          ['"0", "1"', 304],
          ['"0",W/"1" , "2"', 304],
          ["*", 304],
          ['"0"', 200],
          ['"0, 1"', 200],
          ["1", 200],
        ] as const
      ).map(([held, status]) => ({
        get: "/a",
        fields: { "if-none-match": held, "if-modified-since": MODIFIED },
        expect: { status, xCache: "HIT", body: status === 304 ? "" : "v1" },
      })),
      { get: "/weak", fields: { "if-none-match": '"1"' }, expect: { status: 304, fields: { etag: 'W/"1"' } } },
      { originSaw: { "/a": 1, "/weak": 1 } },
    ],
  },
  {
    id: "validation/tag-without-quotes",
    name: "a client that names the origin's entity tag without quotes, as it came, gets a 304, but no parts by If-Range",
    source: "RFC 9110 §8.8.3, §13.1.2, §13.1.5",
    origin: {
      "/a": [page("max-age=60", "v1", { etag: "a+/=", "last-modified": MODIFIED })],
      "/unstored": [page("private", "v1", { etag: "1" })],
    },
    steps: [
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/a", fields: { "if-none-match": "a+/=" }, expect: { status: 304, body: "", fields: { etag: "a+/=" } } },
      ...["a", "a+/=b", '"a+/="', 'a+/=, "1"', '"1", a+/='].map(
        (held): Step => ({
          get: "/a",
          fields: { "if-none-match": held, "if-modified-since": MODIFIED },
          expect: { status: 200, xCache: "HIT", body: "v1" },
        }),
      ),
      { get: "/a", fields: { range: "bytes=0-0", "if-range": "a+/=" }, expect: { status: 200, body: "v1" } },
      { get: "/unstored", fields: { "if-none-match": "1" }, expect: { status: 304, xCache: "MISS" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "validation/if-modified-since",
    name: "a client that has the page of the stored date or a later one gets a 304, with the date if there is no entity tag",
    source: "RFC 9110 §13.1.3, §15.4.5; RFC 9111 §4.3.2",
    origin: { "/a": [{ fields: { "cache-control": "max-age=60", "last-modified": MODIFIED }, body: "v1" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      ...(
        [
          ["Thu, 01 Jan 2026 09:59:59 GMT", 200],
          [MODIFIED, 304],
          ["Thu, 01 Jan 2026 10:00:01 GMT", 304],
          ["Thu Jan  1 10:00:00 2026", 304],
          ["Thursday, 01-Jan-26 10:00:00 GMT", 304],
          ["Thursday, 01-Jan-26 09:59:59 GMT", 200],
          ["2026-01-01T10:00:00Z", 200],
        ] as const
      ).map(([since, status]) => ({
        get: "/a",
        fields: { "if-modified-since": since },
        expect: { status, xCache: "HIT", body: status === 304 ? "" : "v1", fields: { "last-modified": MODIFIED } },
      })),
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "validation/date-for-last-modified",
    name: "if the origin sends no Last-Modified, the response's Date replaces it",
    source: "RFC 9111 §4.3.2",
    origin: { "/a": [page("max-age=60")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 30_000 },
      { get: "/a", fields: { "if-modified-since": "Thu, 01 Jan 2026 11:59:59 GMT" }, expect: { status: 200 } },
      { get: "/a", fields: { "if-modified-since": "Thu, 01 Jan 2026 12:00:00 GMT" }, expect: { status: 304 } },
      { get: "/a", fields: { "if-modified-since": "Thursday, 01-Jan-26 12:00:00 GMT" }, expect: { status: 304 } },
    ],
  },
  {
    id: "validation/two-digit-year-of-the-origin",
    name: "a Last-Modified with a two-digit year works in clients' conditions, and the edge validates with it unchanged",
    source: "RFC 9110 §5.6.7, §13.1.3, §13.1.5",
    origin: {
      "/a": [
        page("max-age=60", "v1", { "last-modified": "Thursday, 01-Jan-26 10:00:00 GMT" }),
        { status: 304, fields: { "cache-control": "max-age=60" } },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/a", fields: { "if-modified-since": MODIFIED }, expect: { status: 304, xCache: "HIT" } },
      { get: "/a", fields: { "if-modified-since": "Thu, 01 Jan 2026 09:59:59 GMT" }, expect: { status: 200 } },
      { get: "/a", fields: { range: "bytes=0-0", "if-range": MODIFIED }, expect: { status: 206, body: "v" } },
      { advanceMs: 61_000 },
      { get: "/a", expect: { xCache: "REVALIDATED", body: "v1" } },
      { originLastSaw: "/a", fields: { "if-modified-since": "Thursday, 01-Jan-26 10:00:00 GMT" } },
    ],
  },
  {
    id: "validation/client-304-after-validation",
    name: "a client that has a stale page gets a 304 after the origin has confirmed the stored one",
    source: "RFC 9111 §4.3.2, §4.3.3",
    origin: { "/a": [v1, stillV1, v2] },
    steps: [
      ...storedAndStale,
      {
        get: "/a",
        fields: { "if-none-match": '"1"' },
        expect: { status: 304, xCache: "REVALIDATED", body: "", fields: { etag: '"1"' } },
      },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
      { get: "/a", expect: { status: 200, xCache: "HIT", body: "v1" } },
      { advanceMs: 60_000 },
      { get: "/a", fields: { "if-none-match": '"2"' }, expect: { status: 304, xCache: "EXPIRED", body: "" } },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
      { get: "/a", expect: { status: 200, body: "v2" } },
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    id: "validation/client-holds-another-page",
    name: "a client that has another version than the stale page gets the page that the origin confirms",
    source: "RFC 9111 §4.3.2",
    origin: { "/a": [v1, stillV1] },
    steps: [
      ...storedAndStale,
      { get: "/a", fields: { "if-none-match": '"0"' }, expect: { status: 200, xCache: "REVALIDATED", body: "v1" } },
      { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
    ],
  },
  {
    id: "validation/precondition-despite-fresh-page",
    name: "a precondition on the origin's own state goes to the origin even if a fresh page is stored",
    source: "RFC 9110 §13.1.1, §13.1.4; RFC 9111 §4.3.2",
    origin: { "/a": [v1, { status: 412, body: "changed" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/a", fields: { "if-match": '"0"' }, expect: { status: 412, xCache: "BYPASS", body: "changed" } },
      { originLastSaw: "/a", fields: { "if-match": '"0"' } },
      { get: "/a", fields: { "if-unmodified-since": MODIFIED }, expect: { status: 412, xCache: "BYPASS" } },
      { get: "/a", expect: { status: 200, xCache: "HIT", body: "v1" } },
    ],
  },
];
