import { describe, expect, test } from "vitest";
import { bundleFindings } from "../../../cli/check/bundle-findings.ts";
import { siteFindings } from "../../../cli/check/site-findings.ts";
import { wranglerFindings } from "../../../cli/check/wrangler-settings.ts";
import { differenceOf, findingCases } from "./findings.ts";

describe("tidemark check finds", () => {
  test.each(findingCases)("$name", (each) => {
    expect(differenceOf({ wranglerFindings, siteFindings, bundleFindings }, each)).toBeNull();
  });
});
