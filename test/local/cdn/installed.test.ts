import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { startCdn } from "tidemark/local";
import "tidemark/local/matchers";
import { expect, inject, test } from "vitest";

const installedIn = join(realpathSync(inject("packedProject")), "node_modules/tidemark/dist/package/");

test("these tests use the CDN and the matchers of the packed and installed package", async () => {
  const noRegion = await startCdn({ site: {}, regions: [] }).catch((error: Error) => error);
  expect((noRegion as Error).stack).toContain(installedIn);
  const noAnswer = await expect(null)
    .toHit()
    .catch((error: Error) => error);
  expect((noAnswer as Error).stack).toContain(installedIn);
});

test("no test of this folder imports the sources instead", () => {
  const files = readdirSync(import.meta.dirname).concat("../../engine/runtime/cdn-engine.ts");
  const importers = (pattern: RegExp) =>
    files.filter((file) => pattern.test(readFileSync(join(import.meta.dirname, file), "utf8")));
  expect(importers(/ from "tidemark\/local"/).length).toBeGreaterThan(8);
  expect(importers(/\b(from |import )"(\.\.\/)+(cdn|dev|cli|sdk)\//)).toEqual([]);
});
