import { AsyncLocalStorage } from "node:async_hooks";
import { queryObjects } from "node:v8";
import { expect, test } from "vitest";
import { neverIn } from "../engine/tally.ts";
import { mutatedEngine } from "../mutants/sources/mutated-sources.ts";
import { byDepth } from "../suite/depth.ts";
import { explore, type RunWorld, runWorld, seedsFrom, tell, WORLDS } from "./explore.ts";
import { STEPS, World } from "./world.ts";

const SEEDS = seedsFrom(1, byDepth({ test: 30, gate: 40, all: WORLDS }));

test(`the promises hold in ${SEEDS.length} random worlds`, { timeout: 900_000 }, async () => {
  const { found, occurred } = await explore(SEEDS);
  if (found.length > 0) expect.fail(found.map(tell).join("\n\n"));
  process.stdout.write(`simulation: ${JSON.stringify(occurred)}\n`);
  if (SEEDS.length >= WORLDS) expect(neverIn(occurred)).toEqual([]);
});

test("the same seed gives the same story", async () => {
  for (const seed of [7, 8, 9]) expect((await runWorld(seed)).story).toEqual((await runWorld(seed)).story);
});

test("a world leaves no storage behind for later worlds", { tags: ["deep"] }, async () => {
  const live = () => queryObjects(AsyncLocalStorage, { format: "count" });
  await runWorld(1);
  const before = live();
  for (let seed = 2; seed <= 20; seed++) await runWorld(seed);
  expect(live()).toBeLessThanOrEqual(before);
});

test("a failure is reduced to few steps, which alone reproduce it", {
  tags: ["deep"],
  timeout: 60_000,
}, async () => {
  const stampedLate = { in: "decideStorage", replace: "stamp: response.stamp", by: "stamp: ports.purges.stamp()" };
  const { World: WrongWorld } = await mutatedEngine(stampedLate);
  const runWrong: RunWorld = (seed, only) => new WrongWorld(seed, only && { only: new Set(only) }).run();
  const outlives = await firstBroken(runWrong);
  const [found] = (await explore([outlives], runWrong)).found;
  expect(found!.steps.length).toBeLessThan(STEPS / 2);
  const { seed, broken, story } = found!.outcome;
  expect(broken).not.toEqual([]);
  expect(await runWrong(seed, found!.steps)).toMatchObject({ broken, story });
  expect(tell(found!)).toContain(`npm run simulate -- --seed ${seed} --steps ${found!.steps.join(",")}`);
  expect((await runWorld(seed, found!.steps)).broken).toEqual([]);
});

async function firstBroken(run: RunWorld): Promise<number> {
  for (let seed = 1; ; seed++) if ((await run(seed)).broken.length > 0) return seed;
}

/** How far the clocks of one PoP differ there, and how much of that the allowance does not cover. */
const TOO_FAR_MS = 2000;
const UNCOVERED_MS = TOO_FAR_MS - 250;
/** Worlds are tried until so many are late. */
const LATE = byDepth({ test: 1, gate: 1, all: 2 });

test("if the clocks of a PoP differ by more than the allowance, promises hold later by the excess", async () => {
  const late: number[] = [];
  for (let seed = 1; seed <= WORLDS && late.length < LATE; seed++) {
    const { broken } = await new World(seed, { popSkewMs: TOO_FAR_MS }).run();
    if (broken.length === 0) continue;
    late.push(seed);
    const bounded = await new World(seed, { popSkewMs: TOO_FAR_MS, lateMs: UNCOVERED_MS }).run();
    expect(bounded.broken, `seed ${seed}`).toEqual([]);
  }
  expect(late).toHaveLength(LATE);
}, 120_000);
