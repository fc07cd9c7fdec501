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
    section: "3",
    requirement: "our own rule: what the origin tells a web server before it",
    does: "`X-Accel-Expires` shortens a lifetime; with `0`, or a time that has passed, the answer is not stored. Nor is what asks for a file in place of its body (`X-Accel-Redirect`, `X-Sendfile`). The fields are passed on.",
    scenarios: ["storing/x-accel-expires", "storing/x-accel-expires-shortens", "storing/sendfile"],
  },
  {
    table: "caching",
    section: "3",
    requirement: "our own rule: a HEAD that finds nothing stored",
    does: "Is answered from a GET, which is stored, unless the owner says otherwise. What is not stored is cancelled and asked for by HEAD for an hour, an error 4xx at once. What is held is confirmed by the HEAD itself (§4.3.5).",
    scenarios: [
      "storing/head-miss-stores-the-page",
      "storing/head-miss-stores-nothing",
      "storing/head-and-get-share-a-fetch",
      "storing/head-with-range-and-condition",
      "storing/head-of-large-page",
      "storing/head-of-large-page-without-length",
      "storing/head-of-private-page",
      "storing/head-leaves-the-body",
      "storing/head-where-get-is-an-error",
      "storing/head-of-an-odd-request",
      "storing/head-that-forbids-storing",
      "storing/head-of-a-purged-page",
    ],
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
