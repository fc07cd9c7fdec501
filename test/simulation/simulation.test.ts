import { expect, test } from "vitest";
import { OCCURRENCES } from "./fate.ts";
import { World } from "./world.ts";

/** `SEEDS=100000 npx vitest run test/simulation` walks on; `FIRST_SEED` begins elsewhere. */
const SEEDS = Number(process.env.SEEDS ?? 300);
const FIRST_SEED = Number(process.env.FIRST_SEED ?? 1);
const STEPS = 60;

test(`the promises hold in ${SEEDS} random worlds of ${STEPS} steps`, { timeout: 60_000 + SEEDS * 1000 }, async () => {
  const occurred = Object.fromEntries(OCCURRENCES.map((name) => [name, 0]));
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const world = new World(seed);
    await world.run(STEPS);
    const replay = `FIRST_SEED=${seed} SEEDS=1 npx vitest run test/simulation`;
    const told = `seed ${seed}; replay: ${replay}\n${world.story.join("\n")}`;
    expect(world.bugs, told).toEqual([]);
    expect(world.history.violations(), told).toEqual([]);
    for (const name of OCCURRENCES) occurred[name]! += world.occurred[name];
  }
  process.stdout.write(`simulation: ${JSON.stringify(occurred)}\n`);
  if (SEEDS >= 100) expect(Object.entries(occurred).filter(([, count]) => count === 0)).toEqual([]);
});

test("the same seed gives the same story", async () => {
  const [first, second] = [new World(7), new World(7)];
  await first.run(STEPS);
  await second.run(STEPS);
  expect(second.story).toEqual(first.story);
});
