import { expect, test } from "vitest";
import { explanationSchema } from "../../wire/explanation.ts";
import { blockWith } from "./blocks.ts";

test("docs/reference/http-api.md: the answer of explain fits its schema", () => {
  const sample = JSON.parse(blockWith("docs/reference/http-api.md", '"sharedTier": null, "purge": null'));
  expect(explanationSchema.parse(sample)).toEqual(sample);
});
