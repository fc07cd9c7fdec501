import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "4",
    requirement: "requests may be collapsed",
    does: "One fetch per key and isolate, if its answer may be shared.",
    scenarios: ["collapsing/one-fetch-for-many"],
  },
  {
    table: "reporting",
    section: "9211 §2.6",
    requirement: "`collapsed`",
    does: "For followers, also of a failed fetch.",
    scenarios: ["collapsing/follower-is-reported", "stale-if-error/followers-of-failed-fetch"],
  },
];
