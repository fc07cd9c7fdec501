import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "semantics",
    section: "9842 §2.1, §2.2, §8",
    requirement: "`Use-As-Dictionary` and `Available-Dictionary`, where the edge itself makes dictionaries",
    does: "A server of one's own with `deltas` names the URLs for which a stored response is a dictionary, if it is public, keyed by its path alone, came over https or from localhost, and browsers may use it for a while. A hash that is not known or not well formed counts for nothing.",
    scenarios: ["deltas/hashed-name", "deltas/unknown-hash", "deltas/insecure", "deltas/no-browser-lifetime"],
  },
  {
    table: "semantics",
    section: "9842 §4, §5, §6",
    requirement: "`dcb` and `dcz`: their headers, their windows, and how they are negotiated",
    does: "A client that holds a known version and accepts `dcz` or `dcb` as gladly as any other coding gets the form by it, once that is made. Every form has `Vary: Accept-Encoding, Available-Dictionary`. Windows are of at most 8 MB.",
    scenarios: ["deltas/hashed-name", "deltas/weights"],
  },
  {
    table: "semantics",
    section: "9842 §9.2",
    requirement: "no mixing of public and private bytes in dictionaries and what is compressed by them",
    does: "Both have to be stored responses for everybody. What credentials may have made, and what anything beside the path selects, is neither.",
    scenarios: ["deltas/credentials", "deltas/keyed", "deltas/private"],
  },
];
