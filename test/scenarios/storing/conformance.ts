import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "3",
    requirement: "`no-store` and `private` forbid storing",
    does: "Yes; field names: §5.2.2.4.",
    scenarios: ["storing/no-store-is-not-stored", "storing/private-is-not-stored"],
  },
  {
    table: "caching",
    section: "3",
    requirement: "a final status that is understood, or explicit freshness",
    does: "Every status from 200 to 599 with a stated lifetime, but those that say nothing for others: 206, 226, 304, 401, 406, 407, 408, 412, 416, 417, 421, 425, 426, 428, 429, 431, 511.",
    scenarios: ["storing/any-status-with-lifetime", "storing/statuses-never-stored"],
  },
  {
    table: "caching",
    section: "3.1",
    requirement: "all fields are stored",
    does: "Yes, except hop-by-hop fields, tags and `Age`. Lines of one field are joined.",
    scenarios: ["storing/status-fields-and-body"],
  },
  {
    table: "caching",
    section: "5.2.2.1",
    requirement: "`max-age=0` and negative numbers",
    does: "Nothing is fresh; stored only to be validated.",
    scenarios: ["storing/max-age-zero-is-not-stored", "directives/most-restrictive-reading"],
  },
  {
    table: "caching",
    section: "7.3",
    requirement: "`Set-Cookie` does not prevent storing",
    does: "Here it does, unless `private` or `no-cache` names it: then the page is stored without it. A 304's cookie goes to its client only.",
    scenarios: [
      "directives/private-with-field-names",
      "directives/cookie-beside-304",
      "storing/set-cookie-is-not-stored",
      "freshening/304-with-cookie",
    ],
  },
  {
    table: "semantics",
    section: "9110 §15.3.5",
    requirement: "204 has no body",
    does: "Stored without one.",
    scenarios: ["storing/response-without-body"],
  },
];
