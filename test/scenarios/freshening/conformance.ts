import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "3.1",
    requirement: "hop-by-hop fields are not stored",
    does: "Nor are those that `Connection` names, also from a 304.",
    scenarios: ["freshening/hop-by-hop-fields"],
  },
  {
    table: "caching",
    section: "3.2",
    requirement: "fields of a 304 replace stored ones; those that describe the bytes may be left",
    does: "Yes; `Content-Encoding`, `Content-Range`, `Content-Length` and digests never change.",
    scenarios: ["freshening/fields-are-replaced", "freshening/content-fields-stay"],
  },
  {
    table: "caching",
    section: "4.3.4",
    requirement: "a strong tag selects by strong comparison, a weak tag or a date the most recent match",
    does: "**A departure**: a strong tag [also selects its weak form](decisions/0054-a-304-may-name-the-strong-form-of-a-weak-tag.md).",
    scenarios: ["validation/by-weak-tag", "freshening/304-with-another-date", "freshening/304-strong-for-weak"],
  },
  {
    table: "caching",
    section: "4.3.4",
    requirement: "a 304 without validators selects the only stored response, if that has none",
    does: "**A departure**: it also selects one that has some.",
    scenarios: ["freshening/304-without-validator"],
  },
  {
    table: "caching",
    section: "4.3.4",
    requirement: "if nothing is selected, the 304 MUST NOT be used",
    does: "The origin is asked again, unconditionally; a 304 to that is a failure.",
    scenarios: ["freshening/304-with-another-tag", "validation/304-to-no-condition"],
  },
  {
    table: "caching",
    section: "4.3.4, 4.2",
    requirement: "freshness and age afterwards",
    does: "Lifetime of the updated fields; age from this validation, its delay included.",
    scenarios: [
      "freshening/lifetime-of-304",
      "freshening/304-without-lifetime",
      "freshening/age-of-304",
      "freshening/304-without-date",
      "freshening/validation-delay-counts",
    ],
  },
  {
    table: "caching",
    section: "4.3.4, 3",
    requirement: "the updated response decides about storing",
    does: "It goes to the client that asked. `private`, `no-store` and `Vary: *` remove the stored copy.",
    scenarios: [
      "freshening/304-with-private",
      "freshening/304-with-no-store",
      "freshening/304-with-vary-of-everything",
      "freshening/304-for-one-visitor",
    ],
  },
  {
    table: "caching",
    section: "4.3.4",
    requirement: "purge keys of a freshened response (R17)",
    does: "The old and the new tags, within `limits.tags`.",
    scenarios: [
      "freshening/purged-by-first-tag",
      "freshening/purged-by-added-tag",
      "freshening/purged-by-kept-tag",
      "freshening/304-with-many-tags",
    ],
  },
  {
    table: "caching",
    section: "4.3.5",
    requirement: "a matching 200 to HEAD SHOULD freshen",
    does: "Tag and date must match if present, and the length in the same coding.",
    scenarios: [
      "freshening/head-with-same-tag",
      "freshening/head-with-weak-tag",
      "freshening/head-with-same-date",
      "freshening/head-in-another-coding",
    ],
  },
  {
    table: "caching",
    section: "4.3.5",
    requirement: "a differing one SHOULD make the stored response stale",
    does: "It is removed, but not by an unusual request or one with cookies.",
    scenarios: [
      "freshening/head-with-another-tag",
      "freshening/head-with-another-date",
      "freshening/head-with-another-length",
      "freshening/head-with-private",
      "freshening/head-for-one-visitor",
      "freshening/head-without-validator",
      "freshening/head-with-error",
    ],
  },
];
