import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import type { Expected, Scenario, Step } from "../../engine/scenario.ts";
import { BENEATH_THE_ISOLATES, HANGS_UP, TALKING } from "../not-on-every-engine.ts";
import { page } from "../page.ts";
import { TIME_OUT } from "./openings.ts";

const SOURCE = "docs/http.md#an-origin-that-is-down";
const DOWN_AFTER_THREE = { limits: { originDownAfter: 3 } };
const reset: Reply = { failure: "reset" };
const held: Reply = { ...page("max-age=60", "new"), hold: "silence" };
const kept = page("max-age=60, stale-if-error=600", "v1");

/** These paths get no connection to the origin, one after the other. */
function fail(...paths: readonly string[]): Step[] {
  return whileDown(unanswered(...paths));
}

/** The same while the origin is down already. */
function unanswered(...paths: readonly string[]): Step[] {
  return paths.map((path) => ({ get: path, expect: { status: 502 } }));
}

/** They get none in this isolate. */
function failIn(isolate: string, ...paths: readonly string[]): Step[] {
  const failing = (path: string): Step[] => [
    { send: { path, isolate }, expect: { status: 502 } },
    { work: "finished" },
  ];
  return whileDown(paths.flatMap(failing));
}

function whileDown(steps: readonly Step[]): Step[] {
  return [{ origin: "down" }, ...steps, { origin: "up" }];
}

/** A stale page makes the edge ask for it twice whether the origin is back: while it is down, and after. `then`: in between. */
function askBehindTwice(then: readonly Step[]): Step[] {
  const stale: Step[] = [
    { advanceMs: 1000 },
    { get: "/a", expect: { xCache: "STALE", body: "v1" } },
    { work: "finished" },
  ];
  return [
    { get: "/a", expect: { xCache: "MISS" } },
    { advanceMs: 61_000 },
    ...whileDown([...unanswered("/x", "/y", "/z"), ...stale, ...then]),
    ...stale,
  ];
}

function inEach(path: string, expect: Expected): Step[] {
  return ["a", "b"].flatMap((isolate): Step[] => [{ send: { path, isolate }, expect }, { work: "finished" }]);
}

/** An origin that does not answer: nobody waits for it. */
export const scenarios: readonly Scenario[] = [
  {
    id: "stale-if-error/known-down",
    name: "after three paths got no answer, the edge serves stale pages and refuses other requests without asking the origin",
    source: SOURCE,
    site: DOWN_AFTER_THREE,
    origin: { "/a": [kept], "/new": [page("max-age=60", "new")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 61_000 },
      ...fail("/x", "/y", "/z"),
      { get: "/a", expect: { xCache: "STALE", body: "v1" } },
      { get: "/new", expect: { status: 503, cacheStatus: /detail=origin-down/, fields: { "retry-after": "1" } } },
      { send: { method: "POST", path: "/new" }, expect: { status: 503 } },
      { originSaw: { "/a": 1, "/new": 0 } },
      { get: "/_tidemark/health", expect: { status: 200, body: '{"status":"ok","origin":"down"}\n' } },
    ],
  },
  {
    id: "stale-if-error/known-down-unsent-post",
    name: "a POST that the edge refuses because the origin is down was not sent: it invalidates nothing, so that the stale page is still served",
    source: `${SOURCE}; docs/http.md#unsafe-methods`,
    site: DOWN_AFTER_THREE,
    origin: { "/a": [kept] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 61_000 },
      ...fail("/x", "/y", "/z"),
      { send: { method: "POST", path: "/a" }, expect: { status: 503, cacheStatus: /detail=origin-down/ } },
      { get: "/a", expect: { xCache: "STALE", body: "v1" } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "stale-if-error/ready-while-down",
    name: "while its origin is down, the edge's health check stays ready, because stored pages are served, and reports the origin as down",
    source: SOURCE,
    site: { ...DOWN_AFTER_THREE, origin: { concurrency: 1, queue: { maxMs: 0 } } },
    origin: { "/fresh": [page("max-age=600", "fresh")], "/a": [kept] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 61_000 },
      { get: "/fresh", expect: { xCache: "MISS" } },
      { get: "/_tidemark/health?ready", expect: { status: 200, body: '{"status":"ok","origin":"up"}\n' } },
      ...fail("/x", "/y", "/z"),
      { get: "/_tidemark/health?ready", expect: { status: 200, body: '{"status":"ok","origin":"down"}\n' } },
      { get: "/fresh", expect: { xCache: "HIT", body: "fresh" } },
      { get: "/a", expect: { xCache: "STALE", body: "v1" } },
      { get: "/_tidemark/health?ready", expect: { status: 200, body: '{"status":"ok","origin":"down"}\n' } },
    ],
  },
  {
    id: "stale-if-error/known-down-until-asked",
    name: "once a second, a request without a stored page asks whether the origin is back, and waits for its answer",
    source: SOURCE,
    site: DOWN_AFTER_THREE,
    origin: { "/new": [page("max-age=60", "new")] },
    steps: [
      ...fail("/x", "/y", "/z"),
      { advanceMs: 1000 },
      { send: { method: "POST", path: "/new" }, expect: { status: 503 } },
      { originSaw: { "/new": 0 } },
      { get: "/new", expect: { xCache: "MISS", body: "new" } },
      { get: "/_tidemark/health", expect: { status: 200, body: '{"status":"ok","origin":"up"}\n' } },
    ],
  },
  {
    id: "stale-if-error/known-down-asked-behind",
    name: "a request with a stale page asks after it was answered",
    source: SOURCE,
    site: DOWN_AFTER_THREE,
    origin: { "/a": [kept, page("max-age=60", "v2")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 61_000 },
      ...fail("/x", "/y", "/z"),
      { advanceMs: 1000 },
      { get: "/a", expect: { xCache: "STALE", body: "v1" } },
      { work: "finished" },
      { originSaw: { "/a": 2 } },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
  {
    id: "stale-if-error/known-down-asked-behind-in-vain",
    name: "where the origin has so many requests at a time, one that asks in vain whether it is back takes nobody's place for longer",
    source: SOURCE,
    site: { ...DOWN_AFTER_THREE, origin: { concurrency: 1 } },
    origin: { "/a": [kept], "/new": [page("max-age=60", "new")] },
    steps: [...askBehindTwice([]), { get: "/new", expect: { xCache: "MISS", body: "new" } }],
  },
  ...(
    [
      ["head", { method: "HEAD", path: "/a" }, { xCache: "STALE", body: "" }],
      ["part", { path: "/a", fields: { range: "bytes=1-" } }, { xCache: "STALE", body: "1" }],
    ] as const
  ).map(
    ([what, send, expect]): Scenario => ({
      id: `stale-if-error/known-down-asked-behind-${what}`,
      name: `a request for a ${what} with a stale page asks after it was answered`,
      source: SOURCE,
      site: DOWN_AFTER_THREE,
      origin: { "/a": [kept, held] },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        { advanceMs: 61_000 },
        ...fail("/x", "/y", "/z"),
        { advanceMs: 1000 },
        { send, expect },
        { originSees: "/a", count: 2 },
        { release: "silence" },
      ],
    }),
  ),
  {
    id: "stale-if-error/known-down-counted",
    name: "questions whether the origin is back are counted as failed while it is down, although visitors get stale pages",
    source: SOURCE,
    site: DOWN_AFTER_THREE,
    origin: { "/a": [kept, page("max-age=60", "v2")] },
    steps: [
      ...askBehindTwice([{ stats: { "origin.asked": 5, "origin.answered": 1, "origin.failed": 4 } }]),
      { stats: { "origin.asked": 6, "origin.answered": 2, "origin.failed": 4 } },
    ],
  },
  {
    id: "stale-if-error/known-down-together",
    name: "paths without an answer count together for all isolates of a machine",
    source: SOURCE,
    only: TALKING,
    site: DOWN_AFTER_THREE,
    origin: { "/a": [page("max-age=1", "a")], "/new": [page("max-age=60", "new")] },
    steps: [
      ...inEach("/a", { status: 200 }),
      ...failIn("a", "/x", "/y"),
      ...failIn("b", "/z"),
      ...inEach("/new", { status: 503, cacheStatus: /detail=origin-down/ }),
      { originSaw: { "/new": 0 } },
    ],
  },
  {
    id: "stale-if-error/known-up-together",
    name: "one answer tells all isolates of a machine that the origin is back",
    source: SOURCE,
    only: TALKING,
    site: DOWN_AFTER_THREE,
    origin: { "/new": [page("max-age=60", "new")], "/other": [page("max-age=60", "other")] },
    steps: [
      { send: { path: "/_tidemark/health", isolate: "b" }, expect: { status: 200 } },
      ...failIn("a", "/x", "/y", "/z"),
      { advanceMs: 1000 },
      { send: { path: "/new", isolate: "a" }, expect: { xCache: "MISS" } },
      { work: "finished" },
      { send: { path: "/other", isolate: "b" }, expect: { xCache: "MISS", body: "other" } },
    ],
  },
  {
    id: "stale-if-error/known-down-asked-by-one",
    name: "only one isolate of a machine asks each second whether the origin is back",
    source: SOURCE,
    only: TALKING,
    site: DOWN_AFTER_THREE,
    origin: { "/new": [page("max-age=60", "new")] },
    steps: [
      { send: { path: "/_tidemark/health", isolate: "b" }, expect: { status: 200 } },
      ...failIn("a", "/x", "/y", "/z"),
      { advanceMs: 1000 },
      ...failIn("a", "/x"),
      { send: { path: "/new", isolate: "b" }, expect: { status: 503 } },
      { originSaw: { "/new": 0 } },
    ],
  },
  {
    id: "stale-if-error/known-down-to-a-new-one",
    name: "an isolate that starts while the origin is down learns this from the other isolates",
    source: SOURCE,
    only: TALKING,
    site: DOWN_AFTER_THREE,
    origin: { "/new": [page("max-age=60", "new")] },
    steps: [
      ...failIn("a", "/x", "/y", "/z"),
      { send: { path: "/_tidemark/health", isolate: "b" }, expect: { body: '{"status":"ok","origin":"up"}\n' } },
      { advanceMs: 1000 },
      ...failIn("a", "/x"),
      { send: { path: "/new", isolate: "b" }, expect: { status: 503 } },
      { originSaw: { "/new": 0 } },
    ],
  },
  {
    id: "stale-if-error/known-down-still",
    name: "while an origin stays silent, one request a second waits for it and no more",
    source: SOURCE,
    site: DOWN_AFTER_THREE,
    origin: { "/new?1": [held], "/new?3": [held] },
    steps: [
      ...fail("/x", "/y", "/z"),
      { advanceMs: 1000 },
      { begin: "asks", send: { path: "/new?1" } },
      { originSees: "/new?1", count: 1 },
      { advanceMs: 999 },
      { get: "/new?2", expect: { status: 503 } },
      { originSaw: { "/new?2": 0 } },
      { advanceMs: 1 },
      { begin: "asks again", send: { path: "/new?3" } },
      { originSees: "/new?3", count: 1 },
      { get: "/new?4", expect: { status: 503 } },
      { originSaw: { "/new?4": 0 } },
      { release: "silence" },
      { finish: "asks", expect: { body: "new" } },
      { finish: "asks again", expect: { body: "new" } },
    ],
  },
  {
    id: "stale-if-error/known-down-set-back",
    name: "an origin that is down is asked every second even if the clock was set back, by seconds or by hours",
    source: SOURCE,
    only: BENEATH_THE_ISOLATES,
    site: DOWN_AFTER_THREE,
    origin: { "/new?30000": [page("max-age=60", "new")], "/new?3600000": [page("max-age=60", "new")] },
    steps: [30_000, 3_600_000].flatMap((byMs): Step[] => [
      { clockOf: "c", aheadMs: byMs },
      ...failIn("c", "/x", "/y", "/z"),
      { send: { path: `/new?${byMs}`, isolate: "c" }, expect: { status: 503 } },
      { clockOf: "c", aheadMs: 0 },
      { send: { path: `/new?${byMs}`, isolate: "c" }, expect: { xCache: "MISS", body: "new" } },
    ]),
  },
  {
    id: "stale-if-error/known-down-answered-before-set-back",
    name: "an answer before the clock was set back does not hide that the origin is down",
    source: SOURCE,
    only: BENEATH_THE_ISOLATES,
    site: DOWN_AFTER_THREE,
    origin: { "/a": [page("max-age=60", "a")], "/new": [page("max-age=60", "new")] },
    steps: [
      { clockOf: "c", aheadMs: 3_600_000 },
      { send: { path: "/a", isolate: "c" }, expect: { body: "a" } },
      { clockOf: "c", aheadMs: 0 },
      ...failIn("c", "/x", "/y", "/z"),
      { send: { path: "/new", isolate: "c" }, expect: { status: 503 } },
    ],
  },
  {
    id: "stale-if-error/known-down-one-path",
    name: "one path that repeatedly gets no answer does not mark the origin as down",
    source: SOURCE,
    site: DOWN_AFTER_THREE,
    origin: { "/new": [page("max-age=60", "new")] },
    steps: [...fail("/x?a=1", "/x?a=2", "/x?a=3"), { get: "/new", expect: { xCache: "MISS", body: "new" } }],
  },
  {
    id: "stale-if-error/known-down-hung-up",
    name: "paths for which the origin hangs up do not mark it as down, because one visitor may know such paths",
    source: SOURCE,
    only: HANGS_UP,
    site: DOWN_AFTER_THREE,
    origin: { "/x": [reset], "/y": [reset], "/z": [reset], "/new": [page("max-age=60", "new")] },
    steps: [
      ...["/x", "/y", "/z"].map((path): Step => ({ get: path, expect: { status: 502 } })),
      { get: "/new", expect: { xCache: "MISS", body: "new" } },
    ],
  },
  {
    id: "stale-if-error/known-down-after-answer",
    name: "any answer, even an error, shows that the origin is up",
    source: SOURCE,
    site: DOWN_AFTER_THREE,
    origin: { "/error": [{ status: 500 }], "/new": [page("max-age=60", "new")] },
    steps: [
      ...fail("/x", "/y"),
      { get: "/error", expect: { status: 500 } },
      ...fail("/z"),
      { get: "/new", expect: { xCache: "MISS", body: "new" } },
    ],
  },
  {
    id: "stale-if-error/known-down-hanging-paths",
    name: "paths that get no answer in time do not mark the origin as down if it answers others meanwhile",
    source: SOURCE,
    only: TIME_OUT,
    site: { limits: { originDownAfter: 3, originTimeout: "5s" } },
    origin: {
      ...Object.fromEntries(
        ["/x", "/y", "/z"].map((path) => [path, [{ ...page("max-age=60", "late"), hold: "for ever" }]]),
      ),
      "/a": [page("max-age=60", "a")],
      "/new": [page("max-age=60", "new")],
    },
    steps: [
      ...["/x", "/y", "/z"].flatMap((path): Step[] => [
        { begin: path, send: { path } },
        { originSees: path, count: 1 },
      ]),
      { advanceMs: 1_000 },
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 4_000 },
      ...["/x", "/y", "/z"].map((path): Step => ({ finish: path, expect: { status: 504 } })),
      { get: "/new", expect: { xCache: "MISS", body: "new" } },
      { originSaw: { "/new": 1 } },
      { get: "/_tidemark/health", expect: { body: '{"status":"ok","origin":"up"}\n' } },
    ],
  },
  {
    id: "stale-if-error/known-down-switched-off",
    name: "without the site's setting, no number of failed paths marks the origin as down",
    source: SOURCE,
    origin: { "/new": [page("max-age=60", "new")] },
    steps: [...fail("/x", "/y", "/z", "/x"), { get: "/new", expect: { xCache: "MISS", body: "new" } }],
  },
];
