import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "semantics",
    section: "9110 §12.5.3, §12.5.5",
    requirement: "the weights of `Accept-Encoding`, and `Vary`, where the edge itself encodes",
    does: "A server of one's own that compresses sends the coding that is wanted most and that is there, none that is refused or wanted less than `identity`, and `Vary` with every form.",
    scenarios: ["compression/weights", "compression/vary", "compression/behind-the-first-answer"],
  },
  {
    table: "semantics",
    section: "9110 §8.8.3.3, §13.1.2, §13.1.5, §14.2",
    requirement: "entity tags vary with the encoding; parts are of the selected bytes",
    does: "The compressed form has a weak tag. A 304 has the tag that the client named. Parts are cut from the plain bytes, and `If-Range` with the weak tag or a date gets the whole.",
    scenarios: ["compression/conditions", "compression/parts", "compression/head"],
  },
];
