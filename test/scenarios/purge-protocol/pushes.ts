import type { Scenario } from "../../engine/scenario.ts";
import { CONNECTIONS, PUSHES } from "../memory-only.ts";
import { page } from "../page.ts";

const v1 = page("max-age=3600", "v1");
const v2 = { ...v1, body: "v2" };

/** Isolates that keep a connection to the log for a short while. */
const DAY_MS = 24 * 3600 * 1000;
const PUSHED = { purge: { push: true, keepViewMs: 500 } };

/** A log that pushes each purge to its readers: docs/protocol.md#r24-push. */
export const scenarios: readonly Scenario[] = [
  {
    id: "purge-protocol/pushed-purge-holds-at-once",
    name: "a purge that every isolate has confirmed holds everywhere when its receipt arrives, and the receipt says so",
    source: "docs/protocol.md#r24-push",
    only: PUSHES,
    origin: { "/a": [v1, v2], "/b": [v1] },
    steps: [
      { log: "pushes" },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { send: { path: "/b", isolate: "far/b" }, expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":0/ } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
      { send: { path: "/b", isolate: "far/b" }, expect: { xCache: "HIT", body: "v1" } },
    ],
  },
  {
    id: "purge-protocol/push-after-gap",
    name: "an isolate that gets a push and lacks the purge before it reads the log before it confirms",
    source: "docs/protocol.md#r24-push; docs/protocol.md#r12-no-gaps",
    only: PUSHES,
    origin: { "/a": [v1, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":1250/ } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { log: "pushes" },
      { purge: { urls: ["/another"] }, expect: { status: 200, body: /"settlesInMs":0/ } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/push-extends-no-lease",
    name: "a push extends no lease: if the log then falls silent, the lease ends as if there had been none",
    source: "docs/protocol.md#r24-push; docs/protocol.md#r6-the-log-grants-the-lease",
    only: PUSHES,
    origin: { "/a": [v1, v2] },
    steps: [
      { log: "pushes" },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 600 },
      { purge: { urls: ["/another"] }, isolate: "far/a" }, // whose reply is no shared copy in the PoP of b
      { log: "down" },
      { advanceMs: 399 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/push-of-another-log",
    name: "a push of another log ends the lease, and the isolate reads which of the two is the living one",
    source: "docs/protocol.md#r24-push; docs/protocol.md#r11-views-only-grow",
    only: PUSHES,
    origin: { "/a": [v1, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { log: "made anew" },
      { log: "pushes" },
      { purge: { urls: ["/another"] }, expect: { status: 200, body: /"settlesInMs":0/ } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
      { purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":0/ } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/pushed-over-a-connection",
    name: "an isolate with a connection gets a purge while its lease lasts",
    source: "docs/protocol.md#r26-connection",
    site: PUSHED,
    only: CONNECTIONS,
    origin: { "/a": [v1, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "HIT", body: "v1" } },
      { purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":1250/ } },
      { advanceMs: 1 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "purge-protocol/reader-lags",
    name: "a reader that answers no push is sent 8 KiB of them, and all that it lacks in one push once it answers",
    source: "docs/protocol.md#r26-connection",
    site: PUSHED,
    only: CONNECTIONS,
    origin: { "/a": [v1, v2] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { holdAll: "push of the log", until: "answers" },
      ...Array.from({ length: 40 }, (_, number) => ({ purge: { urls: [`/${number}`] } })),
      { purge: { urls: ["/a"] } },
      { logPushed: 17 },
      { release: "answers" },
      { advanceMs: 1 },
      { logPushed: 18 },
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v2" } },
      { purge: { urls: ["/a"] } },
      { logPushed: 19 },
    ],
  },
  {
    id: "purge-protocol/replay-is-not-pushed",
    name: "a purge that is sent again under its id is not pushed again",
    source: "docs/protocol.md#r26-connection",
    site: PUSHED,
    only: CONNECTIONS,
    origin: { "/a": [v1] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"], id: "once" } },
      { purge: { urls: ["/a"], id: "once" }, expect: { status: 200, body: /"replayed":true/ } },
      { purge: { urls: ["/b"], id: "once" }, expect: { status: 409 } },
      { logPushed: 1 },
    ],
  },
  {
    id: "purge-protocol/nobody-holds-a-lease",
    name: "a purge settles after 50 ms and the allowance if nobody holds a lease",
    source: "docs/protocol.md#r25-the-book-of-leases; docs/protocol.md#r8-unknown",
    site: PUSHED,
    only: CONNECTIONS,
    origin: { "/a": [v1, v2] },
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 100_000 },
      { purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":1250,/ } }, // the log was made today
      { advanceMs: 2 * DAY_MS },
      { purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":300,/ } },
    ],
  },
];
