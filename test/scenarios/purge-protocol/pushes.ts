import type { Scenario, Step } from "../../engine/scenario.ts";
import { CONNECTIONS, PUSHES } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

const DAY_MS = 24 * 3600 * 1000;
const v1 = page("max-age=3600", "v1");
const v2 = { ...v1, body: "v2" };

/** A log that reaches all isolates at once and those that keep a connection to it for a short while. */
const pushed = { source: "docs/protocol.md#r24-push", only: PUSHES, origin: { "/a": [v1, v2] } };
const connected = {
  source: "docs/protocol.md#r26-connection",
  site: { purge: { push: true, keepViewMs: 500 } },
  only: CONNECTIONS,
  origin: { "/a": [v1, v2] },
};

/** The reader is the isolate `b`, which has another one beside it in its PoP. */
function readerGets(xCache: "MISS" | "HIT", body: "v1" | "v2", path = "/a"): Step {
  return { send: { path, isolate: "b" }, expect: { xCache, body } };
}

/** A log that pushes each purge to its readers: docs/protocol.md#r24-push. */
export const scenarios: readonly Scenario[] = [
  {
    ...pushed,
    id: "purge-protocol/pushed-purge-holds-at-once",
    name: "a purge that every isolate has confirmed holds everywhere when its receipt arrives, and the receipt says so",
    origin: { "/a": [v1, v2], "/b": [v1] },
    steps: [
      { log: "pushes" },
      readerGets("MISS", "v1"),
      { send: { path: "/b", isolate: "far/b" }, expect: { xCache: "MISS", body: "v1" } },
      { purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":0/ } },
      readerGets("MISS", "v2"),
      { send: { path: "/b", isolate: "far/b" }, expect: { xCache: "HIT", body: "v1" } },
    ],
  },
  {
    ...pushed,
    id: "purge-protocol/push-after-gap",
    name: "an isolate that gets a push but lacks the previous purge reads the log before it confirms",
    source: "docs/protocol.md#r24-push; docs/protocol.md#r12-no-gaps",
    steps: [
      readerGets("MISS", "v1"),
      { purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":1250/ } },
      readerGets("HIT", "v1"),
      { log: "pushes" },
      { purge: { urls: ["/another"] }, expect: { status: 200, body: /"settlesInMs":0/ } },
      readerGets("MISS", "v2"),
    ],
  },
  {
    ...pushed,
    id: "purge-protocol/push-extends-no-lease",
    name: "a push does not extend the lease: if the log then falls silent, the lease ends when it would have ended without the push",
    source: "docs/protocol.md#r24-push; docs/protocol.md#r6-the-log-grants-the-lease",
    steps: [
      { log: "pushes" },
      readerGets("MISS", "v1"),
      { advanceMs: 600 },
      { purge: { urls: ["/another"] }, isolate: "far/a" }, // whose reply is no shared copy in the PoP of the reader
      { log: "down" },
      { advanceMs: 399 },
      readerGets("HIT", "v1"),
      { advanceMs: 1 },
      readerGets("MISS", "v2"),
    ],
  },
  {
    ...pushed,
    id: "purge-protocol/push-of-another-log",
    name: "a push from another log ends the lease, and the isolate reads to learn which of the two logs is current",
    source: "docs/protocol.md#r24-push; docs/protocol.md#r11-views-only-grow",
    steps: [
      readerGets("MISS", "v1"),
      { log: "made anew" },
      { log: "pushes" },
      { purge: { urls: ["/another"] }, expect: { status: 200, body: /"settlesInMs":0/ } },
      readerGets("MISS", "v2"),
      { purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":0/ } },
      readerGets("MISS", "v2"),
    ],
  },
  {
    ...connected,
    id: "purge-protocol/pushed-over-a-connection",
    name: "an isolate with a connection gets a purge while its lease lasts",
    steps: [
      readerGets("MISS", "v1"),
      readerGets("HIT", "v1"),
      { purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":1250/ } },
      { advanceMs: 1 },
      readerGets("MISS", "v2"),
    ],
  },
  {
    ...connected,
    id: "purge-protocol/reader-lags",
    name: "a reader that answers no pushes gets at most 8 KiB of them, and everything it lacks in one push once it answers",
    steps: [
      readerGets("MISS", "v1"),
      { holdAll: "push of the log", until: "answers" },
      ...Array.from({ length: 40 }, (_, number) => ({ purge: { urls: [`/${number}`] } })),
      { purge: { urls: ["/a"] } },
      { logPushed: 17 },
      { release: "answers" },
      { advanceMs: 1 },
      { logPushed: 18 },
      readerGets("MISS", "v2"),
      { purge: { urls: ["/a"] } },
      { logPushed: 19 },
    ],
  },
  {
    ...connected,
    id: "purge-protocol/replay-is-not-pushed",
    name: "a purge that is sent again under its id is not pushed again",
    origin: { "/a": [v1] },
    steps: [
      readerGets("MISS", "v1"),
      { purge: { urls: ["/a"], id: "once" } },
      { purge: { urls: ["/a"], id: "once" }, expect: { status: 200, body: /"replayed":true/ } },
      { purge: { urls: ["/b"], id: "once" }, expect: { status: 409 } },
      { logPushed: 1 },
    ],
  },
  {
    ...connected,
    id: "purge-protocol/nobody-holds-a-lease",
    name: "a purge settles after 50 ms and the allowance if nobody holds a lease",
    source: "docs/protocol.md#r25-the-book-of-leases; docs/protocol.md#r8-unknown",
    steps: [
      { get: "/a", expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 100_000 },
      { purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":1250,/ } }, // the log was made today
      { advanceMs: 2 * DAY_MS },
      { purge: { urls: ["/a"] }, expect: { status: 200, body: /"settlesInMs":300,/ } },
    ],
  },
];
