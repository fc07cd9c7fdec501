import { describe, expect, test } from "vitest";
import { bundleFindings } from "../../setup/check/bundle-findings.ts";
import { siteFindings } from "../../setup/check/site-findings.ts";
import { wranglerFindings } from "../../setup/check/wrangler-settings.ts";
import { differenceOf, findingCases } from "./findings.ts";

describe("tidemark check finds", () => {
  test.each(findingCases)("$name", (each) => {
    expect(differenceOf({ wranglerFindings, siteFindings, bundleFindings }, each)).toBeNull();
  });
});
