import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import { BEGINNING, type Scenario, type Step } from "../../engine/scenario.ts";
import { BENEATH_THE_ISOLATES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";
import { each, neverStored } from "../storing/openings.ts";

const v1 = page("max-age=60");
const kept = page("max-age=60");

/** The date this many seconds after the beginning. */
function at(seconds: number): string {
  return new Date(BEGINNING + seconds * 1000).toUTCString();
}
const minute = { "cache-control": "max-age=60" };

/** Pages, by path, that are fresh for ten seconds more when they arrive. */
function freshForTenSeconds(replies: Readonly<Record<string, Reply>>): Pick<Scenario, "origin" | "steps"> {
  const paths = Object.keys(replies);
  return {
    origin: Object.fromEntries(Object.entries(replies).map(([path, reply]) => [path, [reply]])),
    steps: [
      ...each(paths, { xCache: "MISS", cacheStatus: /; stored$/ }),
      { advanceMs: 9_999 },
      ...each(paths, { xCache: "HIT" }),
      { advanceMs: 1 },
      ...each(paths, { xCache: "EXPIRED" }),
    ],
  };
}

/** The `Age` and `Date` of an answer, and its age on arrival. */
const ages: readonly (readonly [path: string, fields: Reply["fields"], ageSeconds: number])[] = [
  ["/none", {}, 0],
  ["/stated", { age: "50" }, 50],
  ["/first-of-list", { age: "50, 10" }, 50],
  ["/first-line", { age: ["10", "50"] }, 10],
  ["/negative", { age: "-5" }, 0],
  ["/word", { age: "old" }, 0],
  ["/fraction", { age: "50.5" }, 0],
  ["/empty", { age: "" }, 0],
  ["/quoted", { age: '"50"' }, 0],
  ["/old-date", { date: at(-50) }, 50],
  ["/asctime-date", { date: "Thu Jan  1 11:59:10 2026" }, 50],
  ["/date-ahead", { date: at(50) }, 0],
  ["/date-ahead-and-age", { date: at(50), age: "10" }, 10],
  ["/age-is-larger", { date: at(-10), age: "50" }, 50],
  ["/date-is-larger", { date: at(-50), age: "10" }, 50],
];
const modified = { "last-modified": at(-100) };
const guessed = Object.fromEntries(
  [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map((status) => [`/${status}`, { status, fields: modified }]),
);

/** Freshness lifetimes and current age, RFC 9111 §4.2. */
export const scenarios: readonly Scenario[] = [
  {
    id: "freshness/answered-with-age",
    name: "a fresh response is served from the store, with its age",
    source: "RFC 9111 §4, §5.1",
    origin: { "/a": [v1] },
    steps: [
      {
        get: "/a",
        expect: {
          status: 200,
          xCache: "MISS",
          body: "v1",
          cacheStatus: "tidemark; fwd=uri-miss; fwd-status=200; stored",
        },
      },
      { advanceMs: 30_000 },
      { get: "/a", expect: { xCache: "HIT", body: "v1", ageSeconds: 30, cacheStatus: "tidemark; hit; ttl=30" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "freshness/fresh-to-last-millisecond",
    name: "a response is fresh up to its last millisecond and not beyond",
    source: "RFC 9111 §4.2",
    origin: { "/a": [v1, { ...v1, body: "v2" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 59_999 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 59 } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2", cacheStatus: /fwd=stale/ } },
      { get: "/a", expect: { xCache: "HIT", body: "v2", ageSeconds: 0 } },
    ],
  },
  {
    id: "freshness/s-maxage-outranks-max-age",
    name: "s-maxage overrides max-age in a shared cache",
    source: "RFC 9111 §5.2.2.10",
    origin: { "/a": [page("max-age=600, s-maxage=10")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 9_000 },
      { get: "/a", expect: { xCache: "HIT" } },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
    ],
  },
  {
    id: "freshness/expires-minus-date",
    name: "Expires minus Date is the freshness lifetime if Cache-Control gives none",
    source: "RFC 9111 §4.2.1, §5.3",
    origin: { "/a": [{ fields: { expires: "Thu, 01 Jan 2026 12:00:10 GMT" }, body: "v1" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 9_999 },
      { get: "/a", expect: { xCache: "HIT" } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
    ],
  },
  {
    id: "freshness/received-age-counts",
    name: "the Age field of an arriving response counts",
    source: "RFC 9111 §4.2.3",
    origin: { "/a": [page("max-age=60", "v1", { age: "50" })] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", ageSeconds: 50 } },
      { advanceMs: 9_000 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 59 } },
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
    ],
  },
  {
    id: "freshness/route-ttl",
    name: "a route's ttl replaces the lifetime but makes no response storable",
    source: "docs/reference/worker.md#siteinput",
    site: {
      routes: [
        { match: "/a", ttl: "10s" },
        { match: "/b", ttl: "10s", defaultTtl: "1h" },
      ],
    },
    origin: {
      "/a": [{ ...kept, fields: { "cache-control": "max-age=600" } }],
      "/b": [page("private, max-age=60")],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 9_999 },
      { get: "/a", expect: { xCache: "HIT" } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
      { get: "/b", expect: { xCache: "MISS", cacheStatus: /detail=private/ } },
      { get: "/b", expect: { xCache: "MISS" } },
    ],
  },
  {
    id: "freshness/route-default-ttl",
    name: "a route's default lifetime depends on the status and applies only if the origin gives none",
    source: "docs/reference/worker.md#siteinput",
    site: {
      routes: [
        { match: "/one", defaultTtl: "1h" },
        { match: "/*", defaultTtl: { 200: "1h", 404: "5s" } },
      ],
    },
    origin: { "/a": [{ body: "v1" }], "/short": [kept], "/none": [{ status: 404, body: "nothing" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/none", expect: { xCache: "MISS", status: 404 } },
      { get: "/short", expect: { xCache: "MISS" } },
      { get: "/none", expect: { xCache: "HIT", status: 404 } },
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 60 } },
      { get: "/none", expect: { xCache: "EXPIRED", status: 404 } },
      { get: "/one", expect: { xCache: "MISS", status: 404 } },
      { get: "/one", expect: { xCache: "MISS", status: 404 } },
      { get: "/short", expect: { xCache: "EXPIRED" } },
    ],
  },
  {
    id: "freshness/expires-date-formats",
    name: "Expires is read in all three date formats, in any letter case, and counts from Date",
    source: "RFC 9110 §5.6.7; RFC 9111 §5.3, §4.2",
    ...freshForTenSeconds({
      "/usual": { fields: { expires: "Thu, 01 Jan 2026 12:00:10 GMT" } },
      "/rfc850": { fields: { expires: "Thursday, 01-Jan-26 12:00:10 GMT" } },
      "/asctime": { fields: { expires: "Thu Jan  1 12:00:10 2026" } },
      "/lower-case": { fields: { expires: "thu, 01 jan 2026 12:00:10 gmt" } },
      "/old": { fields: { date: at(-30), expires: at(10) } },
      "/ahead": { fields: { date: at(300), expires: at(310) } },
      "/old-rfc850": { fields: { date: "Thursday, 01-Jan-26 11:59:30 GMT", expires: at(10) } },
      "/no-date": { fields: { date: [], expires: at(10) } },
      "/no-real-date": { fields: { date: "noon", expires: at(10) } },
      "/two-dates": { fields: { date: [at(-30), at(-30)], expires: at(10) } },
    }),
  },
  {
    id: "freshness/invalid-expires",
    name: "with an Expires that is not a date, is past, or comes twice, a response is stale",
    source: "RFC 9111 §5.3, §4.2.1",
    ...neverStored(
      {
        "/0": { fields: { expires: "0" } },
        "/minus-1": { fields: { expires: "-1" } },
        "/never": { fields: { expires: "never" } },
        "/empty": { fields: { expires: "" } },
        "/zone": { fields: { expires: "Thu, 01 Jan 2026 12:01:00 CET" } },
        "/no-such-day": { fields: { expires: "Mon, 31 Feb 2026 12:01:00 GMT" } },
        "/now": { fields: { expires: at(0) } },
        "/over": { fields: { expires: at(-1) } },
        "/before-date": { fields: { date: at(300), expires: at(299) } },
        "/twice": { fields: { expires: [at(60), at(60)] } },
      },
      "no-freshness",
    ),
  },
  {
    id: "freshness/cache-control-outranks-expires",
    name: "a lifetime in Cache-Control overrides Expires, even if it is not a number",
    source: "RFC 9111 §4.2.1, §5.3",
    origin: {
      "/shorter": [{ fields: { "cache-control": "max-age=10", expires: at(60) } }],
      "/longer": [{ fields: { "cache-control": "max-age=60", expires: "0" } }],
      "/invalid": [{ fields: { "cache-control": "max-age=x", expires: at(60) } }],
    },
    steps: [
      { get: "/shorter", expect: { xCache: "MISS" } },
      { get: "/longer", expect: { xCache: "MISS" } },
      { get: "/invalid", expect: { xCache: "MISS", cacheStatus: /detail=no-freshness$/ } },
      { advanceMs: 10_000 },
      { get: "/shorter", expect: { xCache: "EXPIRED" } },
      { get: "/longer", expect: { xCache: "HIT" } },
    ],
  },
  {
    id: "freshness/missing-date",
    name: "a response without a Date is given the date of its arrival, and keeps it",
    source: "RFC 9110 §6.6.1",
    origin: { "/a": [{ fields: { ...minute, date: [] } }], "/passed": [{ fields: { date: [] } }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { date: at(0) } } },
      { advanceMs: 10_000 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 10, fields: { date: at(0) } } },
      { get: "/passed", expect: { xCache: "MISS", fields: { date: at(10) } } },
    ],
  },
  {
    id: "freshness/origin-without-clock",
    name: "a page confirmed by an origin without a clock is fresh for a whole lifetime again",
    source: "RFC 9110 §6.6.1; RFC 9111 §4.3.4",
    origin: {
      "/a": [
        { fields: { ...minute, date: [], etag: '"1"' }, body: "v1" },
        { status: 304, fields: { ...minute, date: [], etag: '"1"' } },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "REVALIDATED", ageSeconds: 0, fields: { date: at(60) } } },
      { advanceMs: 59_999 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 59 } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "freshness/date-is-passed-on",
    name: "the origin's Date is passed on unchanged, even from the store",
    source: "RFC 9110 §6.6.1",
    origin: { "/a": [{ fields: { ...minute, date: at(-20) } }], "/odd": [{ fields: { ...minute, date: "noon" } }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", fields: { date: at(-20) } } },
      { get: "/odd", expect: { xCache: "MISS", fields: { date: "noon" } } },
      { advanceMs: 10_000 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 30, fields: { date: at(-20) } } },
      { get: "/odd", expect: { xCache: "HIT", ageSeconds: 10, fields: { date: "noon" } } },
    ],
  },
  {
    id: "freshness/larger-of-age-and-date",
    name: "a page's age is the larger of what Age and Date say; an Age that is not a whole number and a Date in the future count as zero",
    source: "RFC 9111 §4.2.3, §5.1",
    origin: Object.fromEntries(ages.map(([path, fields]) => [path, [{ fields: { ...minute, ...fields } }]])),
    steps: [
      ...ages.map(([get]): Step => ({ get, expect: { xCache: "MISS", cacheStatus: /; stored$/ } })),
      { advanceMs: 5_000 },
      ...ages.map(
        ([get, , ageSeconds]): Step => ({
          get,
          expect: {
            xCache: "HIT",
            ageSeconds: ageSeconds + 5,
            cacheStatus: `tidemark; hit; ttl=${55 - ageSeconds}`,
          },
        }),
      ),
    ],
  },
  {
    id: "freshness/largest-age",
    name: "an Age too large to represent still makes a response stale",
    source: "RFC 9111 §1.2.2, §5.1",
    ...neverStored({ "/a": { fields: { ...minute, age: "9".repeat(30) } } }, "stale-on-arrival"),
  },
  {
    id: "freshness/response-delay-counts",
    name: "the time that the origin takes to answer is part of the answer's age",
    source: "RFC 9111 §4.2.3",
    origin: { "/a": [{ fields: { ...minute, age: "10" }, hold: "slow" }, { fields: minute }] },
    steps: [
      { begin: "first", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { advanceMs: 5_000 },
      { release: "slow" },
      { finish: "first", expect: { xCache: "MISS" } },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 15 } },
      { advanceMs: 44_999 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 59 } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "EXPIRED" } },
    ],
  },
  {
    id: "freshness/no-heuristic-by-default",
    name: "heuristic lifetimes are off unless the owner turns them on",
    source: "RFC 9111 §4.2.2",
    ...neverStored({ "/a": { fields: modified } }, "no-freshness"),
  },
  {
    id: "freshness/heuristic-lifetime",
    name: "if the owner turns heuristics on, a page without a lifetime is fresh for a tenth of the time since its modification",
    source: "RFC 9111 §4.2.2; RFC 9110 §15.1",
    site: { heuristic: {} },
    ...freshForTenSeconds({
      ...guessed,
      "/date-ahead": { fields: { ...modified, date: at(1_000) } },
      "/rfc850": { fields: { "last-modified": "Thursday, 01-Jan-26 11:58:20 GMT" } },
    }),
  },
  {
    id: "freshness/heuristic-fraction-and-maximum",
    name: "the fraction and the maximum of a heuristic lifetime are the owner's choice",
    source: "RFC 9111 §4.2.2",
    site: { heuristic: { fraction: 0.5, maxTtl: "10s" } },
    ...freshForTenSeconds({
      "/half": { fields: { "last-modified": at(-20) } },
      "/most": { fields: { "last-modified": at(-3_600) } },
    }),
  },
  {
    id: "freshness/no-heuristic-lifetime",
    name: "other statuses, and a Last-Modified that is invalid or in the future, get no heuristic lifetime",
    source: "RFC 9111 §4.2.2",
    site: { heuristic: {} },
    ...neverStored(
      {
        ...Object.fromEntries(
          [201, 299, 302, 303, 307, 400, 403, 451, 500, 503, 599].map((status) => [
            `/${status}`,
            { status, fields: modified },
          ]),
        ),
        "/no-date": { fields: { "last-modified": "yesterday" } },
        "/future": { fields: { "last-modified": at(1) } },
        "/just-now": { fields: { "last-modified": at(0) } },
        "/nothing": {},
      },
      "no-freshness",
    ),
  },
  {
    id: "freshness/malformed-lifetime-no-heuristic",
    name: "a malformed lifetime is not replaced by a heuristic one: the page is stored and validated each time",
    source: "RFC 9111 §4.2.1, §4.2.2, §4.3",
    site: { heuristic: {} },
    origin: {
      "/number": [{ fields: { ...modified, "cache-control": "max-age=x" } }],
      "/date": [{ fields: { ...modified, expires: "0" } }],
    },
    steps: [
      ...each(["/number", "/date"], { xCache: "MISS", cacheStatus: /; stored$/ }),
      ...each(["/number", "/date"], { xCache: "EXPIRED" }),
      { originLastSaw: "/number", fields: { "if-modified-since": at(-100) } },
      { originLastSaw: "/date", fields: { "if-modified-since": at(-100) } },
    ],
  },
  {
    id: "freshness/heuristic-outranks-default",
    name: "a heuristic lifetime overrides a route's default, and a stated lifetime overrides both",
    source: "RFC 9111 §4.2.1, §4.2.2; docs/reference/worker.md#siteinput",
    site: { heuristic: {}, routes: [{ match: "/*", defaultTtl: "60s" }] },
    origin: {
      "/stated": [{ fields: { ...modified, "cache-control": "max-age=20" } }],
      "/guessed": [{ fields: modified }],
      "/default": [{}],
    },
    steps: [
      ...each(["/stated", "/guessed", "/default"], { xCache: "MISS" }),
      { get: "/stated", expect: { cacheStatus: "tidemark; hit; ttl=20" } },
      { get: "/guessed", expect: { cacheStatus: "tidemark; hit; ttl=10" } },
      { get: "/default", expect: { cacheStatus: "tidemark; hit; ttl=60" } },
    ],
  },
  {
    id: "freshness/heuristic-lifetime-of-public",
    name: "a response of any status has a heuristic lifetime if it is public",
    source: "RFC 9111 §4.2.2, §5.2.2.9",
    site: { heuristic: {} },
    origin: {
      "/public": [{ status: 599, fields: { ...modified, "cache-control": "public" } }],
      "/bare": [{ status: 599, fields: modified }],
    },
    steps: [
      ...each(["/public", "/bare"], { status: 599, xCache: "MISS" }),
      { get: "/public", expect: { status: 599, cacheStatus: "tidemark; hit; ttl=10" } },
      { get: "/bare", expect: { status: 599, xCache: "MISS" } },
    ],
  },
  {
    id: "freshness/route-ttl-and-failures",
    name: "a route's ttl does not apply to failures: they have the origin's stated lifetime, or none",
    source: "docs/reference/worker.md#siteinput",
    site: { routes: [{ match: "/*", ttl: "1h" }] },
    origin: {
      "/page": [{ fields: minute }],
      "/gone": [{ status: 410, fields: minute }],
      "/failed": [{ status: 500, fields: minute }],
      "/bare": [{ status: 500 }],
    },
    steps: [
      ...each(["/page", "/gone", "/failed"], { xCache: "MISS" }),
      { get: "/bare", expect: { status: 500, xCache: "MISS", cacheStatus: /detail=no-freshness$/ } },
      { get: "/page", expect: { cacheStatus: "tidemark; hit; ttl=3600" } },
      { get: "/gone", expect: { cacheStatus: "tidemark; hit; ttl=3600" } },
      { get: "/failed", expect: { cacheStatus: "tidemark; hit; ttl=60" } },
    ],
  },
  {
    id: "freshness/clock-set-back",
    name: "after the clock was set back by hours, a page that arrived before is asked for again, and stored",
    source: "RFC 9111 §4.2.3",
    only: BENEATH_THE_ISOLATES,
    origin: {
      "/a": [page("max-age=60", "v1", { date: at(7_200) }), page("max-age=60", "v2")],
      "/same": [page("max-age=60", "v1", { date: at(7_200), etag: '"1"' }), { status: 304, fields: minute }],
    },
    steps: [
      { clockOf: "a", aheadMs: 7_200_000 },
      { get: "/other", expect: { status: 404 } },
      ...each(["/a", "/same"], { xCache: "MISS", body: "v1" }),
      { work: "finished" },
      { clockOf: "a", aheadMs: 0 },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
      { get: "/a", expect: { xCache: "HIT", body: "v2", ageSeconds: 0 } },
      { get: "/same", expect: { xCache: "REVALIDATED", body: "v1" } },
      { get: "/same", expect: { xCache: "HIT", body: "v1", ageSeconds: 0 } },
    ],
  },
  {
    id: "freshness/clock-set-back-a-little",
    name: "a page stays fresh if the clock is set back by no more than clocks may differ",
    source: "RFC 9111 §4.2.3",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [page("max-age=60", "v1", { date: at(60) })] },
    steps: [
      { clockOf: "a", aheadMs: 60_000 },
      { get: "/other", expect: { status: 404 } },
      { get: "/a", expect: { xCache: "MISS" } },
      { work: "finished" },
      { clockOf: "a", aheadMs: 0 },
      { get: "/a", expect: { xCache: "HIT", ageSeconds: 0 } },
    ],
  },
  {
    id: "freshness/clock-set-back-and-origin-fails",
    name: "after the clock was set back, a page that must not be served stale does not stand in for an error",
    source: "RFC 9111 §4.2.3, §4.2.4",
    only: BENEATH_THE_ISOLATES,
    site: { stale: { ifError: "1h" } },
    origin: {
      "/strict": [page("max-age=60, must-revalidate", "v1", { date: at(7_200) }), { status: 500 }],
      "/other": [page("max-age=60", "v1", { date: at(7_200) }), { status: 500 }],
    },
    steps: [
      { clockOf: "a", aheadMs: 7_200_000 },
      { get: "/none", expect: { status: 404 } },
      ...each(["/strict", "/other"], { body: "v1" }),
      { work: "finished" },
      { clockOf: "a", aheadMs: 0 },
      { get: "/strict", expect: { status: 500 } },
      { get: "/other", expect: { xCache: "STALE", body: "v1" } },
    ],
  },
];
