import type { Scenario } from "../../engine/scenario.ts";
import { INTERIM_RESPONSES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

const link = "</a.css>; rel=preload; as=style";
const hints = { status: 103, fields: { link } };
const processing = { status: 102 };
const only = INTERIM_RESPONSES;
const navigation = { "sec-fetch-mode": "navigate" };
const HINTS: NonNullable<Scenario["only"]> = {
  on: ["memory"],
  because: "hints are for clients of HTTP/2, and a scenario asks a server over HTTP/1.1",
};
const linked = page("max-age=60", "v1", { link, etag: '"1"' });
const confirmed = { status: 304, fields: { etag: '"1"' } };

/** What comes before an answer: RFC 9110 §15.2 and RFC 8297. */
export const scenarios: readonly Scenario[] = [
  {
    id: "forwarding/interim-responses",
    name: "interim responses reach the client whose request caused them, and are not stored",
    source: "RFC 9110 §15.2",
    only,
    origin: { "/a": [{ ...page("max-age=60"), interims: [processing, hints] }] },
    steps: [
      {
        get: "/a",
        expect: { status: 200, body: "v1", xCache: "MISS", interims: [processing, hints], fields: { link: null } },
      },
      { get: "/a", expect: { xCache: "HIT", interims: [], fields: { link: null } } },
      { send: { method: "HEAD", path: "/a" }, expect: { xCache: "HIT", interims: [] } },
    ],
  },
  {
    id: "forwarding/interim-responses-of-what-is-not-stored",
    name: "interim responses reach the client even if the answer is not stored",
    source: "RFC 9110 §15.2",
    only,
    origin: {
      "/private": [{ ...page("private"), interims: [hints] }],
      "/post": [{ body: "posted", interims: [processing] }],
    },
    steps: [
      { get: "/private", expect: { xCache: "MISS", interims: [hints] } },
      { send: { method: "POST", path: "/post", body: "x" }, expect: { body: "posted", interims: [processing] } },
    ],
  },
  {
    id: "forwarding/interim-responses-and-followers",
    name: "a request that waits for another's fetch gets no interim responses of that fetch",
    source: "RFC 8297 §2",
    only,
    origin: { "/a": [{ ...page("max-age=60"), interims: [hints], hold: "slow" }] },
    steps: [
      { begin: "leader", send: { path: "/a" } },
      { originSees: "/a", count: 1 },
      { begin: "follower", send: { path: "/a" } },
      { release: "slow" },
      { finish: "leader", expect: { body: "v1", interims: [hints] } },
      { finish: "follower", expect: { body: "v1", interims: [] } },
      { originSaw: { "/a": 1 } },
    ],
  },
  {
    id: "forwarding/interim-responses-behind-an-answer",
    name: "a client that got a stale page gets no interim responses of the refresh",
    source: "RFC 8297 §2",
    only,
    origin: {
      "/a": [page("max-age=1, stale-while-revalidate=60"), { ...page("max-age=60", "v2"), interims: [hints] }],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 2_000 },
      { begin: "reader", send: { path: "/a" } },
      { work: "finished" },
      { finish: "reader", expect: { body: "v1", xCache: "UPDATING", interims: [] } },
      { get: "/a", expect: { body: "v2", xCache: "HIT", interims: [] } },
    ],
  },
  {
    id: "forwarding/interim-fields",
    name: "the edge removes tags, connection fields and its own targeted fields from interim responses",
    source: "RFC 9110 §7.6.1, §8.6, §15.2",
    only,
    origin: {
      "/a": [
        {
          ...page("max-age=60"),
          interims: [
            {
              status: 103,
              fields: {
                link,
                connection: "x-hop",
                "x-hop": "1",
                "cache-tag": "t",
                "surrogate-control": "max-age=1",
                "x-seen": "yes",
              },
            },
          ],
        },
      ],
    },
    steps: [{ get: "/a", expect: { interims: [{ status: 103, fields: { link, "x-seen": "yes" } }] } }],
  },
  {
    id: "forwarding/interim-too-large",
    name: "an interim response with too many fields is dropped, but its answer is passed on",
    source: "docs/http.md#limits",
    only,
    site: { limits: { responseFields: 8 } },
    origin: {
      "/a": [
        {
          ...page("max-age=60"),
          interims: [
            { status: 103, fields: Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => [`x-${n}`, "1"])) },
            hints,
          ],
        },
      ],
    },
    steps: [{ get: "/a", expect: { status: 200, body: "v1", interims: [hints] } }],
  },
  {
    id: "forwarding/hints-of-the-stored-page",
    name: "while a stored page is fetched again, a navigation gets the page's links at once",
    source: "RFC 8297 §2",
    only: HINTS,
    origin: { "/a": [linked, confirmed, linked] },
    steps: [
      { get: "/a", fields: navigation, expect: { xCache: "MISS", interims: [] } },
      { get: "/a", fields: navigation, expect: { xCache: "HIT", interims: [] } },
      { advanceMs: 60_000 },
      { get: "/a", fields: navigation, expect: { xCache: "REVALIDATED", interims: [hints], fields: { link } } },
      { advanceMs: 60_000 },
      { get: "/a", expect: { xCache: "EXPIRED", interims: [] } },
    ],
  },
  {
    id: "forwarding/hints-not-over-http1",
    name: "a client of HTTP/1.1 gets no links early: it may be a proxy that takes them for the answer",
    source: "RFC 8297 §3",
    only: { on: ["server"], because: HINTS.because },
    origin: { "/a": [linked, { ...confirmed, interims: [hints] }, confirmed] },
    steps: [
      { get: "/a", fields: navigation, expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      { get: "/a", fields: navigation, expect: { xCache: "REVALIDATED", interims: [hints] } },
      { advanceMs: 60_000 },
      { get: "/a", fields: navigation, expect: { xCache: "REVALIDATED", interims: [], fields: { link } } },
    ],
  },
  {
    id: "forwarding/hints-only-of-early-links",
    name: "links that browsers follow only once they have the page are not sent early",
    source: "RFC 8297 §2",
    only: HINTS,
    origin: { "/a": [page("max-age=60", "v1", { link: "</b>; rel=next", etag: '"1"' }), confirmed] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { advanceMs: 60_000 },
      { get: "/a", fields: navigation, expect: { xCache: "REVALIDATED", interims: [] } },
    ],
  },
  {
    id: "forwarding/hints-of-a-purged-page",
    name: "after a purge, hard or soft, a page's links are not sent early",
    source: "RFC 8297 §2; docs/protocol.md#r10-modes",
    only: HINTS,
    origin: { "/soft": [linked, confirmed], "/hard": [linked] },
    steps: [
      { get: "/soft", expect: { xCache: "MISS" } },
      { get: "/hard", expect: { xCache: "MISS" } },
      { purge: { urls: ["/soft"], mode: "soft" } },
      { purge: { urls: ["/hard"] } },
      { advanceMs: 2_000 },
      { get: "/soft", fields: navigation, expect: { xCache: "REVALIDATED", interims: [] } },
      { get: "/hard", fields: navigation, expect: { xCache: "MISS", interims: [] } },
    ],
  },
];
