import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "2",
    requirement: "the cache key consists of method and target URI",
    does: "Only GET is stored; the URL is canonical.",
    scenarios: ["key/equivalent-spellings"],
  },
];
