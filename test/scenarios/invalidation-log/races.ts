import type { Scenario } from "../../engine/scenario.ts";
import { ALL_DONE, ANEW, done, post, v1, v2 } from "../invalidation/openings.ts";
import { BENEATH_THE_ISOLATES, LOST_LOG } from "../not-on-every-engine.ts";
import { page } from "../page.ts";

const LONG = `/${"x".repeat(600)}`;
const inEnglish = { "accept-language": "en" };
const inFrench = { "accept-language": "fr" };
const oldVariant = { fields: { ...v1.fields, vary: "accept-language" }, body: "v1" };
const newVariant = { ...oldVariant, body: "v2" };

/** Another isolate has stored a variant, and the isolate of the scenario knows nothing of it. */
const OLD_VARIANT_ELSEWHERE: Scenario["steps"] = [
  { send: { path: "/a", fields: inEnglish, isolate: "b" }, expect: { body: "v1" } },
  { get: "/other", expect: { body: "v1" } },
  ALL_DONE,
];

/** What begins before an unsafe request and ends during it or after it, while the log does not tell of it. */
export const scenarios: readonly Scenario[] = [
  {
    id: "invalidation-log/look-up-outlasts-post",
    name: "a look-up that began before a POST does not bring the old page back into memory",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [v1, done, v2], "/other": [v1] },
    steps: [
      { send: { path: "/a", isolate: "b" }, expect: { body: "v1" } },
      { get: "/other", expect: { body: "v1" } },
      ALL_DONE,
      { log: "down" },
      { holdNext: "look-up", until: "found" },
      { begin: "early", send: { path: "/a" } },
      { advanceMs: 1 },
      post("/a"),
      { release: "found" },
      { finish: "early", expect: { status: 200 } },
      ALL_DONE,
      { get: "/a", expect: { body: "v2" } },
    ],
  },
  {
    id: "invalidation-log/look-up-during-removal",
    name: "a request while a POST removes the old page does not bring that page back into memory",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [v1, done, v2], "/other": [v1] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      ALL_DONE,
      { advanceMs: 1 },
      { log: "down" },
      { holdAll: "removal", until: "removed" },
      { begin: "post", send: { method: "POST", path: "/a", body: "x" } },
      { originSees: "/a", count: 2 },
      { advanceMs: 1 },
      { get: "/a", expect: { status: 200 } },
      ALL_DONE,
      { release: "removed" },
      { finish: "post", expect: { body: "done" } },
      { get: "/a", expect: { body: "v2" } },
    ],
  },
  {
    id: "invalidation-log/variant-look-up-outlasts-post",
    name: "a look-up that began before a POST does not bring the old variants of the page back",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [oldVariant, done, newVariant], "/other": [v1] },
    steps: [
      ...OLD_VARIANT_ELSEWHERE,
      { log: "down" },
      { holdNext: "look-up", until: "found" },
      { begin: "early", send: { path: "/a", fields: inEnglish } },
      { advanceMs: 1 },
      post("/a"),
      { advanceMs: 1 },
      { get: "/a", fields: inFrench, expect: { body: "v2" } },
      { release: "found" },
      { finish: "early", expect: { status: 200 } },
      ALL_DONE,
      { get: "/a", fields: inEnglish, expect: { body: "v2" } },
    ],
  },
  {
    id: "invalidation-log/variant-listed-again-elsewhere",
    name: "a variant that another isolate stores after a POST does not bring the old ones back to the isolate of the POST",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: BENEATH_THE_ISOLATES,
    origin: { "/a": [oldVariant, done, newVariant], "/other": [v1] },
    steps: [
      ...OLD_VARIANT_ELSEWHERE,
      { advanceMs: 1 },
      { log: "down" },
      post("/a"),
      { advanceMs: 1 },
      { send: { path: "/a", fields: inFrench, isolate: "b" }, expect: { body: "v2" } },
      ALL_DONE,
      { get: "/a", fields: inEnglish, expect: { body: "v2" } },
    ],
  },
  {
    id: "invalidation-log/long-url-fetched-during-post",
    name: "what was fetched during a POST is not stored, however long the URL is",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: LOST_LOG,
    origin: { [LONG]: [{ ...v1, hold: "slow" }, done, v2], "/other": [v1] },
    steps: [
      { get: "/other", expect: { body: "v1" } },
      { begin: "early", send: { path: LONG } },
      { originSees: LONG, count: 1 },
      { log: "down" },
      post(LONG),
      { release: "slow" },
      { finish: "early", expect: { body: "v1" } },
      { get: LONG, expect: { xCache: ANEW, body: "v2" } },
    ],
  },
  {
    id: "invalidation-log/unshared-fetch-during-post",
    name: "what was fetched during a POST by the last request to arrive, which nobody could join, is not stored",
    source: "docs/protocol.md#r15-unsafe-methods",
    only: LOST_LOG,
    origin: { "/a": [page("no-store"), { ...done, hold: "post" }, { ...v1, hold: "slow" }, v2] },
    steps: [
      { get: "/a", expect: { body: "v1" } },
      { begin: "post", send: { method: "POST", path: "/a", body: "x" } },
      { originSees: "/a", count: 2 },
      { begin: "late", send: { path: "/a" } },
      { originSees: "/a", count: 3 },
      { log: "down" },
      { release: "post" },
      { finish: "post", expect: { body: "done" } },
      { release: "slow" },
      { finish: "late", expect: { body: "v1" } },
      { get: "/a", expect: { body: "v2" } },
    ],
  },
];
