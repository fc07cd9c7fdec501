import { startCdn } from "tidemark/local";
import { expect, test } from "vitest";
import "tidemark/local/matchers";

const site = {};
const origin = {
  "/about": ["v1", "v2"].map((body) => ({
    fields: { "cache-control": "max-age=3600", "cache-tag": "about" },
    body,
  })),
};

test("a purge reaches every region", async () => {
  await using cdn = await startCdn({ site, origin, regions: ["nyc", "fra", "syd"] });
  await expect(cdn.get("/about", { from: "fra" })).toMiss();
  await expect(cdn.get("/about", { from: "fra" })).toHit();
  await cdn.purger.purgeTags("about");
  await cdn.advance("2s");
  await expect(cdn.get("/about", { from: "syd" })).toNeverShow("v1");
});
