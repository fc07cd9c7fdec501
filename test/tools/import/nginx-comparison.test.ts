import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BY_DESIGN } from "../../../tools/import/by-design.ts";
import { importNginx } from "../../../tools/import/nginx/import-nginx.ts";
import { byDepth } from "../../suite/depth.ts";
import { compare, FOLDER } from "./comparison.ts";
import { CONFIGURATIONS } from "./configurations.ts";
import { nginxVersion } from "./nginx-process.ts";

const NOT_RUN = "the comparisons are SKIPPED, because this machine has no nginx";
const hasNginx = nginxVersion() !== null;
if (!hasNginx) process.stdout.write(`${NOT_RUN}\n`);

/** The others are compared with --all. */
const IN_THE_GATE = 1;
const SEEDS = byDepth({ test: 1, gate: 1, all: 3, explore: 8 });

describe.skipIf(!hasNginx)(hasNginx ? "nginx and the imported site" : NOT_RUN, () => {
  const shownByDesign = new Set<unknown>();

  const differsAsListed = async (configuration: (typeof CONFIGURATIONS)[number]) => {
    const file = join(FOLDER, configuration.name, "nginx.conf");
    const options = { origin: null, host: null, server: configuration.server ?? null, root: null };
    const imported = importNginx(file, options);
    const shown = new Set<unknown>();
    for (let seed = 1; seed <= SEEDS; seed++) {
      const comparison = await compare(configuration, imported, seed);
      expect(comparison.requests).toBeGreaterThanOrEqual(200);
      expect({ seed, unexplained: comparison.unexplained.slice(0, 10) }).toEqual({ seed, unexplained: [] });
      for (const each of comparison.shown) shown.add(each);
    }
    for (const each of shown) shownByDesign.add(each);
    const unseen = imported.differences.filter(
      (each) => each.aspects.length > 0 && !BY_DESIGN.includes(each) && !shown.has(each),
    );
    expect(unseen.map(({ source, why }) => `${source?.place}: ${why}`)).toEqual([]);
  };
  const title = "$name: the same 200 requests differ exactly as the list says";
  test.each(CONFIGURATIONS.slice(0, IN_THE_GATE))(title, { timeout: 120_000 }, differsAsListed);
  test.each(CONFIGURATIONS.slice(IN_THE_GATE))(title, { timeout: 120_000, tags: ["deep"] }, differsAsListed);

  test("a difference that is in no list is found", { tags: ["deep"], timeout: 60_000 }, async () => {
    const [configuration] = CONFIGURATIONS as [(typeof CONFIGURATIONS)[number]];
    const file = join(FOLDER, configuration.name, "nginx.conf");
    const imported = importNginx(file, { origin: null, host: null, server: null, root: null });
    const { unexplained } = await compare(configuration, { ...imported, differences: [] }, 1);
    expect(unexplained.join("\n")).toMatch(
      /"secret-header":"1"\}: stored: asked of the origin with nginx, answered from the cache/,
    );
  });

  test("what the edge does by design on every site has shown, too", { tags: ["deep"] }, () => {
    expect(BY_DESIGN.filter((each) => !shownByDesign.has(each)).map(({ why }) => why)).toEqual([]);
  });
});
