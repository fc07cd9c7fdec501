import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "4.3.1",
    requirement: "the entity tag MUST be sent, `Last-Modified` SHOULD be",
    does: "Both as they came, if well-formed. Without either, and for a purged page, the page is fetched in full.",
    scenarios: [
      "validation/by-weak-tag",
      "validation/malformed-tag-and-date",
      "validation/malformed-tag-alone",
      "validation/by-date-alone",
      "validation/by-tag-and-date",
      "validation/tag-and-malformed-date",
      "validation/malformed-date-alone",
      "validation/no-validator",
      "validation/purged-is-not-validated",
    ],
  },
  {
    table: "caching",
    section: "4.3.1",
    requirement: "a client's conditions may be combined with the edge's",
    does: "They are not: the edge sends its own and answers the client's.",
    scenarios: ["validation/client-holds-another-page", "validation/client-304-is-not-stored"],
  },
  {
    table: "caching",
    section: "4.3.2",
    requirement: "`If-None-Match` is evaluated on a stored 200",
    does: "Weakly. A malformed one matches nothing, and still overrides `If-Modified-Since`.",
    scenarios: ["validation/if-none-match"],
  },
  {
    table: "caching",
    section: "4.3.2",
    requirement: "`If-Modified-Since`: by `Last-Modified`, else `Date`, else arrival",
    does: "Yes. A two-digit year is not read in a request.",
    scenarios: ["validation/if-modified-since", "validation/date-for-last-modified"],
  },
  {
    table: "caching",
    section: "4.3.2",
    requirement: "a condition on a stale page is answered after validation",
    does: "As the origin confirmed or sent it.",
    scenarios: ["validation/client-304-after-validation"],
  },
  {
    table: "caching",
    section: "4.3.2",
    requirement: "`If-Match` and `If-Unmodified-Since` are for the origin",
    does: "Passed on, even if a fresh page is stored.",
    scenarios: ["validation/precondition-despite-fresh-page", "validation/precondition-goes-to-origin"],
  },
  {
    table: "caching",
    section: "4.3.3",
    requirement: "a 304 updates the stored response, a full answer replaces it",
    does: "Yes: `X-Cache: REVALIDATED`; `fwd-status=304; stored`.",
    scenarios: ["validation/confirmed-is-fresh-again", "validation/page-has-changed"],
  },
  {
    table: "caching",
    section: "4.3.4",
    requirement: "the stamp of a freshened response (R2)",
    does: "From before the validation or HEAD.",
    scenarios: [
      "validation/purge-during-validation",
      "validation/confirmed-before-purge-known",
      "freshening/purge-during-head",
    ],
  },
  {
    table: "caching",
    section: "4.3.4",
    requirement: "where a freshened response is kept",
    does: "In both tiers, wherever the body is.",
    scenarios: [
      "validation/confirmed-after-restart",
      "validation/confirmed-by-another-isolate",
      "freshening/large-page-is-confirmed",
    ],
  },
  {
    table: "caching",
    section: "5.2.2.4",
    requirement: "`no-cache`: only after validation",
    does: "Stored if it has a validator, like anything that is never fresh.",
    scenarios: [
      "validation/no-cache-each-time",
      "validation/max-age-zero-each-time",
      "validation/past-expires-each-time",
    ],
  },
  {
    table: "semantics",
    section: "9110 §8.8",
    requirement: "strong and weak comparison",
    does: "Strong for `If-Range`, dates included, and for what a strong 304 selects; weak for `If-None-Match` and HEAD.",
    scenarios: ["validation/if-none-match", "ranges/if-range-decides"],
  },
  {
    table: "semantics",
    section: "9110 §13.2.1",
    requirement: "conditions apply to what would be a 2xx",
    does: "A stored error or redirect is never a 304.",
    scenarios: ["validation/stored-error-is-never-304"],
  },
  {
    table: "semantics",
    section: "9110 §15.4.5",
    requirement:
      "a 304 has the 200's `Cache-Control`, `Content-Location`, `Date`, `ETag`, `Expires`, `Vary`, and SHOULD have little else",
    does: "Yes; `Last-Modified` if there is no tag.",
    scenarios: ["validation/client-304-from-store", "validation/if-modified-since"],
  },
];
