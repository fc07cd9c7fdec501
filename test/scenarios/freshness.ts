import type { Reply } from "../../cdn/scripted-origin.ts";
import { BEGINNING, type Scenario, type Step } from "../engine/scenario.ts";

/** The date that is so many seconds after the beginning. */
function at(seconds: number): string {
  return new Date(BEGINNING + seconds * 1000).toUTCString();
}

const minute = { "cache-control": "max-age=60" };

/** Expects the same of each path. */
function each(paths: readonly string[], expected: Extract<Step, { get: string }>["expect"]): readonly Step[] {
  return paths.map((get) => ({ get, expect: expected }));
}

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

/** Pages, by path, of which none is stored, for this reason. */
function neverStored(replies: Readonly<Record<string, Reply>>, because: string): Pick<Scenario, "origin" | "steps"> {
  const paths = Object.keys(replies);
  return {
    origin: Object.fromEntries(Object.entries(replies).map(([path, reply]) => [path, [reply]])),
    steps: [
      ...each(paths, { xCache: "MISS", cacheStatus: new RegExp(`; detail=${because}$`) }),
      ...each(paths, { xCache: "MISS" }),
    ],
  };
}

const ofDates: readonly Scenario[] = [
  {
    name: "Expires is read in all three forms of a date, in any case of letters, and counts from Date",
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
    name: "Expires that is no date, or is over, or comes twice, leaves nothing fresh",
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
    name: "a lifetime in Cache-Control outranks Expires, also one that is no number",
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
    name: "an answer without a Date is given that of its arrival, and keeps it",
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
    name: "an origin without a clock confirms a page for a whole lifetime again",
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
    name: "the origin's Date is passed on as it came, from store as well",
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
];

/** What an answer brings of `Age` and `Date`, and how old it is on arrival. */
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

const ofAges: readonly Scenario[] = [
  {
    name: "a page is as old as its Age or its Date says, whichever is more; what is no whole number, or ahead of us, says nothing",
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
    name: "an Age too large to count is old all the same",
    source: "RFC 9111 §1.2.2, §5.1",
    ...neverStored({ "/a": { fields: { ...minute, age: "9".repeat(30) } } }, "stale-on-arrival"),
  },
  {
    name: "the time that the origin took for its answer is part of the answer's age",
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
];

const modified = { "last-modified": at(-100) };
const guessed = Object.fromEntries(
  [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map((status) => [`/${status}`, { status, fields: modified }]),
);

const ofGuesses: readonly Scenario[] = [
  {
    name: "no lifetime is guessed unless the owner wants it",
    source: "RFC 9111 §4.2.2",
    ...neverStored({ "/a": { fields: modified } }, "no-freshness"),
  },
  {
    name: "where the owner wants it, a page without a lifetime is fresh for a tenth of the time since it was modified",
    source: "RFC 9111 §4.2.2; RFC 9110 §15.1",
    site: { heuristic: {} },
    ...freshForTenSeconds({
      ...guessed,
      "/date-ahead": { fields: { ...modified, date: at(1_000) } },
      "/rfc850": { fields: { "last-modified": "Thursday, 01-Jan-26 11:58:20 GMT" } },
    }),
  },
  {
    name: "the share that is guessed, and the longest guess, are the owner's",
    source: "RFC 9111 §4.2.2",
    site: { heuristic: { fraction: 0.5, most: "10s" } },
    ...freshForTenSeconds({
      "/half": { fields: { "last-modified": at(-20) } },
      "/most": { fields: { "last-modified": at(-3_600) } },
    }),
  },
  {
    name: "nothing is guessed for other statuses, or from a date that is none or ahead",
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
    name: "a lifetime that is stated badly is no reason to guess: the page is kept to be confirmed each time",
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
    name: "a guess comes before a route's default, and a stated lifetime before both",
    source: "RFC 9111 §4.2.1, §4.2.2; docs/design.md#the-site",
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
];

const withLifetime = [
  200, 201, 202, 203, 204, 207, 299, 300, 301, 302, 303, 307, 308, 399, 400, 402, 403, 404, 405, 410, 414, 422, 451,
  499, 500, 501, 502, 503, 504, 599,
];
const ofOneRequest = [206, 226, 304, 401, 406, 407, 408, 412, 416, 417, 421, 425, 426, 428, 429, 431, 511];

const ofStatuses: readonly Scenario[] = [
  {
    name: "an answer with a stated lifetime is stored whatever its status, unknown ones included, and comes back with it",
    source: "RFC 9111 §3; RFC 9110 §15",
    origin: Object.fromEntries(withLifetime.map((status) => [`/${status}`, [{ status, fields: minute }]])),
    steps: [
      ...withLifetime.map((status): Step => ({ get: `/${status}`, expect: { status, xCache: "MISS" } })),
      { advanceMs: 59_999 },
      ...withLifetime.map((status): Step => ({ get: `/${status}`, expect: { status, xCache: "HIT", ageSeconds: 59 } })),
    ],
  },
  {
    name: "parts, validations, and answers that tell of one request or connection alone are never stored",
    source: "RFC 9111 §3, §3.3; RFC 6585 §3-§6; RFC 3229 §10.4.1",
    site: { routes: [{ match: "/*", ttl: "1h" }] },
    ...neverStored(
      Object.fromEntries(ofOneRequest.map((status) => [`/${status}`, { status, fields: minute }])),
      "status",
    ),
  },
  {
    name: "a route's ttl is not for failures: those keep the lifetime that the origin states, and else have none",
    source: "docs/design.md#the-site",
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
];

/** Requests to which an origin may answer what nobody else would get. */
const odd: readonly (readonly [what: string, fields: Readonly<Record<string, string>>])[] = [
  ["a field that is not usual", { "x-debug": "1" }],
  ["a value with odd characters", { "user-agent": "{jndi:ldap}" }],
  ["a value of more than 1024 characters", { "user-agent": "x".repeat(1_025) }],
  [
    "more than 4096 characters of fields",
    Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`sec-${n}`, "x".repeat(900)])),
  ],
];

/** What any visitor may send. */
const plain = {
  accept: "text/html,*/*;q=0.8",
  "accept-language": "de-DE,de;q=0.9",
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64)",
  "sec-fetch-site": "same-origin",
  "x-forwarded-for": "<odd>",
  cookie: "_ga=1",
};

const ofErrors: readonly Scenario[] = [
  ...odd.map(
    ([what, fields]): Scenario => ({
      name: `neither an error nor a page is stored if its request had ${what}`,
      source: "docs/design.md#promise-1",
      origin: { "/error": [{ status: 404, fields: minute, body: "no" }], "/page": [{ fields: minute, body: "v1" }] },
      steps: [
        {
          get: "/error",
          fields,
          expect: { status: 404, xCache: "MISS", cacheStatus: /detail=error-for-odd-request$/ },
        },
        { get: "/page", fields, expect: { xCache: "MISS", cacheStatus: /detail=unkeyed-field$/ } },
        { get: "/error", fields: plain, expect: { status: 404, xCache: "MISS", cacheStatus: /; stored$/ } },
        { get: "/page", fields: plain, expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
        { get: "/error", fields, expect: { status: 404, xCache: "HIT" } },
        { get: "/page", fields, expect: { xCache: "HIT" } },
      ],
    }),
  ),
  {
    name: "a page for a request with a field that is not usual is stored if Vary names the field, and an error is not",
    source: "docs/design.md#promise-1",
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
    name: "an error is stored if its request had a method override, which the origin does not see",
    source: "docs/design.md#what-goes-to-the-origin",
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
    name: "an error for a visitor with cookies is not stored, also where the origin says that it is for all",
    source: "docs/design.md#promise-1",
    origin: { "/a": [{ status: 500, fields: { "cache-control": "public, max-age=60" } }] },
    steps: [
      { get: "/a", fields: { cookie: "session=1" }, expect: { cacheStatus: /detail=error-for-odd-request$/ } },
      { get: "/a", expect: { xCache: "MISS", cacheStatus: /; stored$/ } },
    ],
  },
  {
    name: "what the origin says to an odd request takes nothing away that is stored",
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
    name: "an odd request that has a stale page confirmed leaves it as it was, and the next ones share one fetch",
    source: "docs/decisions/0007-what-a-follower-may-take.md",
    origin: {
      "/a": [
        { fields: { ...minute, etag: '"1"' }, body: "v1" },
        { status: 304, fields: { ...minute, etag: '"1"' } },
        { status: 304, fields: { ...minute, etag: '"1"' }, hold: "slow" },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 61_000 },
      {
        get: "/a",
        fields: { "x-debug": "1" },
        expect: { xCache: "REVALIDATED", cacheStatus: /detail=unkeyed-field$/ },
      },
      { begin: "one", send: { path: "/a" } },
      { originSees: "/a", count: 3 },
      { begin: "two", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "one", expect: { xCache: "REVALIDATED", body: "v1" } },
      { finish: "two", expect: { body: "v1" } },
      { originSaw: { "/a": 3 } },
    ],
  },
  {
    name: "who waited for an odd request does not get its error: they share one fetch of their own",
    source: "docs/decisions/0007-what-a-follower-may-take.md",
    origin: {
      "/a": [
        { status: 400, fields: minute, body: "odd", hold: "slow" },
        { fields: minute, body: "v1" },
      ],
    },
    steps: [
      { begin: "odd", send: { path: "/a", fields: { "x-debug": "1" } } },
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

/** How long a stored answer is fresh, how old it is, and which answers are stored for it. */
export const freshness: readonly Scenario[] = [...ofDates, ...ofAges, ...ofGuesses, ...ofStatuses, ...ofErrors];
