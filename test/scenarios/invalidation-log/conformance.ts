import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "4.4",
    requirement: "*invalidate*: remove, or validate before reuse",
    does: "Fetched in full; an earlier fetch is neither stored nor waited for. Other PoPs: `test/local/cdn/invalidation.test.ts`.",
    scenarios: [
      "invalidation-log/follower-before-log-knows",
      "invalidation-log/post-during-fill",
      "invalidation-log/post-during-anothers-fill",
      "invalidation-log/fetched-while-answer-streams",
      "invalidation-log/fetched-elsewhere-while-answer-streams",
      "invalidation-log/old-page-until-lease-ends",
    ],
  },
  {
    table: "caching",
    section: "4.4, 7.1",
    requirement: "anybody can send a POST",
    does: "[Limits](protocol.md#r15-unsafe-methods) per lease.",
    scenarios: [
      "invalidation-log/many-posts-one-url",
      "invalidation-log/second-post-within-lease",
      "invalidation-log/many-posts-many-urls",
      "invalidation-log/retried-while-log-silent",
      "invalidation-log/dropped-after-five-leases",
      "invalidation-log/pass-route-writes-nothing",
      "invalidation-log/one-entry-per-request",
    ],
  },
];
