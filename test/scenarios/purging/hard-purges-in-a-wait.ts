import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import type { ClientRequest, Scenario, Step } from "../../engine/scenario.ts";
import { page } from "../page.ts";

const SOURCE = "docs/protocol.md#r10-modes";
/** Stale after a second. The origin's other page has the same entity tag. */
const brief = page("max-age=1", "v1", { etag: '"1"' });
const still: Reply = { status: 304, fields: { "cache-control": "max-age=3600", etag: '"1"' } };
const v2 = page("max-age=3600", "v2", { etag: '"1"' });
const held: Reply = { ...page("max-age=60", "slow"), hold: "slow" };
const STALE: readonly Step[] = [{ get: "/a", expect: { body: "v1" } }, { advanceMs: 1_000 }];

/** A request waits for its turn at the origin while its page is purged. */
function purgedInLine(request: ClientRequest): readonly Step[] {
  return [
    ...STALE,
    { begin: "slow", send: { path: "/slow" } },
    { originSees: "/slow", count: 1 },
    { begin: "a", send: request },
    { inLine: 1 },
    { purge: { urls: ["/a"] } },
    { release: "slow" },
    { finish: "slow", expect: { body: "slow" } },
    { finish: "a", expect: { status: 200 } },
    { originLastSaw: "/a", fields: { "if-none-match": null } },
    { advanceMs: 3_000 },
    { get: "/a", expect: { body: "v2" } },
  ];
}

/** Hard purges of stale pages, while a request that would have them confirmed waits. */
export const scenarios: readonly Scenario[] = [
  {
    id: "purging/hard-while-a-follower-waits",
    name: "a request that cannot use another's answer does not ask the origin to confirm a page that was purged meanwhile",
    source: SOURCE,
    origin: { "/a": [brief, { ...still, hold: "slow" }, v2] },
    steps: [
      ...STALE,
      { begin: "first", send: { path: "/a" } },
      { originSees: "/a", count: 2 },
      { begin: "second", send: { path: "/a" } },
      { purge: { urls: ["/a"] } },
      { release: "slow" },
      { finish: "first", expect: { xCache: "REVALIDATED", body: "v1" } },
      { finish: "second", expect: { body: "v2" } },
      { originLastSaw: "/a", fields: { "if-none-match": null } },
      { get: "/a", expect: { xCache: "HIT", body: "v2" } },
    ],
  },
  {
    id: "purging/hard-while-in-line",
    name: "a request that waits for its turn at the origin does not ask to confirm a page that was purged meanwhile",
    source: SOURCE,
    site: { origin: { concurrency: 1 } },
    origin: { "/slow": [held], "/a": [brief, v2] },
    steps: purgedInLine({ path: "/a" }),
  },
  {
    id: "purging/hard-while-a-head-is-in-line",
    name: "the answer to a HEAD that waited for its turn does not freshen a page that was purged meanwhile",
    source: `${SOURCE}; RFC 9111 §4.3.5`,
    site: { origin: { concurrency: 1 } },
    origin: { "/slow": [held], "/a": [brief, v2] },
    steps: purgedInLine({ method: "HEAD", path: "/a" }),
  },
];
