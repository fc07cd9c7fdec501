import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import type { Scenario, Step } from "../../engine/scenario.ts";
import { BACKGROUND_WORK, LOST_LOG } from "../not-on-every-engine.ts";
import { page } from "../page.ts";
import { briefV1, briefV2, MODIFIED, stillV1, storedAndStale, v1, v2 } from "../validation/openings.ts";

function headOf(reply: Reply, expect: object): Step[] {
  return [{ reply: { "/a": [reply, v2] } }, { send: { method: "HEAD", path: "/a" }, expect }, { advanceMs: 1 }];
}

const codedV1 = page("max-age=60", "v1", { etag: 'W/"1"', vary: "accept-encoding" });

/** What a HEAD of a stored page changes in it, RFC 9111 §4.3.5. */
export const scenarios: readonly Scenario[] = [
  {
    id: "freshening/purged-while-head-confirms",
    name: "a page that is purged while a HEAD confirms it is not stored again",
    source: "docs/protocol.md#r2-validation-is-a-fetch; RFC 9111 §4.3.5",
    origin: { "/a": [briefV1, { ...briefV1, hold: "slow" }, briefV2] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { advanceMs: 1_000 },
      { begin: "early", send: { method: "HEAD", path: "/a" } },
      { originSees: "/a", count: 2 },
      { purge: { urls: ["/a"] } },
      { release: "slow" },
      { finish: "early", expect: { status: 200, body: "" } },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  {
    id: "freshening/invalidated-while-head-confirms",
    name: "a page that a POST invalidates while a HEAD confirms it is not stored again, even if the log is silent",
    source: "RFC 9111 §4.4, §4.3.5",
    only: LOST_LOG,
    origin: { "/a": [v1, { ...v1, hold: "slow" }, { body: "done" }, v2] },
    steps: [
      ...storedAndStale,
      { begin: "head", send: { method: "HEAD", path: "/a" } },
      { originSees: "/a", count: 2 },
      { log: "down" },
      { send: { method: "POST", path: "/a" }, expect: { body: "done" } },
      { release: "slow" },
      { finish: "head", expect: { status: 200 } },
      { advanceMs: 1 },
      { get: "/a", expect: { xCache: "MISS", body: "v2" } },
    ],
  },
  ...(
    [
      ["head-with-same-tag", "entity tag", { etag: '"1"' }],
      ["head-with-weak-tag", "entity tag, weakly compared,", { etag: 'W/"1"' }],
      ["head-with-same-date", "Last-Modified", { "last-modified": MODIFIED }],
    ] as const
  ).map(
    ([id, what, validators]): Scenario => ({
      id: `freshening/${id}`,
      name: `a HEAD with the stored page's ${what} makes it fresh again`,
      source: "RFC 9111 §4.3.5",
      only: BACKGROUND_WORK,
      origin: { "/a": [{ ...v1, fields: { ...v1.fields, "last-modified": MODIFIED } }] },
      steps: [
        ...storedAndStale,
        ...headOf(
          { fields: { "cache-control": "max-age=30", ...validators, "x-new": "1" }, body: "v1" },
          { status: 200, xCache: "EXPIRED", body: "" },
        ),
        { originLastSaw: "/a", fields: { "if-none-match": null, "if-modified-since": null } },
        { get: "/a", expect: { xCache: "HIT", body: "v1", ageSeconds: 0, fields: { "x-new": "1" } } },
        { advanceMs: 29_998 },
        { get: "/a", expect: { xCache: "HIT", body: "v1", ageSeconds: 29 } },
        { advanceMs: 1 },
        { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
      ],
    }),
  ),
  {
    id: "freshening/head-in-another-coding",
    name: "a HEAD in another coding than the stored page makes it fresh again, although its length is another",
    source: "RFC 9111 §4.3.5; RFC 9110 §8.8.3.3",
    only: BACKGROUND_WORK,
    origin: { "/a": [{ ...codedV1, fields: { ...codedV1.fields, "content-encoding": "gzip" } }] },
    steps: [
      { get: "/a", fields: { "accept-encoding": "gzip" }, expect: { xCache: "MISS", body: "v1" } },
      { advanceMs: 60_000 },
      { reply: { "/a": [{ ...codedV1, body: "v1, uncompressed" }] } },
      { send: { method: "HEAD", path: "/a", fields: { "accept-encoding": "gzip" } }, expect: { xCache: "EXPIRED" } },
      { advanceMs: 1 },
      {
        get: "/a",
        fields: { "accept-encoding": "gzip" },
        expect: { xCache: "HIT", body: "v1", ageSeconds: 0, fields: { "content-encoding": "gzip" } },
      },
    ],
  },
  ...(
    [
      ["head-with-another-tag", "another entity tag", { etag: '"2"' }, "v1"],
      [
        "head-with-another-date",
        "another Last-Modified",
        { etag: '"1"', "last-modified": "Thu, 01 Jan 2026 11:00:00 GMT" },
        "v1",
      ],
      ["head-with-another-length", "another length", { etag: '"1"' }, "longer"],
      ["head-with-private", "the same entity tag and private", { etag: '"1"', "cache-control": "private" }, "v1"],
    ] as const
  ).map(
    ([id, what, validators, body]): Scenario => ({
      id: `freshening/${id}`,
      name: `after a HEAD with ${what}, the stored page is fetched again in full`,
      source: "RFC 9111 §4.3.5",
      only: BACKGROUND_WORK,
      origin: { "/a": [{ ...v1, fields: { ...v1.fields, "last-modified": MODIFIED } }] },
      steps: [
        ...storedAndStale,
        ...headOf({ fields: { "cache-control": "max-age=60", ...validators }, body }, { status: 200, body: "" }),
        { get: "/a", expect: { xCache: "MISS", body: "v2" } },
        { originLastSaw: "/a", fields: { "if-none-match": null } },
      ],
    }),
  ),
  ...(
    [
      ["head-without-validator", "without a validator", {}, page("max-age=60")],
      [
        "head-with-error",
        "that answered an error",
        {},
        { status: 404, fields: { "cache-control": "max-age=60", etag: '"2"' } },
      ],
      ["head-for-one-visitor", "that may be for one visitor alone", { cookie: "session=1" }, { ...v2, body: "mine" }],
    ] as const
  ).map(
    ([id, what, fields, reply]): Scenario => ({
      id: `freshening/${id}`,
      name: `a HEAD ${what} leaves the stored page as it is`,
      source: "RFC 9111 §4.3.5; docs/http.md#cookies-sessions-and-authorization",
      only: BACKGROUND_WORK,
      origin: { "/a": [v1] },
      steps: [
        ...storedAndStale,
        { reply: { "/a": [reply, stillV1] } },
        { send: { method: "HEAD", path: "/a", fields }, expect: { body: "" } },
        { advanceMs: 1 },
        { get: "/a", expect: { xCache: "REVALIDATED", body: "v1" } },
        { originLastSaw: "/a", fields: { "if-none-match": '"1"' } },
      ],
    }),
  ),
  {
    id: "freshening/purge-during-head",
    name: "a soft purge during a HEAD makes the page stale that the HEAD confirms",
    source: "docs/protocol.md#r2-validation-is-a-fetch",
    origin: { "/a": [v1, { ...v1, hold: "slow" }, v2] },
    steps: [
      ...storedAndStale,
      { begin: "head", send: { method: "HEAD", path: "/a" } },
      { originSees: "/a", count: 2 },
      { purge: { urls: ["/a"], mode: "soft" } },
      { release: "slow" },
      { finish: "head", expect: { status: 200 } },
      { get: "/a", expect: { xCache: "EXPIRED", body: "v2" } },
    ],
  },
];
