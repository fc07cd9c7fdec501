import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import type { Scenario } from "../../engine/scenario.ts";
import { CLOUDFLARES_STATUSES, WAITING_REQUESTS } from "../not-on-every-engine.ts";
import { page } from "../page.ts";
import { kept, NOT_FRESH, newer, RESET_ONCE, TIME_OUT } from "./openings.ts";

/** Fresh for a minute, then usable for 30 seconds while it is refetched. */
const revalidatingV1 = page("max-age=60, stale-while-revalidate=30");

const revalidatingV2 = { ...revalidatingV1, body: "v2" };

const FAILS_SLOWLY: Reply = { status: 503, body: "down", hold: "slow" };

/** Which failures of the origin a stale page replaces, RFC 5861 §4. */
export const scenarios: readonly Scenario[] = [
  ...[500, 502, 503, 504].map(
    (status): Scenario => ({
      id: `stale-if-error/replaces-${status}`,
      name: `a stale page replaces an answer of ${status} if stale-if-error allows it`,
      source: "RFC 5861 §4; RFC 9111 §4.2.4",
      origin: { "/a": [kept, { status, body: "down" }] },
      steps: [
        { get: "/a", expect: { xCache: "MISS", body: "v1" } },
        NOT_FRESH,
        {
          get: "/a",
          expect: {
            status: 200,
            xCache: "STALE",
            body: "v1",
            ageSeconds: 60,
            cacheStatus: `tidemark; fwd=stale; fwd-status=${status}; detail=stale-if-error`,
          },
        },
        { originSaw: { "/a": 2 } },
      ],
    }),
  ),
  ...[400, 404, 410, 429, 499, 501, 505].map(
    (status): Scenario => ({
      id: `stale-if-error/passes-${status}-on`,
      name: `an answer of ${status} is passed on, although a stale page could replace an error`,
      source: "RFC 5861 §4",
      origin: { "/a": [kept, { status, body: "what the origin says" }] },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        NOT_FRESH,
        { get: "/a", expect: { status, xCache: "EXPIRED", body: "what the origin says" } },
      ],
    }),
  ),
  {
    id: "stale-if-error/cloudflare-answers-for-the-origin",
    name: "a stale page replaces the 522 with which Cloudflare answers for an origin that it cannot reach",
    source: "docs/http.md#stale-responses",
    only: CLOUDFLARES_STATUSES,
    site: { stale: { ifDisconnected: "30s" } },
    origin: { "/a": [page("max-age=60"), { status: 522, body: "error code: 522" }] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { get: "/a", expect: { status: 200, xCache: "STALE", body: "v1", cacheStatus: /"stale.ifDisconnected"/ } },
      { advanceMs: 30_000 },
      { get: "/a", expect: { status: 502, body: /cannot be reached/ } },
    ],
  },
  {
    id: "stale-if-error/within-its-window",
    name: "stale-if-error ends with its window, and does not apply while the page is fresh",
    source: "RFC 5861 §4",
    origin: { "/a": [kept] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { origin: "down" },
      { advanceMs: 59_999 },
      { get: "/a", expect: { status: 200, xCache: "HIT" } },
      { advanceMs: 30_000 },
      {
        get: "/a",
        expect: {
          status: 200,
          xCache: "STALE",
          body: "v1",
          ageSeconds: 89,
          cacheStatus: "tidemark; fwd=stale; detail=stale-if-error",
        },
      },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 502, xCache: null, cacheStatus: "tidemark; detail=origin-unreachable" } },
    ],
  },
  ...(
    [
      ["origin-hangs-up", "before it answers", "reset"],
      ["origin-hangs-up-midway", "in the middle of its header section", "cut-head"],
    ] as const
  ).map(
    ([id, when, failure]): Scenario => ({
      id: `stale-if-error/${id}`,
      name: `a stale page is served when the origin hangs up ${when}`,
      source: "RFC 5861 §4",
      // It hangs up each time, because a server sends a request again that met a connection on its way down.
      origin: { "/a": [kept, { ...newer, failure }] },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        NOT_FRESH,
        { get: "/a", expect: { status: 200, xCache: "STALE", body: "v1" } },
        { reply: { "/a": [newer] } },
        { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
      ],
    }),
  ),
  {
    id: "stale-if-error/origin-times-out",
    name: "a stale page is served when the origin does not answer in time, and not a moment earlier",
    source: "RFC 5861 §4; docs/http.md#redirects",
    only: TIME_OUT,
    site: { limits: { originTimeout: "5s" } },
    origin: { "/late": [kept, { ...newer, hold: "for ever" }], "/in-time": [kept, { ...newer, hold: "slow" }] },
    steps: [
      { get: "/late", expect: { xCache: "MISS" } },
      { get: "/in-time", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { begin: "late", send: { path: "/late" } },
      { begin: "in time", send: { path: "/in-time" } },
      { originSees: "/late", count: 2 },
      { originSees: "/in-time", count: 2 },
      { advanceMs: 4_999 },
      { release: "slow" },
      { finish: "in time", expect: { xCache: "EXPIRED", body: "v2" } },
      { advanceMs: 1 },
      {
        finish: "late",
        expect: {
          status: 200,
          xCache: "STALE",
          body: "v1",
          ageSeconds: 65,
          cacheStatus: "tidemark; fwd=stale; detail=stale-if-error",
        },
      },
    ],
  },
  {
    id: "stale-if-error/followers-of-failed-fetch",
    name: "if a fetch fails, all its followers get the stale page, and the origin is asked once",
    source: "RFC 5861 §4; RFC 9211 §2.6",
    only: RESET_ONCE,
    origin: { "/a": [kept, { ...newer, failure: "reset", hold: "slow" }, newer] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { begin: "leader", send: { path: "/a" } },
      { originSees: "/a", count: 2 },
      ...Array.from({ length: 20 }, (_, index) => ({ begin: `${index}`, send: { path: "/a" } })),
      { advanceMs: 1 },
      { release: "slow" },
      {
        finish: "leader",
        expect: { xCache: "STALE", body: "v1", cacheStatus: "tidemark; fwd=stale; detail=stale-if-error" },
      },
      ...Array.from({ length: 20 }, (_, index) => ({
        finish: `${index}`,
        expect: {
          status: 200,
          xCache: "STALE",
          body: "v1",
          cacheStatus: "tidemark; fwd=stale; collapsed; detail=stale-if-error",
        },
      })),
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "stale-if-error/followers-while-disconnected",
    name: "if the origin does not answer, all followers get the page that ifDisconnected allows, and the origin is asked once",
    source: "docs/http.md#stale-responses; RFC 9211 §2.6",
    only: RESET_ONCE,
    site: { stale: { ifDisconnected: "30s" } },
    origin: { "/a": [page("max-age=60"), { ...newer, failure: "reset", hold: "slow" }, newer] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { begin: "leader", send: { path: "/a" } },
      { originSees: "/a", count: 2 },
      { begin: "follower", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "leader", expect: { xCache: "STALE", body: "v1" } },
      {
        finish: "follower",
        expect: {
          xCache: "STALE",
          body: "v1",
          cacheStatus: /^tidemark; fwd=stale; collapsed; detail="?stale\.ifDisconnected"?$/,
        },
      },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "stale-if-error/followers-of-error-response",
    name: "a follower of a fetch that answered an error gets the stale page as well",
    source: "RFC 5861 §4; RFC 9211 §2.6",
    only: WAITING_REQUESTS,
    origin: { "/a": [kept, { status: 503, hold: "slow" }, newer] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { begin: "leader", send: { path: "/a" } },
      { originSees: "/a", count: 2 },
      { begin: "follower", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "leader", expect: { xCache: "STALE", body: "v1" } },
      { finish: "follower", expect: { xCache: "STALE", body: "v1", cacheStatus: /collapsed/ } },
      { originSaw: { "/a": 2 } },
    ],
  },
  ...[
    ["only-follower-origin-hangs-up", "hangs up", { ...newer, failure: "reset", hold: "slow" }, RESET_ONCE] as const,
    ["only-follower-error-response", "answers with an error", FAILS_SLOWLY, WAITING_REQUESTS] as const,
  ].map(
    ([id, what, reply, only]): Scenario => ({
      id: `stale-if-error/${id}`,
      name: `a follower of a fetch in which the origin ${what} may get the stale page, even if its leader may not`,
      source: "RFC 5861 §4; docs/http.md#collapsed-requests",
      only,
      origin: { "/a": [page("max-age=60"), reply, newer] },
      steps: [
        { get: "/a", expect: { xCache: "MISS" } },
        NOT_FRESH,
        { begin: "leader", send: { path: "/a" } },
        { originSees: "/a", count: 2 },
        { begin: "follower", send: { path: "/a", fields: { "cache-control": "stale-if-error=30" } } },
        { advanceMs: 1 },
        { release: "slow" },
        { finish: "leader", expect: { body: /./ } },
        { finish: "follower", expect: { xCache: "STALE", body: "v1", cacheStatus: /collapsed/ } },
        { originSaw: { "/a": 2 } },
      ],
    }),
  ),
  {
    id: "stale-if-error/followers-of-failed-refresh",
    name: "if a refresh fails, a follower gets the stale page as long as stale-if-error allows",
    source: "RFC 5861 §3, §4",
    only: RESET_ONCE,
    origin: {
      "/a": [
        page("max-age=60, stale-while-revalidate=5, stale-if-error=30"),
        { ...revalidatingV2, failure: "reset", hold: "slow" },
      ],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      NOT_FRESH,
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { advanceMs: 5_000 },
      { begin: "late", send: { path: "/a" } },
      { advanceMs: 1 },
      { release: "slow" },
      { finish: "late", expect: { xCache: "STALE", body: "v1", ageSeconds: 65 } },
      { originSaw: { "/a": 2 } },
    ],
  },
  {
    id: "stale-if-error/after-stale-while-revalidate",
    name: "stale-while-revalidate applies first, and stale-if-error after its window",
    source: "RFC 5861 §3, §4",
    origin: { "/a": [page("max-age=60, stale-while-revalidate=5, stale-if-error=30")] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { origin: "down" },
      { advanceMs: 64_999 },
      { get: "/a", expect: { xCache: "UPDATING" } },
      { work: "finished" },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "STALE", body: "v1", ageSeconds: 65 } },
    ],
  },
  ...(
    [
      ["404", { status: 404, body: "gone" }],
      ["410", { status: 410, fields: { "cache-control": "no-store" }, body: "gone" }],
      ["private-page", page("private", "for one")],
      ["redirect", { status: 302, fields: { location: "/login", "cache-control": "no-store" } }],
      ["page-without-lifetime", { body: "no lifetime" }],
    ] as readonly (readonly [id: string, answer: Reply])[]
  ).map(
    ([id, answer]): Scenario => ({
      id: `stale-if-error/after-${id}`,
      name: `after the origin answered by ${id.replaceAll("-", " ")}, the old page is not served again, although nothing replaced it`,
      source: "RFC 9111 §4.3.3; docs/protocol.md#promise-1-private-stays-private",
      origin: { "/a": [kept, answer, { status: 503 }] },
      steps: [
        { get: "/a", expect: { body: "v1" } },
        NOT_FRESH,
        { get: "/a", expect: { status: answer.status ?? 200, xCache: "EXPIRED" } },
        { work: "finished" },
        { get: "/a", expect: { status: 503, xCache: "MISS" } },
      ],
    }),
  ),
  ...(
    [
      ["403", { status: 403, fields: { "cache-control": "no-store" } }, {}],
      ["429", { status: 429, fields: { "cache-control": "no-store" } }, {}],
      ["page-for-a-session", page("private", "for one"), { cookie: "session=1" }],
      ["request-with-no-store", kept, { "cache-control": "no-store" }],
      ["unkeyed-field", page("max-age=60", "odd"), { "x-odd": "1" }],
    ] as const
  ).map(
    ([id, answer, fields]): Scenario => ({
      id: `stale-if-error/kept-after-${id}`,
      name: `after the origin answered by ${id.replaceAll("-", " ")}, the page stays, because the answer may concern only one request`,
      source: "docs/protocol.md#promise-1-private-stays-private; RFC 5861 §4",
      site: { stale: { ifError: "1h" } },
      origin: { "/a": [kept, answer, { status: 503 }] },
      steps: [
        { get: "/a", expect: { body: "v1" } },
        NOT_FRESH,
        { get: "/a", fields, expect: { status: "status" in answer ? answer.status : 200 } },
        { work: "finished" },
        { get: "/a", expect: { status: 200, xCache: "STALE", body: "v1" } },
      ],
    }),
  ),
];
