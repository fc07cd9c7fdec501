import { expect, test } from "vitest";
import { EXIT, EXIT_OF } from "../../cli/exit-code.ts";

test.each([
  {
    because: "the edge has refused a purge",
    exit: EXIT.refused,
    value: 1,
    codes: ["conflict", "forbidden", "invalid", "rate-limited", "too-large", "unauthorized", "unsupported-media-type"],
  },
  { because: "nothing was sent", exit: EXIT.usage, value: 2, codes: ["closed", "not-configured"] },
  {
    because: "nobody knows whether a purge has happened, or no edge answered",
    exit: EXIT.unreachable,
    value: 3,
    codes: [
      "incomplete-answer",
      "method-not-allowed",
      "not-found",
      "server-error",
      "timeout",
      "unavailable",
      "unexpected-answer",
      "unreachable",
    ],
  },
])("$value says that $because", ({ exit, value, codes }) => {
  expect(exit).toBe(value);
  const withIt = Object.entries(EXIT_OF).filter(([, each]) => each === exit);
  expect(withIt.map(([code]) => code).toSorted()).toEqual(codes);
});
