import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "3.3, 3.4",
    requirement: "incomplete responses may be stored, completed, and combined",
    does: "They are not. A large body needs its announced length to become an entry.",
    scenarios: ["ranges/part-of-missing-page", "bodies/large-cut-off"],
  },
  {
    table: "caching",
    section: "3.3",
    requirement: "a stored whole may answer a request for a part",
    does: "From either tier, without copying the body, and from the shared tier as it comes.",
    scenarios: [
      "ranges/part-of-stored-page",
      "ranges/digest-of-the-whole",
      "ranges/part-after-restart",
      "ranges/part-of-page-not-in-memory",
    ],
  },
  {
    table: "semantics",
    section: "9110 §13.1.5",
    requirement: "`If-Range`: strong comparison, exact dates",
    does: "Yes; a malformed value or a list matches nothing; ignored without `Range`. A date matches nothing of a type that servers code, for a client that accepts codings: all forms have the same date.",
    scenarios: ["ranges/if-range-decides", "ranges/date-of-many-forms"],
  },
  {
    table: "semantics",
    section: "9110 §13.2.2",
    requirement: "precedence",
    does: "`If-None-Match`, else `If-Modified-Since`; then `Range` with `If-Range`.",
    scenarios: ["ranges/condition-before-range", "validation/if-none-match"],
  },
  {
    table: "semantics",
    section: "9110 §14.1.1, §14.1.2, §14.3",
    requirement: "`first-last`, `first-`, `-suffix`; the unit in any letter case",
    does: "Yes; ends beyond the page are cut. `Accept-Ranges` is passed on, never added.",
    scenarios: ["ranges/part-of-stored-page"],
  },
  {
    table: "semantics",
    section: "9110 §14.2, §17.15",
    requirement:
      "ranges only with GET; unknown units and malformed ranges are ignored, many small ones may be refused; else 206 or 416",
    does: "Yes; the whole page also for over 16 parts, more bytes than it has, another status than 200, an empty page, or parts out of the page's order where memory does not hold it.",
    scenarios: [
      "ranges/range-with-head",
      "ranges/range-is-ignored",
      "ranges/nothing-to-cut",
      "ranges/part-of-page-not-in-memory",
    ],
  },
  {
    table: "semantics",
    section: "9110 §14.2; 5861 §3",
    requirement: "a proxy may request the whole",
    does: "For a part of a stale page, which is validated and then cut, or cut at once under `stale-while-revalidate`; for a missing page up to `limits.fetchWholeBytes`.",
    scenarios: [
      "ranges/part-after-validation",
      "ranges/part-of-changed-page",
      "ranges/part-of-purged-page",
      "ranges/small-page-fetched-whole",
      "ranges/whole-page-too-large",
      "ranges/whole-page-without-length",
      "ranges/whole-page-too-large-without-length",
      "ranges/whole-page-not-storable",
      "ranges/whole-page-cut-off",
      "ranges/whole-page-and-followers",
      "ranges/part-while-revalidating",
    ],
  },
  {
    table: "semantics",
    section: "9110 §14.4, §15.3.7",
    requirement: "a single part has `Content-Range` and the 200's metadata, with `If-Range` no more (SHOULD)",
    does: "All fields of the stored page: **a departure**.",
    scenarios: ["ranges/part-of-stored-page"],
  },
  {
    table: "semantics",
    section: "9110 §15.3.7",
    requirement: "parts are of the encoded representation",
    does: "Yes.",
    scenarios: ["ranges/part-of-encoded-page"],
  },
  {
    table: "semantics",
    section: "9110 §14.6, §15.3.7.2",
    requirement:
      "several parts: `multipart/byteranges`, each with `Content-Range` and any type; none in the header section",
    does: "Yes, in the order of the request; joined if they overlap or touch.",
    scenarios: ["ranges/several-parts", "ranges/parts-without-type", "ranges/overlapping-parts"],
  },
  {
    table: "semantics",
    section: "9110 §15.5.17",
    requirement: "416 with `Content-Range: bytes */length`",
    does: "Yes, without a body.",
    scenarios: ["ranges/unsatisfiable-is-416"],
  },
];
