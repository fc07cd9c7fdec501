import type { Scenario, Step } from "../../engine/scenario.ts";
import { page } from "../page.ts";

const SOURCE = "docs/http.md#the-way-of-a-request";
const referer = "https://www.example.test/lab";
const refused = { status: 403, body: "no" };

/** What the edge makes of a refusal that it may have caused itself, because it withholds `Referer`. */
export const scenarios: readonly Scenario[] = [
  {
    id: "second-look/refused-without-referer",
    name: "a GET that is refused without its Referer goes to the origin again with it, once, and nothing of that is stored",
    source: SOURCE,
    origin: { "/a": [refused, page("public, max-age=60"), refused] },
    steps: [
      {
        get: "/a",
        fields: { referer, cookie: "session=1" },
        expect: { status: 200, body: "v1", xCache: "MISS", cacheStatus: /detail="unkeyed-field:referer"$/ },
      },
      { originLastSaw: "/a", fields: { referer, cookie: "session=1" } },
      { get: "/a", expect: { status: 403, body: "no" } },
      { originSaw: { "/a": 3 } },
      { get: "/a", fields: { referer }, expect: { status: 403, body: "no" } },
      { originSaw: { "/a": 5 } },
    ],
  },
  {
    id: "second-look/refused-head-without-referer",
    name: "a HEAD that is refused without its Referer is asked for again with it, too",
    source: SOURCE,
    origin: {
      "/a": [refused, page("max-age=60")],
      "/unstored": [refused, page("public, max-age=60"), refused, page("public, max-age=60")],
    },
    steps: [
      { send: { method: "HEAD", path: "/a", fields: { referer } }, expect: { status: 200, body: "" } },
      { originSaw: { "/a": 2 } },
      ...[2, 4].flatMap((count): Step[] => [
        {
          send: { method: "HEAD", path: "/unstored", fields: { referer, cookie: "session=1" } },
          expect: { status: 200, body: "", cacheStatus: /detail="unkeyed-field:referer"$/ },
        },
        { originLastSaw: "/unstored", fields: { referer, cookie: "session=1" } },
        { originSaw: { "/unstored": count } },
      ]),
    ],
  },
  {
    id: "second-look/refused-part-without-referer",
    name: "a part that is refused without the Referer is asked for again with it, too",
    source: SOURCE,
    site: { limits: { fetchWholeBytes: 0 } },
    origin: { "/a": [refused, { status: 206, fields: { "content-range": "bytes 1-2/4" }, body: "bc" }] },
    steps: [
      { get: "/a", fields: { referer, range: "bytes=1-2" }, expect: { status: 206, body: "bc" } },
      { originLastSaw: "/a", fields: { referer, range: "bytes=1-2" } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "second-look/refused-for-other-reasons",
    name: "a Referer is not the reason for another status, for a refusal that is stored, or where the route keys by it",
    source: SOURCE,
    site: { routes: [{ match: "/keyed", key: { fields: ["referer"] } }] },
    origin: {
      "/missing": [{ status: 404, body: "no" }],
      "/stored": [{ ...refused, fields: { "cache-control": "max-age=60" } }],
      "/keyed": [refused],
      "/posted": [refused],
    },
    steps: [
      { get: "/missing", fields: { referer }, expect: { status: 404 } },
      { get: "/stored", fields: { referer }, expect: { status: 403, cacheStatus: /; stored$/ } },
      { get: "/keyed", fields: { referer }, expect: { status: 403 } },
      { send: { method: "POST", path: "/posted", fields: { referer } }, expect: { status: 403 } },
      { originSaw: { "/missing": 1, "/stored": 1, "/keyed": 1, "/posted": 1 } },
    ],
  },
  {
    id: "second-look/refused-refresh",
    name: "a refresh in the background that is refused is not asked for again with one visitor's Referer",
    source: SOURCE,
    origin: { "/a": [page("max-age=60, stale-while-revalidate=60"), refused] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 61_000 },
      { get: "/a", fields: { referer }, expect: { xCache: "UPDATING" } },
      { work: "finished" },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "second-look/refused-and-followers",
    name: "requests that waited for one that was refused do not get what it gets with its Referer",
    source: SOURCE,
    origin: { "/a": [{ ...refused, hold: "first" }, page("public, max-age=60")] },
    steps: [
      { begin: "one", send: { path: "/a", fields: { referer } } },
      { originSees: "/a", count: 1 },
      { begin: "two", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "first" },
      { finish: "one", expect: { status: 200, cacheStatus: /detail="unkeyed-field:referer"$/ } },
      { finish: "two", expect: { status: 200, cacheStatus: /; stored$/ } },
      { originSaw: { "/a": 3 } },
    ],
  },
];
