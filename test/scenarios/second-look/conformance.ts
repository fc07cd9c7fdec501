import type { ConformanceRow } from "../conformance-row.ts";

/** The rows of docs/conformance.md about this area. */
export const rows: readonly ConformanceRow[] = [
  {
    table: "caching",
    section: "3",
    requirement: "our own rule: [second looks](http.md#second-looks)",
    does: "Behind the answer to a GET that only unknown fields keep from being stored, the origin is asked without them, and that answer is stored if its status is the same.",
    scenarios: [
      "second-look/plain-answer-is-stored",
      "second-look/statuses-differ",
      "second-look/none-for-credentials",
      "second-look/none-for-session",
      "second-look/none-for-session-beside-credentials",
      "second-look/with-credentials",
      "second-look/other-folder",
      "second-look/idle-field",
      "second-look/idle-field-matters",
      "second-look/idle-field-in-vary",
      "second-look/idle-for-others",
      "second-look/framework-field",
      "second-look/not-in-a-row",
      "second-look/none-for-odd-value",
      "second-look/none-for-switched-off",
      "second-look/none-for-switched-off-for-route",
      "second-look/none-for-large",
      "second-look/field-chooses",
      "second-look/random-page",
      "second-look/several-fields",
      "second-look/keeps-the-choice",
      "second-look/none-for-a-head",
      "second-look/after-a-confirmation",
      "second-look/purged-meanwhile",
      "second-look/plain-requests-wait",
      "second-look/none-where-nothing-could-be-stored",
    ],
  },
];
