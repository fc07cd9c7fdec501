import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import { type ClientRequest, type Scenario, type Step, TOKEN } from "../../engine/scenario.ts";
import { page } from "../page.ts";

const SOURCE = "docs/design.md#an-origin-that-is-busy";
const ONE_AT_A_TIME = { origin: { concurrency: 1 } };
const held: Reply = { ...page("max-age=60", "slow"), hold: "slow" };
const kept = page("max-age=60, stale-if-error=600", "v1");
const plain = page("max-age=60", "b");

/** A request has the only permit until the origin is let go. */
const OCCUPY: readonly Step[] = [
  { begin: "slow", send: { path: "/slow" } },
  { originSees: "/slow", count: 1 },
];
const LET_GO: readonly Step[] = [{ release: "slow" }, { finish: "slow", expect: { status: 200, body: "slow" } }];
const OVERTAKEN = { "/slow": [held], "/b": [plain], "/c": [{ ...page("max-age=60", "c"), hold: "c" }] };

type Client = Pick<ClientRequest, "address" | "fields">;

/** These clients ask for `/slow`, `/b` and `/c`. The last one goes before the second. */
function overtaken(slow: Client, b: Client, c: Client): readonly Step[] {
  return [
    ...lineUp(slow, b, c),
    { originSees: "/c", count: 1 },
    { originSaw: { "/b": 0 } },
    { release: "c" },
    { finish: "c", expect: { body: "c" } },
    { finish: "b", expect: { body: "b" } },
  ];
}

/** The same, but they keep their order. */
function notOvertaken(slow: Client, b: Client, c: Client): readonly Step[] {
  return [
    ...lineUp(slow, b, c),
    { originSees: "/b", count: 1 },
    { originSaw: { "/c": 0 } },
    { release: "b" },
    { finish: "b", expect: { body: "b" } },
    { originSees: "/c", count: 1 },
    { release: "c" },
    { finish: "c", expect: { body: "c" } },
  ];
}

function lineUp(slow: Client, b: Client, c: Client): readonly Step[] {
  return [
    { begin: "slow", send: { path: "/slow", ...slow } },
    { originSees: "/slow", count: 1 },
    { begin: "b", send: { path: "/b", ...b } },
    { inLine: 1 },
    { advanceMs: 1 },
    { begin: "c", send: { path: "/c", ...c } },
    { inLine: 2 },
    ...LET_GO,
  ];
}

const MINUTES = 60_000;
const SESSION = "sid=0123456789abcdef";
const withSession: Client = { address: "192.0.2.8", fields: { cookie: SESSION } };
const NEWCOMERS = [{ address: "192.0.2.7" }, { address: "192.0.2.9" }] as const;
const LOGIN: Readonly<Record<string, readonly Reply[]>> = {
  ...OVERTAKEN,
  "/b": [{ ...plain, hold: "b" }],
  "/login": [page("no-store", "in", { "set-cookie": `${SESSION}; Path=/` })],
};

/** The origin has no more requests at a time than its owner says. */
export const scenarios: readonly Scenario[] = [
  {
    id: "capacity/waits-for-its-turn",
    name: "a request that would be one too many for the origin waits until another has its answer",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: { "/slow": [held], "/b": [plain] },
    steps: [
      ...OCCUPY,
      { begin: "b", send: { path: "/b" } },
      { inLine: 1 },
      { originSaw: { "/b": 0 } },
      { stats: { "atOrigin.waiting": 1, "atOrigin.running": 1 } },
      ...LET_GO,
      { finish: "b", expect: { xCache: "MISS", body: "b" } },
      { stats: { "origin.awaited": 1, "origin.turnedAway": 0, "atOrigin.waiting": 0, "atOrigin.running": 0 } },
    ],
  },
  {
    id: "capacity/off-by-default",
    name: "without a limit of the owner's nothing waits",
    source: SOURCE,
    origin: { "/slow": [held], "/b": [plain] },
    steps: [...OCCUPY, { get: "/b", expect: { xCache: "MISS", body: "b" } }, ...LET_GO],
  },
  {
    id: "capacity/first-come-first-served",
    name: "requests of one client get their turn in the order in which they came",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: { "/slow": [held], "/b": [{ ...plain, hold: "b" }], "/c": [page("max-age=60", "c")] },
    steps: [
      ...OCCUPY,
      { begin: "b", send: { path: "/b" } },
      { inLine: 1 },
      { advanceMs: 1 },
      { begin: "c", send: { path: "/c" } },
      { inLine: 2 },
      { advanceMs: 4 },
      { stats: { "atOrigin.longestWaitMs": 5 } },
      ...LET_GO,
      { originSees: "/b", count: 1 },
      { originSaw: { "/c": 0 } },
      { release: "b" },
      { finish: "b", expect: { body: "b" } },
      { finish: "c", expect: { body: "c" } },
    ],
  },
  {
    id: "capacity/fewest-misses-first",
    name: "who has had less of the origin lately has the next turn, though another came first",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: OVERTAKEN,
    steps: overtaken({}, {}, { address: "192.0.2.8" }),
  },
  {
    id: "capacity/a-network-is-one-client",
    name: "addresses of IPv6 with the same 64 bits in front are one client",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: OVERTAKEN,
    steps: overtaken({ address: "2001:db8::1" }, { address: "2001:db8::2" }, { address: "2001:db8:0:1::1" }),
  },
  {
    id: "capacity/place-of-the-best",
    name: "a page has the place of the client that has had least of the origin, of all who wait for it",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: {
      ...OVERTAKEN,
      "/a": [page("no-store", "a")],
    },
    steps: [
      { get: "/a", expect: { body: "a" } },
      { send: { path: "/a", address: "192.0.2.8" }, expect: { body: "a" } },
      ...OCCUPY,
      { begin: "b", send: { path: "/b", address: "192.0.2.8" } },
      { inLine: 1 },
      { advanceMs: 1 },
      { begin: "c1", send: { path: "/c" } },
      { inLine: 2 },
      { begin: "c2", send: { path: "/c", address: "192.0.2.9" } },
      { begin: "c3", send: { path: "/c" } },
      { advanceMs: 1 },
      { inLine: 2 },
      ...LET_GO,
      { originSees: "/c", count: 1 },
      { originSaw: { "/b": 0 } },
      { release: "c" },
      { finish: "c1", expect: { body: "c" } },
      { finish: "c2", expect: { body: "c" } },
      { finish: "c3", expect: { body: "c" } },
      { finish: "b", expect: { body: "b" } },
    ],
  },
  {
    id: "capacity/known-session-first",
    name: "a visitor with a session that the origin set ten minutes ago goes before who has had as little of the origin",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: { ...LOGIN, "/b": [plain] },
    steps: [
      { send: { path: "/login", address: "192.0.2.8" }, expect: { body: "in" } },
      { advanceMs: 10 * MINUTES },
      ...overtaken(...NEWCOMERS, withSession),
      { stats: { "queue.awaited.known": 1, "queue.awaited.other": 1 } },
    ],
  },
  {
    id: "capacity/session-made-in-time",
    name: "a session that the origin has set less than ten minutes before the queue began does not count",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: LOGIN,
    steps: [
      { send: { path: "/login", address: "192.0.2.8" }, expect: { body: "in" } },
      { advanceMs: 10 * MINUTES - 1 },
      ...notOvertaken(...NEWCOMERS, withSession),
    ],
  },
  {
    id: "capacity/invented-session",
    name: "a session that the origin has not set does not count",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: LOGIN,
    steps: [{ advanceMs: 10 * MINUTES }, ...notOvertaken(...NEWCOMERS, withSession)],
  },
  {
    id: "capacity/session-that-the-request-had",
    name: "a session that the origin sets again as the request had it may be invented, and does not count",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: LOGIN,
    steps: [
      { send: { path: "/login", ...withSession }, expect: { body: "in" } },
      { advanceMs: 10 * MINUTES },
      ...notOvertaken(...NEWCOMERS, withSession),
    ],
  },
  {
    id: "capacity/session-of-two-networks",
    name: "what the origin sets for several clients is nobody's session",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: LOGIN,
    steps: [
      { send: { path: "/login", address: "192.0.2.8" }, expect: { body: "in" } },
      { send: { path: "/login", address: "192.0.2.10" }, expect: { body: "in" } },
      { advanceMs: 10 * MINUTES },
      ...notOvertaken(...NEWCOMERS, withSession),
    ],
  },
  {
    id: "capacity/renewed-session",
    name: "a session for which the origin sets a new cookie goes on",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: {
      ...LOGIN,
      "/b": [plain],
      "/renew": [page("no-store", "renewed", { "set-cookie": "sid=fedcba9876543210" })],
    },
    steps: [
      { send: { path: "/login", address: "192.0.2.8" }, expect: { body: "in" } },
      { advanceMs: 10 * MINUTES },
      { send: { path: "/renew", ...withSession }, expect: { body: "renewed" } },
      ...overtaken(...NEWCOMERS, { address: "192.0.2.11", fields: { cookie: "sid=fedcba9876543210" } }),
    ],
  },
  {
    id: "capacity/stripped-session",
    name: "a session that no client gets does not count",
    source: SOURCE,
    site: { ...ONE_AT_A_TIME, routes: [{ match: "/login", stripSetCookie: true }] },
    origin: LOGIN,
    steps: [
      { send: { path: "/login", address: "192.0.2.8" }, expect: { body: "in" } },
      { advanceMs: 10 * MINUTES },
      ...notOvertaken(...NEWCOMERS, withSession),
    ],
  },
  {
    id: "capacity/receipt-goes-first",
    name: "who has the receipt of a purge goes before who has had as little of the origin",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: OVERTAKEN,
    steps: [
      { purge: { tags: ["a"] }, expect: { status: 200 } },
      ...overtaken(...NEWCOMERS, { address: "192.0.2.8", fields: { "tidemark-after": "$token" } }),
    ],
  },
  {
    id: "capacity/invented-receipt",
    name: "a receipt of another log does not count",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: { ...LOGIN, "/c": [page("max-age=60", "c")] },
    steps: [
      ...lineUp(...NEWCOMERS, { address: "192.0.2.8", fields: { "tidemark-after": "another.1" } }),
      { originSees: "/b", count: 1 },
      { originSaw: { "/c": 0 } },
      { release: "b" },
      { finish: "b", expect: { body: "b" } },
      { finish: "c", expect: { body: "c" } },
    ],
  },
  {
    id: "capacity/full-queue-makes-room",
    name: "where as many wait as may, who has had most of the origin lately makes room for who has had less",
    source: SOURCE,
    site: { origin: { concurrency: 1, queue: { maxWaiting: 2 } } },
    origin: { "/slow": [held], "/b": [plain], "/c": [page("max-age=60", "c")], "/d": [page("max-age=60", "d")] },
    steps: [
      ...OCCUPY,
      { begin: "b", send: { path: "/b" } },
      { inLine: 1 },
      { begin: "c", send: { path: "/c", address: "192.0.2.8" } },
      { inLine: 2 },
      { begin: "d", send: { path: "/d", address: "192.0.2.9" } },
      { finish: "b", expect: { status: 503, cacheStatus: /detail=origin-busy/, fields: { "retry-after": "5" } } },
      { inLine: 2 },
      { stats: { "origin.awaited": 3, "origin.turnedAway": 1 } },
      ...LET_GO,
      { finish: "c", expect: { body: "c" } },
      { finish: "d", expect: { body: "d" } },
      { originSaw: { "/b": 0 } },
    ],
  },
  {
    id: "capacity/hits-never-wait",
    name: "a stored page is served at once, however many wait for the origin",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: { "/slow": [held], "/b": [plain], "/c": [page("max-age=60", "c")] },
    steps: [
      { get: "/b", expect: { xCache: "MISS" } },
      ...OCCUPY,
      { begin: "c", send: { path: "/c" } },
      { inLine: 1 },
      { get: "/b", expect: { xCache: "HIT", body: "b" } },
      ...LET_GO,
      { finish: "c", expect: { body: "c" } },
    ],
  },
  {
    id: "capacity/until-the-last-byte",
    name: "a request is at the origin until the last byte of its answer has come",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: { "/slow": [{ ...held, bytesBeforeHold: 2 }], "/b": [plain] },
    steps: [
      ...OCCUPY,
      { begin: "b", send: { path: "/b" } },
      { inLine: 1 },
      { originSaw: { "/b": 0 } },
      ...LET_GO,
      { finish: "b", expect: { body: "b" } },
    ],
  },
  {
    id: "capacity/after-a-failure",
    name: "a request that gets no answer, or half of one, makes room for the next one",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: {
      "/reset": [{ failure: "reset" }],
      "/cut": [{ ...page("no-store", "half a body"), cutAfterBytes: 4 }],
      "/b": [plain],
    },
    steps: [
      { get: "/reset", expect: { status: 502 } },
      { get: "/cut", expect: { cutOff: true } },
      { get: "/b", expect: { xCache: "MISS", body: "b" } },
    ],
  },
  {
    id: "capacity/waits-too-long",
    name: "a request that has waited as long as it may gets 503, and the origin is not blamed for it",
    source: SOURCE,
    site: { origin: { concurrency: 1, queue: { maxMs: 2500 } }, limits: { originDownAfter: 1 } },
    origin: { "/slow": [held], "/b": [plain] },
    steps: [
      ...OCCUPY,
      { begin: "b", send: { path: "/b" } },
      { inLine: 1 },
      { advanceMs: 2499 },
      { inLine: 1 },
      { advanceMs: 1 },
      {
        finish: "b",
        expect: { status: 503, xCache: null, cacheStatus: /detail=origin-busy/, fields: { "retry-after": "3" } },
      },
      { originSaw: { "/b": 0 } },
      { stats: { "origin.failed": 0, "origin.turnedAway": 1, "origin.asked": 1, "answeredByEdge.origin-busy": 1 } },
      { get: "/_tidemark/health", expect: { body: '{"status":"ok","origin":"up"}\n' } },
      ...LET_GO,
      { get: "/b", expect: { xCache: "MISS", body: "b" } },
    ],
  },
  {
    id: "capacity/queue-is-full",
    name: "where as many wait as may, the next one is turned away at once",
    source: SOURCE,
    site: { origin: { concurrency: 1, queue: { maxWaiting: 1 } } },
    origin: { "/slow": [held], "/b": [plain], "/c": [page("max-age=60", "c")] },
    steps: [
      ...OCCUPY,
      { begin: "b", send: { path: "/b" } },
      { inLine: 1 },
      { get: "/c", expect: { status: 503, fields: { "retry-after": "5" } } },
      { send: { method: "POST", path: "/c", body: "x" }, expect: { status: 503, cacheStatus: /detail=origin-busy/ } },
      { originSaw: { "/c": 0 } },
      { stats: { "origin.awaited": 1, "origin.turnedAway": 2, "queue.turnedAway.other": 2 } },
      ...LET_GO,
      { finish: "b", expect: { body: "b" } },
    ],
  },
  {
    id: "capacity/stale-in-place",
    name: "who gets no turn gets the stale page, where its rules allow one for an error",
    source: SOURCE,
    site: { origin: { concurrency: 1, queue: { maxWaiting: 0 } } },
    origin: { "/slow": [held], "/a": [kept], "/b": [plain] },
    steps: [
      { get: "/a", expect: { xCache: "MISS" } },
      { get: "/b", expect: { xCache: "MISS" } },
      { advanceMs: 61_000 },
      ...OCCUPY,
      { get: "/a", expect: { xCache: "STALE", body: "v1", cacheStatus: /detail=stale-if-error/ } },
      { get: "/b", expect: { status: 503 } },
      { stats: { "origin.turnedAway": 2, "origin.failed": 0 } },
      ...LET_GO,
    ],
  },
  {
    id: "capacity/not-disconnected",
    name: "a rule for an origin that cannot be reached does not cover one that is busy",
    source: SOURCE,
    site: { origin: { concurrency: 1, queue: { maxWaiting: 0 } }, stale: { ifDisconnected: "1h" } },
    origin: { "/slow": [held], "/b": [plain] },
    steps: [
      { get: "/b", expect: { xCache: "MISS" } },
      { advanceMs: 61_000 },
      ...OCCUPY,
      { get: "/b", expect: { status: 503 } },
      ...LET_GO,
    ],
  },
  {
    id: "capacity/followers-are-turned-away-together",
    name: "those who wait for the same page are turned away with the one that waits for its turn",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: { "/slow": [held], "/b": [plain] },
    steps: [
      ...OCCUPY,
      { begin: "b1", send: { path: "/b" } },
      { inLine: 1 },
      { begin: "b2", send: { path: "/b" } },
      { inLine: 1 },
      { advanceMs: 5000 },
      { finish: "b1", expect: { status: 503 } },
      { finish: "b2", expect: { status: 503, cacheStatus: /detail=origin-busy/, fields: { "retry-after": "5" } } },
      { stats: { "origin.awaited": 1, "origin.turnedAway": 1 } },
      ...LET_GO,
    ],
  },
  {
    id: "capacity/refreshes-give-way",
    name: "a refresh for which nobody waits is left out while the origin is busy",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: {
      "/slow": [held],
      "/a": [page("max-age=60, stale-while-revalidate=600", "v1"), page("max-age=60", "v2")],
    },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 61_000 },
      ...OCCUPY,
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { inLine: 0 },
      { originSaw: { "/a": 1 } },
      ...LET_GO,
      { work: "finished" },
      { stats: { "origin.turnedAway": 0 } },
      { get: "/a", expect: { xCache: "UPDATING", body: "v1" } },
      { originSees: "/a", count: 2 },
      { work: "finished" },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "capacity/event-streams",
    name: "a stream of events, which may last for days, holds nobody up",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: {
      "/slow": [{ fields: { "content-type": "text/event-stream" }, body: "slow", hold: "slow", bytesBeforeHold: 2 }],
      "/b": [plain],
    },
    steps: [...OCCUPY, { get: "/b", expect: { xCache: "MISS", body: "b" } }, ...LET_GO],
  },
  {
    id: "capacity/explained",
    name: "an explanation says that the request would wait for its turn",
    source: SOURCE,
    site: ONE_AT_A_TIME,
    origin: { "/slow": [held], "/b": [plain] },
    steps: [
      ...OCCUPY,
      { begin: "b", send: { path: "/b" } },
      { inLine: 1 },
      {
        send: {
          path: "/_tidemark/explain?url=http%3A%2F%2Fwww.example.test%2Fc",
          fields: { authorization: `Bearer ${TOKEN}` },
        },
        expect: { status: 200, body: /"client","because":"other"},{"step":"origin-busy"/ },
      },
      ...LET_GO,
      { finish: "b", expect: { body: "b" } },
    ],
  },
];
