import { expect, test } from "vitest";
import { byDepth } from "../../suite/depth.ts";
import { seed } from "../../suite/seed.ts";
import { runHttpWorld } from "./http-world.ts";

const WORLDS = byDepth({ test: 20, gate: 20, all: 1000, explore: 2000 });
/** So many worlds meet all that is listed, whatever the seed is. */
const MEET_ALL = 1000;

const CASES: readonly string[] = [
  ...["HIT", "MISS", "EXPIRED", "REVALIDATED", "UPDATING", "STALE", "BYPASS", "none"],
  ...["HIT", "MISS", "REVALIDATED", "UPDATING", "STALE"].map((xCache) => `304 from ${xCache}`),
  ...["HIT", "MISS", "REVALIDATED", "STALE"].map((xCache) => `206 from ${xCache}`),
  ...["200", "404", "503"].map((status) => `a stored ${status} to GET`),
  ...["a softly purged page as UPDATING", "a softly purged page as STALE"],
  ...["a stored 200 to HEAD", "a confirmed page", "a page that a HEAD has freshened", "416 from HIT"],
];

test(`every answer in ${WORLDS} random worlds is one that HTTP, the site and its purges permit`, {
  timeout: 60_000 + WORLDS * 2_000,
}, async () => {
  const met = new Set<string>();
  for (let index = 0; index < WORLDS; index++) {
    const { seed: ofWorld, broken, story, occurred } = await runHttpWorld(seed + index);
    const replay = `TEST_SEED=${ofWorld} npx vitest run test/flow/http-worlds`;
    expect(broken, `${story.join("\n")}\n\nto see it again: ${replay}`).toBeNull();
    for (const what of occurred.keys()) met.add(what);
  }
  if (WORLDS >= MEET_ALL) expect([...met]).toEqual(expect.arrayContaining([...CASES]));
});
