import { expect, test } from "vitest";
import { explanationSchema } from "../../wire/explanation.ts";
import { blockWith } from "./blocks.ts";

test("docs/design.md: the answer of explain fits its schema", () => {
  const sample = JSON.parse(blockWith("docs/design.md", '"sharedTier": null, "purge": null'));
  expect(explanationSchema.parse(sample)).toEqual(sample);
});
