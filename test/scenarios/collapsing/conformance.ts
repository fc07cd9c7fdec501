import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "4",
    requirement: "requests may be collapsed, if the answer matches them and may be reused",
    does: "One fetch per key and isolate, then per variant. A follower that may not have the answer shares the next fetch. Visitors with cookies each ask for what always needs validation.",
    scenarios: [
      "collapsing/one-fetch-for-many",
      "collapsing/shared-again-once-stored",
      "variants/followers-of-varying-page",
      "variants/collapsing-by-variant",
      "validation/follower-and-no-cache",
      "validation/follower-and-short-lifetime",
      "collapsing/cookie-refuses-page-to-validate",
      "collapsing/cookie-waits-for-no-validation",
    ],
  },
  {
    table: "reporting",
    section: "9211 §2.6",
    requirement: "`collapsed`",
    does: "For followers, also of a failed fetch.",
    scenarios: [
      "collapsing/follower-is-reported",
      "collapsing/follower-of-a-validation-is-reported",
      "stale-if-error/followers-of-failed-fetch",
    ],
  },
];
