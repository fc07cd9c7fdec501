import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import type { Scenario, Step } from "../../engine/scenario.ts";
import { BACKGROUND_WORK } from "../not-on-every-engine.ts";
import { page } from "../page.ts";
import { MODIFIED, part, stored, ten } from "./openings.ts";

const otherTen: Reply = { ...ten, fields: { ...ten.fields, etag: '"2"' }, body: "abcdefghij" };
const eleven: Reply = { ...otherTen, body: "abcdefghijk" };

/** A request for a range, whose answer nobody else gets. */
const chosen = (url: string, fields: Readonly<Record<string, string>>) => [
  { get: url, fields, expect: { status: 200, xCache: "MISS" as const } },
  { get: url, expect: { status: 200, xCache: "MISS" as const, body: "0123456789" } },
];

/** Two requests for a part, with which the origin sees their range. */
const asksForParts = (url: string, fields: Readonly<Record<string, string>>): readonly Step[] => [
  { get: url, fields: { range: "bytes=0-1", ...fields }, expect: { xCache: "MISS" } },
  { get: url, fields: { range: "bytes=2-3" }, expect: { xCache: "MISS" } },
  { originLastSaw: url, fields: { range: "bytes=2-3" } },
  { originSaw: { [url]: 2 } },
];

/** Parts of a page that is not stored, or not fresh. */
export const scenarios: readonly Scenario[] = [
  {
    id: "ranges/range-is-passed-on",
    name: "a request for a part that is not stored goes to the origin with its Range, and the answer is not stored",
    source: "RFC 9111 §3.3",
    origin: {
      "/a": [
        { status: 206, fields: { "cache-control": "max-age=60", "content-range": "bytes 0-1/10" }, body: "01" },
        page("max-age=60", "0123456789"),
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
    id: "ranges/part-of-missing-page",
    name: "if the page is not stored, the origin gets the client's Range as it came, and the part is not stored",
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
    id: "ranges/whole-instead-of-part",
    name: "if the origin ignores ranges, the next request for a part fetches the whole page, which is stored",
    source: "RFC 9110 §14.2",
    site: { limits: { storeBytes: 16 } },
    origin: {
      "/a": [ten],
      "/no-store": [page("no-store", "0123456789")],
      "/large": [page("max-age=60", "more than sixteen bytes")],
      "/part": [{ ...ten, fields: { ...ten.fields, "content-range": "bytes 0-1/10" }, body: "01" }],
      "/missing": [{ ...page("max-age=60", "none"), status: 404 }],
      "/part-once": [{ ...ten, fields: { ...ten.fields, "content-range": "bytes 0-1/10" }, body: "01" }, ten],
      "/missing-once": [{ ...page("max-age=60", "none"), status: 404 }, ten],
      "/if-range": [ten],
    },
    steps: [
      {
        get: "/a",
        fields: { range: "bytes=0-1" },
        expect: {
          status: 200,
          xCache: "MISS",
          body: "0123456789",
          cacheStatus: "tidemark; fwd=partial; fwd-status=200",
        },
      },
      part("bytes=2-3", "bytes 2-3/10", "23", "MISS"),
      { originLastSaw: "/a", fields: { range: null } },
      part("bytes=4-5", "bytes 4-5/10", "45"),
      { get: "/a", expect: { status: 200, xCache: "HIT", body: "0123456789" } },
      { originSaw: { "/a": 2 } },
      // The whole would not be stored, or the origin may send parts.
      ...asksForParts("/no-store", {}),
      ...asksForParts("/large", {}),
      ...asksForParts("/part", {}),
      ...asksForParts("/missing", {}),
      ...asksForParts("/if-range", { "if-range": '"0"' }),
      // Neither a part that is not called one nor an error is the page.
      { get: "/part-once", fields: { range: "bytes=0-1" }, expect: { status: 200, body: "01" } },
      { get: "/part-once", expect: { status: 200, xCache: "MISS", body: "0123456789" } },
      { get: "/missing-once", fields: { range: "bytes=0-1" }, expect: { status: 404, body: "none" } },
      { get: "/missing-once", expect: { status: 200, xCache: "MISS", body: "0123456789" } },
    ],
  },
  {
    id: "ranges/whole-for-a-range",
    name: "a whole page with which the origin answers a range is not stored, because the range may have chosen it",
    source: "RFC 9111 §4.1",
    origin: {
      "/usual": [page("max-age=60", "first bytes"), ten],
      "/unit": [page("max-age=60", "one item"), ten],
      "/shown": [page("max-age=60", "no range <script>"), ten],
      "/parts": [{ ...ten, fields: { ...ten.fields, "content-type": "multipart/byteranges; boundary=x" } }, ten],
      "/vary": [page("max-age=60", "by range", { vary: "Accept, Range" }), ten],
      "/if-range": [page("max-age=60", "no date <script>"), ten],
      "/if-none-match": [page("max-age=60", "no tag <script>"), ten],
    },
    steps: [
      ...chosen("/usual", { range: "bytes=0-1" }),
      ...chosen("/unit", { range: "items=0-0" }),
      ...chosen("/shown", { range: "bytes=0-1<script>" }),
      ...chosen("/parts", { range: "bytes=0-1, 3-4" }),
      ...chosen("/vary", { range: "bytes=0-1" }),
      ...chosen("/if-range", { range: "bytes=0-1", "if-range": "<script>" }),
      ...chosen("/if-none-match", { range: "bytes=0-1", "if-none-match": "<script>" }),
    ],
  },
  {
    id: "ranges/part-after-validation",
    name: "a part of a stale page is cut once the origin has confirmed the page, which is fresh again",
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
    id: "ranges/part-of-changed-page",
    name: "a part of a stale page that has changed and is larger than it was is requested from the origin as the client asked",
    source: "RFC 9110 §14.2",
    origin: {
      "/a": [ten, eleven, { status: 206, fields: { etag: '"2"', "content-range": "bytes 0-1/10" }, body: "ab" }],
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
    id: "ranges/part-of-small-changed-page",
    name: "a stale page that has changed and is not larger than it was is stored, and the part is cut from it",
    source: "RFC 9111 §4.3.3; RFC 9110 §14.2",
    origin: { "/a": [ten, otherTen] },
    steps: [
      ...stored,
      { advanceMs: 60_000 },
      {
        get: "/a",
        fields: { range: "bytes=0-1" },
        expect: {
          status: 206,
          xCache: "EXPIRED",
          body: "ab",
          fields: { "content-range": "bytes 0-1/10", etag: '"2"' },
        },
      },
      { get: "/a", expect: { xCache: "HIT", body: "abcdefghij" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  ...(
    [
      ["without-length", "does not tell its length", { ...otherTen, framing: "chunked" }, {}],
      ["cut-off", "is cut off", { ...otherTen, cutAfterBytes: 5 }, {}],
      ["large", "is stored apart from its head", otherTen, { limits: { storeBytes: 9 } }],
    ] as const
  ).map(
    ([id, what, changed, site]): Scenario => ({
      id: `ranges/part-of-changed-page-${id}`,
      name: `if a stale page has changed and ${what}, the origin is asked only for parts from then on`,
      source: "RFC 9111 §4.3.3; RFC 9110 §14.2",
      site,
      origin: {
        "/a": [ten, changed, { status: 206, fields: { etag: '"2"', "content-range": "bytes 0-1/10" }, body: "ab" }],
      },
      steps: [
        ...stored,
        { work: "finished" },
        { advanceMs: 60_000 },
        { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 206, body: "ab" } },
        { work: "finished" },
        { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 206, body: "ab" } },
        { originSaw: { "/a": 4 } }, // ten, the changed page, and a part for each request
      ],
    }),
  ),
  {
    id: "ranges/part-of-changed-page-on-error",
    name: "a page that the origin has just shown to be changed does not stand in when the origin then fails to send the part",
    source: "RFC 9111 §4.3.3; RFC 5861 §4",
    site: { stale: { ifError: "1h" } },
    origin: { "/a": [ten, eleven, { status: 503, body: "sorry" }] },
    steps: [
      ...stored,
      { advanceMs: 60_000 },
      { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 503, body: "sorry" } },
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    id: "ranges/parts-of-changed-page",
    name: "after a part of a stale page that has changed and is larger than it was, the origin is asked only for parts",
    source: "RFC 9111 §4.3.3; RFC 9110 §14.2",
    origin: {
      "/a": [ten, eleven, { status: 206, fields: { etag: '"2"', "content-range": "bytes 0-1/10" }, body: "ab" }],
    },
    steps: [
      ...stored,
      { advanceMs: 60_000 },
      { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 206, body: "ab" } },
      { work: "finished" },
      { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 206, body: "ab" } },
      { originSaw: { "/a": 4 } }, // ten, eleven, and a part for each request
    ],
  },
  {
    id: "ranges/part-of-stale-page-without-validators",
    name: "if the origin cannot confirm a stale page, only the requested part is fetched",
    source: "RFC 9110 §14.2",
    origin: {
      "/a": [
        page("max-age=60", "0123456789"),
        { status: 206, fields: { "content-range": "bytes 0-1/10" }, body: "ab" },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 206, body: "ab" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "ranges/part-of-purged-page",
    name: "no part is cut from a purged page",
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
    id: "ranges/small-page-fetched-whole",
    name: "if the site says so, a request for a part fetches and stores a whole small page",
    source: "RFC 9110 §14.2; docs/http.md#limits",
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
  {
    id: "ranges/whole-page-without-length",
    name: "when small pages are fetched whole, so is one that does not tell its length",
    source: "RFC 9110 §14.2; docs/http.md#limits",
    site: { limits: { fetchWholeBytes: 10 } },
    origin: { "/a": [{ ...ten, framing: "chunked" }] },
    steps: [
      {
        get: "/a",
        fields: { range: "bytes=2-3" },
        expect: { status: 206, xCache: "MISS", body: "23", fields: { "content-range": "bytes 2-3/10" } },
      },
      { get: "/a", expect: { status: 200, xCache: "HIT", body: "0123456789" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  ...(
    [
      ["whole-page-too-large", "is too large", { ...ten, body: "eleven byte" }],
      [
        "whole-page-too-large-without-length",
        "turns out to be too large",
        { ...ten, body: "eleven byte", framing: "chunked" },
      ],
      ["whole-page-not-storable", "may not be stored", { ...ten, fields: { "cache-control": "no-store" } }],
      ["whole-page-cut-off", "is cut off", { ...ten, cutAfterBytes: 5 }],
    ] as const
  ).map(
    ([id, what, reply]): Scenario => ({
      id: `ranges/${id}`,
      name: `when small pages are fetched whole, only the part of a page that ${what} is requested`,
      source: "RFC 9110 §14.2; docs/http.md#limits",
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
        // Nobody has asked for the whole, and raising the limits of what is stored would not store it.
        { stats: { "store.refused.too-large": 0 } },
        { get: "/a", expect: { xCache: "MISS" } },
      ],
    }),
  ),
  ...(
    [
      ["", "was", {}],
      ["-without-length", "turned out to be", { framing: "chunked" }],
    ] as const
  ).map(
    ([id, was, framing]): Scenario => ({
      id: `ranges/large-page-asked-once-for-the-whole${id}`,
      name: `a page that ${was} too large to be fetched whole is asked for its parts alone afterwards`,
      source: "RFC 9110 §14.2; docs/http.md#limits",
      site: { limits: { fetchWholeBytes: 10 } },
      origin: {
        "/a": [
          { ...ten, body: "eleven byte", ...framing },
          { status: 206, fields: { "content-range": "bytes 2-3/11" }, body: "part" },
        ],
      },
      steps: [
        { get: "/a", fields: { range: "bytes=2-3" }, expect: { status: 206 } },
        { originSaw: { "/a": 2 } },
        { get: "/a", fields: { range: "bytes=2-3" }, expect: { status: 206 } },
        { originSaw: { "/a": 3 } },
      ],
    }),
  ),
  {
    id: "ranges/head-after-part-of-a-large-page",
    name: "a page that was too large to be fetched whole for a part is still fetched and stored for a HEAD",
    source: "RFC 9110 §14.2; docs/http.md#limits",
    only: BACKGROUND_WORK,
    site: { limits: { fetchWholeBytes: 10 } },
    origin: {
      "/a": [
        { ...ten, body: "eleven byte" },
        { status: 206, fields: { "content-range": "bytes 2-3/11" }, body: "part" },
        { ...ten, body: "eleven byte" },
      ],
    },
    steps: [
      { get: "/a", fields: { range: "bytes=2-3" }, expect: { status: 206 } },
      { send: { method: "HEAD", path: "/a" }, expect: { status: 200 } },
      { work: "finished" },
      { get: "/a", expect: { xCache: "HIT", body: "eleven byte" } },
    ],
  },
  {
    id: "ranges/parts-with-an-unkeyed-field",
    name: "a page that an unkeyed field kept from being fetched whole is asked for its parts alone, for that field alone",
    source: "RFC 9110 §14.2; docs/http.md#limits",
    site: { limits: { fetchWholeBytes: 10 } },
    origin: {
      "/a": [
        ten,
        ...["23", "45"].map((body) => ({ status: 206, fields: { "content-range": "bytes 2-3/10" }, body })),
        ten,
      ],
    },
    steps: [
      { get: "/a", fields: { range: "bytes=2-3", "x-debug": "1" }, expect: { status: 206, body: "23" } },
      { originSaw: { "/a": 2 } },
      { get: "/a", fields: { range: "bytes=2-3", "x-debug": "2" }, expect: { status: 206, body: "45" } },
      { originSaw: { "/a": 3 } },
      { get: "/a", fields: { range: "bytes=2-3" }, expect: { status: 206, body: "23", cacheStatus: /; stored$/ } },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "ranges/whole-page-after-a-404",
    name: "a small page that did not exist yet is fetched whole for a part once it does",
    source: "RFC 9110 §14.2; docs/http.md#limits",
    site: { limits: { fetchWholeBytes: 10 } },
    origin: { "/a": [{ status: 404, body: "no" }, { status: 404, body: "no" }, ten] },
    steps: [
      { get: "/a", fields: { range: "bytes=2-3" }, expect: { status: 404 } },
      { get: "/a", fields: { range: "bytes=2-3" }, expect: { status: 206, body: "23" } },
      { originLastSaw: "/a", fields: { range: null } },
      { get: "/a", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "ranges/whole-page-and-followers",
    name: "a request for the whole page waits for the fetch that a part began",
    source: "docs/http.md#collapsed-requests",
    only: BACKGROUND_WORK,
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
    id: "ranges/slow-whole-page-one-at-a-time",
    name: "a part waits for the whole page on its way, and not behind it, if the origin takes one request at a time",
    source: "RFC 9110 §14.2; docs/http.md#limits",
    only: BACKGROUND_WORK,
    site: { limits: { fetchWholeBytes: 10 }, origin: { concurrency: 1 } },
    origin: { "/a": [{ ...ten, hold: "slow", bytesBeforeHold: 1 }] },
    steps: [
      { begin: "part", send: { path: "/a", fields: { range: "bytes=2-3" } } },
      { originSees: "/a", count: 1 },
      { advanceMs: 5_000 },
      { advanceMs: 20_000 },
      { release: "slow" },
      { finish: "part", expect: { status: 206, body: "23" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "ranges/slow-whole-page-at-a-busy-origin",
    name: "a part does not wait any longer for a slow whole page once the origin takes another request",
    source: "RFC 9110 §14.2; docs/http.md#limits",
    only: BACKGROUND_WORK,
    site: { limits: { fetchWholeBytes: 10 }, origin: { concurrency: 2 } },
    origin: {
      "/a": [
        { ...ten, hold: "slow", bytesBeforeHold: 1 },
        { status: 206, fields: { "content-range": "bytes 2-3/10" }, body: "part" },
      ],
      "/b": [{ ...page("max-age=60"), hold: "other" }],
    },
    steps: [
      { begin: "part", send: { path: "/a", fields: { range: "bytes=2-3" } } },
      { originSees: "/a", count: 1 },
      { begin: "other", send: { path: "/b" } },
      { originSees: "/b", count: 1 },
      { advanceMs: 5_000 },
      { release: "other" },
      { finish: "other", expect: { status: 200 } },
      { advanceMs: 1_000 },
      { originSees: "/a", count: 2 },
      { finish: "part", expect: { status: 206, body: "part" } },
      { release: "slow" },
    ],
  },
  ...(
    [
      ["large-whole-page-and-followers", "is", {}],
      ["large-whole-page-without-length-and-followers", "turns out to be", { framing: "chunked", bytesBeforeHold: 1 }],
    ] as const
  ).map(
    ([id, what, reply]): Scenario => ({
      id: `ranges/${id}`,
      name: `all who waited for parts of a whole page that ${what} too large ask for their parts alone`,
      source: "RFC 9110 §14.2; docs/http.md#limits",
      only: BACKGROUND_WORK,
      site: { limits: { fetchWholeBytes: 10 } },
      origin: {
        "/a": [
          { ...ten, ...reply, body: "eleven byte", hold: "slow" },
          { status: 206, fields: { "content-range": "bytes 2-3/11" }, body: "part" },
        ],
      },
      steps: [
        { begin: "part", send: { path: "/a", fields: { range: "bytes=2-3" } } },
        { originSees: "/a", count: 1 },
        { begin: "same part", send: { path: "/a", fields: { range: "bytes=2-3" } } },
        { advanceMs: 1 },
        { release: "slow" },
        { finish: "part", expect: { status: 206, body: "part" } },
        { finish: "same part", expect: { status: 206, body: "part" } },
        { originSaw: { "/a": 3 } }, // the whole page, and a part for each request
      ],
    }),
  ),
  ...(
    [
      ["all-bytes-of-missing-page", "with its head", {}],
      ["all-bytes-of-large-page", "apart from its head", { limits: { storeBytes: 9 } }],
    ] as const
  ).map(
    ([id, where, site]): Scenario => ({
      id: `ranges/${id}`,
      name: `a request for all bytes by a range, as players begin, stores the whole page ${where}`,
      source: "RFC 9110 §14.2; docs/http.md#bodies-and-ranges",
      site,
      origin: { "/a": [ten] },
      steps: [
        {
          get: "/a",
          fields: { range: "bytes=0-" },
          expect: {
            status: 206,
            xCache: "MISS",
            body: "0123456789",
            cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored",
            fields: { "content-range": "bytes 0-9/10", "content-type": "text/plain", etag: '"1"' },
          },
        },
        { originLastSaw: "/a", fields: { range: null } },
        { work: "finished" },
        part("bytes=0-", "bytes 0-9/10", "0123456789"),
        part("bytes=2-3", "bytes 2-3/10", "23"),
        { get: "/a", expect: { status: 200, xCache: "HIT", body: "0123456789", fields: { "content-range": null } } },
        { originSaw: { "/a": 1 } },
      ],
    }),
  ),
  {
    id: "ranges/all-bytes-of-unstored-page",
    name: "a request for all bytes by a range gets one part of a page that may not be stored, from one fetch each",
    source: "RFC 9110 §14.2, §15.3.7",
    origin: { "/a": [{ ...ten, fields: { ...ten.fields, "cache-control": "private" } }] },
    steps: [
      part("bytes=0-", "bytes 0-9/10", "0123456789", "MISS"),
      part("bytes=0-", "bytes 0-9/10", "0123456789", "MISS"),
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "ranges/all-bytes-without-length",
    name: "a request for all bytes by a range gets the whole page if nobody knows how long it is",
    source: "RFC 9110 §14.2, §14.4",
    origin: { "/a": [{ ...ten, framing: "chunked" }] },
    steps: [
      {
        get: "/a",
        fields: { range: "bytes=0-" },
        expect: { status: 200, xCache: "MISS", body: "0123456789", fields: { "content-range": null } },
      },
      part("bytes=0-", "bytes 0-9/10", "0123456789"),
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "ranges/all-bytes-of-an-error",
    name: "a request for all bytes by a range gets an error, and an empty page, as the origin sends it",
    source: "RFC 9110 §14.2",
    origin: { "/a": [{ status: 404, body: "no" }], "/empty": [page("max-age=60", "")] },
    steps: [
      {
        get: "/a",
        fields: { range: "bytes=0-" },
        expect: { status: 404, body: "no", fields: { "content-range": null } },
      },
      {
        get: "/empty",
        fields: { range: "bytes=0-" },
        expect: { status: 200, body: "", fields: { "content-range": null } },
      },
    ],
  },
  ...(
    [
      ["part-unasked", "a request without a range", {}],
      ["part-unasked-of-all-bytes", "a request for all bytes by a range", { range: "bytes=0-" }],
    ] as const
  ).map(
    ([id, request, fields]): Scenario => ({
      id: `ranges/${id}`,
      name: `a part that the origin sends to ${request} keeps its own range, and is not stored`,
      source: "RFC 9110 §14.2, §14.4, §15.3.7; RFC 9111 §3",
      origin: {
        "/a": [
          {
            ...ten,
            status: 206,
            body: "23456",
            fields: { ...ten.fields, "content-range": "bytes 2-6/10" },
          },
        ],
      },
      steps: [1, 2].flatMap((times) => [
        {
          get: "/a",
          fields,
          expect: { status: 206, xCache: "MISS", body: "23456", fields: { "content-range": "bytes 2-6/10" } },
        },
        { originLastSaw: "/a", fields: { range: null } },
        { originSaw: { "/a": times } },
      ]),
    }),
  ),
  {
    id: "ranges/all-bytes-if-range",
    name: "a request for all bytes that names the form it holds goes to the origin as it came",
    source: "RFC 9110 §13.1.5",
    origin: { "/a": [ten] },
    steps: [
      { get: "/a", fields: { range: "bytes=0-", "if-range": '"0"' }, expect: { status: 200, xCache: "MISS" } },
      { originLastSaw: "/a", fields: { range: "bytes=0-", "if-range": '"0"' } },
    ],
  },
  {
    id: "ranges/all-bytes-held",
    name: "a request for all bytes of a page that the client holds is answered with 304, and the page is stored",
    source: "RFC 9110 §13.2.2, §14.2",
    origin: { "/a": [ten] },
    steps: [
      { get: "/a", fields: { range: "bytes=0-", "if-none-match": '"1"' }, expect: { status: 304, body: "" } },
      { work: "finished" },
      part("bytes=-1", "bytes 9-9/10", "9"),
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "ranges/all-bytes-and-followers",
    name: "requests for the whole page and for all bytes by a range share one fetch, and each gets what it asked for",
    source: "RFC 9110 §14.2; docs/http.md#collapsed-requests",
    only: BACKGROUND_WORK,
    origin: { "/a": [{ ...ten, hold: "slow" }] },
    steps: [
      { begin: "all bytes", send: { path: "/a", fields: { range: "bytes=0-" } } },
      { originSees: "/a", count: 1 },
      { begin: "whole", send: { path: "/a" } },
      { begin: "all bytes, too", send: { path: "/a", fields: { range: "bytes=0-" } } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "all bytes", expect: { status: 206, body: "0123456789" } },
      { finish: "whole", expect: { status: 200, body: "0123456789", cacheStatus: /; collapsed$/ } },
      { finish: "all bytes, too", expect: { status: 206, body: "0123456789", cacheStatus: /; collapsed$/ } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "ranges/part-while-revalidating",
    name: "a part of a page that may be served stale is sent at once, and the whole page is refetched after the answer",
    source: "RFC 5861 §3; RFC 9110 §14.2",
    only: BACKGROUND_WORK,
    origin: {
      "/a": [{ ...ten, fields: { ...ten.fields, "cache-control": "max-age=60, stale-while-revalidate=60" } }, eleven],
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
    id: "ranges/part-on-error",
    name: "if the origin fails and the page allows it, a part is cut from the stale page",
    source: "RFC 5861 §4; RFC 9110 §14.2",
    origin: {
      "/a": [
        { ...ten, fields: { ...ten.fields, "cache-control": "max-age=60, stale-if-error=60" } },
        { status: 503, body: "down" },
      ],
    },
    steps: [
      ...stored,
      { advanceMs: 60_000 },
      part("bytes=0-1", "bytes 0-1/10", "01", "STALE"),
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "ranges/part-on-error-without-validators",
    name: "a part is also cut from a stale page without validators, for which the origin is asked for the part alone",
    source: "RFC 5861 §4; RFC 9110 §14.2",
    origin: { "/a": [page("max-age=60, stale-if-error=60", "0123456789"), { status: 503, body: "down" }] },
    steps: [
      ...stored,
      { advanceMs: 60_000 },
      { get: "/a", fields: { range: "bytes=0-1" }, expect: { status: 206, xCache: "STALE", body: "01" } },
      { originLastSaw: "/a", fields: { range: "bytes=0-1" } },
    ],
  },
];
