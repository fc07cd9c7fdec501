import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "stale",
    section: "3",
    requirement: "`stale-while-revalidate`: MAY answer stale for its seconds",
    does: "At once, with `X-Cache: UPDATING`. Where the response does not say, `stale.whileRevalidate` counts.",
    scenarios: [
      "stale-while-revalidate/allowed-by-site",
      "stale-while-revalidate/within-its-window",
      "stale-while-revalidate/refreshed-once",
      "stale-while-revalidate/across-isolates",
      "stale-while-revalidate/after-restart",
    ],
  },
  {
    table: "stale",
    section: "3",
    requirement: "SHOULD revalidate meanwhile",
    does: "One conditional refresh of the whole page. If it fails, nothing changes.",
    scenarios: [
      "stale-while-revalidate/refreshed-once",
      "stale-while-revalidate/refreshed-once-for-odd-fields",
      "stale-while-revalidate/head-of-stale-page",
      "stale-while-revalidate/part-of-stale-page",
      "stale-while-revalidate/refresh-is-conditional",
      "stale-while-revalidate/refresh-finds-no-origin",
      "stale-while-revalidate/client-304-at-once",
      "stale-while-revalidate/refresh-not-storable",
      "stale-while-revalidate/refresh-is-an-error",
      "stale-while-revalidate/late-request-waits",
    ],
  },
  {
    table: "stale",
    section: "3",
    requirement: "a refresh for a request with cookies",
    does: "Stored only if explicitly shared; no other request waits for it.",
    scenarios: ["stale-while-revalidate/no-wait-for-cookie-refresh", "stale-while-revalidate/refresh-with-cookies"],
  },
  {
    table: "stale",
    section: "3",
    requirement: "a response that arrives stale",
    does: "Stored if it may be used while it is refetched.",
    scenarios: ["stale-while-revalidate/stale-on-arrival", "stale-while-revalidate/stale-on-arrival-by-rule"],
  },
];
