import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "4",
    requirement: "our own rule: what the owner sends past the cache",
    does: "By a cookie, a field or a parameter: not looked up, not stored, counted.",
    scenarios: [
      "bypass/by-name",
      "bypass/by-pattern",
      "bypass/by-a-fields-value",
      "bypass/by-any-query",
      "bypass/of-a-route",
    ],
  },
  {
    table: "caching",
    section: "4",
    requirement: "our own rule: a page of which the origin says nothing is not for sessions",
    does: "Where only `ttl` or `defaultTtl` makes a page storable, the origin answers visitors with the session cookie of a well-known framework.",
    scenarios: [
      "bypass/session-and-ttl",
      "bypass/session-and-default-ttl",
      "bypass/session-and-ttl-over-max-age-zero",
      "bypass/session-and-origins-lifetime",
      "bypass/session-and-public",
      "bypass/session-and-heuristic-lifetime",
      "bypass/session-that-is-let-in",
      "bypass/session-does-not-follow-later-fetches",
      "bypass/session-and-failed-origin",
      "bypass/session-after-restart",
    ],
  },
];
