import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "4.3.4",
    requirement: "fields that clients are not shown",
    does: "Stored too, so that they count when a 304 does not repeat them.",
    scenarios: ["targeted-fields/hidden-field-after-304"],
  },
  {
    table: "targeted",
    section: "9213 §2.1",
    requirement: "a dictionary; empty or malformed it is ignored (MUST)",
    does: "Yes; the next field applies.",
    scenarios: ["targeted-fields/malformed-is-ignored"],
  },
  {
    table: "targeted",
    section: "9213 §2.1",
    requirement: "values of another type SHOULD NOT be coerced",
    does: "A lifetime leaves nothing fresh, a permission is not given, a restriction applies unless it is `?0`.",
    scenarios: ["targeted-fields/invalid-lifetime", "targeted-fields/field-names-in-strings"],
  },
  {
    table: "targeted",
    section: "9213 §2.1; 9651 §3.2",
    requirement: "of duplicates the last counts",
    does: "Yes, over several lines too.",
    scenarios: ["targeted-fields/last-duplicate-counts"],
  },
  {
    table: "targeted",
    section: "9213 §2.2",
    requirement: "the first valid field of the target list decides; `Cache-Control` and `Expires` are ignored (MUST)",
    does: "The site's `targetedField`, `CDN-Cache-Control`, `Surrogate-Control`, in this order.",
    scenarios: [
      "targeted-fields/cdn-cache-control",
      "targeted-fields/cdn-cache-control-forbids",
      "targeted-fields/field-of-the-site",
      "targeted-fields/invalid-lifetime",
    ],
  },
  {
    table: "targeted",
    section: "9213 §2.2, §3.1",
    requirement: "later caches may read targeted fields",
    does: "`CDN-Cache-Control` is passed on, and fields outside the list are, unread; the site's own field is not.",
    scenarios: [
      "targeted-fields/field-of-another-cache",
      "targeted-fields/cdn-cache-control",
      "targeted-fields/field-of-the-site",
    ],
  },
  {
    table: "targeted",
    section: "Edge Architecture §2.2",
    requirement: "`Surrogate-Control` outranks `Cache-Control`, and is not forwarded",
    does: "Yes, with `no-store`, `no-store-remote` and `max-age=60+30`. Directives for a named surrogate are for another one. `Surrogate-Capability` is not sent.",
    scenarios: [
      "targeted-fields/surrogate-control",
      "targeted-fields/surrogate-control-stale-seconds",
      "targeted-fields/surrogate-control-not-applicable",
    ],
  },
];
