import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "groups",
    section: "2",
    requirement: "`Cache-Groups` is a list of strings; otherwise it counts as absent (RFC 9651 §4.2)",
    does: "Yes; parameters are ignored, and clients see the field.",
    scenarios: [
      "cache-groups/named-groups-only",
      "cache-groups/malformed-mixed-types",
      "cache-groups/clients-see-groups",
      "cache-groups/malformed-token",
      "cache-groups/malformed-non-ascii",
    ],
  },
  {
    table: "groups",
    section: "2",
    requirement: "MUST support at least 32 groups of 32 characters",
    does: "128 of 256; a group beyond that is ignored. The count: `test/rules/invalidation/invalidation.test.ts`.",
    scenarios: ["cache-groups/longest-group-name"],
  },
  {
    table: "groups",
    section: "2; 9111 §4.3.4",
    requirement: "groups of a freshened response (R17)",
    does: "The old ones and those of the 304.",
    scenarios: ["cache-groups/groups-on-304"],
  },
  {
    table: "groups",
    section: "2.1",
    requirement: "the same group: equal strings, same origin",
    does: "Compared exactly; scheme and host are part of the key.",
    scenarios: [
      "cache-groups/named-groups-only",
      "cache-groups/groups-of-one-host",
      "cache-groups/groups-are-not-tags",
    ],
  },
  {
    table: "groups",
    section: "2.2.1",
    requirement: "MAY invalidate the groups of an invalidated page",
    does: "No.",
    scenarios: ["cache-groups/groups-of-the-target"],
  },
  {
    table: "groups",
    section: "3",
    requirement: "`Cache-Group-Invalidation`: MAY be obeyed in answers to unsafe methods, MUST be ignored in others",
    does: "Yes, unless the answer is an error, in every PoP: `test/local/cdn/invalidation.test.ts`.",
    scenarios: [
      "cache-groups/longest-group-name",
      "cache-groups/named-groups-only",
      "cache-groups/reaches-every-isolate",
      "cache-groups/answer-to-get",
    ],
  },
];
