import { afterAll, describe, expect, test } from "vitest";
import { ORDERS } from "../engine/orders.ts";
import { WORLDS } from "../simulation/explore.ts";
import { hunt, type Seeds } from "./hunt.ts";
import { mutants } from "./index.ts";
import { likelySeeds, writeLikelySeeds } from "./likely-seeds.ts";
import type { Mutant } from "./mutant.ts";

/** As many orders of events, and as many worlds, as are played with `--all`. */
const SEEDS: Seeds = { scenario: ORDERS, simulation: WORLDS };

/** `WRITE_LIKELY_SEEDS=1 npx vitest run test/mutants` writes the seeds that find the mutants now. */
const WRITES_LIKELY = process.env.WRITE_LIKELY_SEEDS !== undefined;

const found = new Map<string, number>();

describe("a wrong rule is found", () => {
  test.each([...mutants].map(([id, mutant]) => ({ id, name: mutant.name, mutant })))(
    "$name ($id)",
    { timeout: 300_000 },
    async ({ id, mutant }) => {
      const seed = await hunt(mutant, { ...SEEDS, likely: likelySeeds[id] });
      expect(seed, `the mutant ${id} survived ${survivedWhat(mutant)}`).not.toBe("survived");
      found.set(id, seed as number);
    },
  );
});

function survivedWhat(mutant: Mutant): string {
  if ("foundBy" in mutant) return `${SEEDS.simulation} worlds of the simulation`;
  return `the scenario ${mutant.reddens} under ${SEEDS.scenario} orders of events`;
}

afterAll(() => {
  const told = ["scenario", "simulation"].map((by) => {
    const seeds = [...found].filter(([id]) => ("reddens" in mutants.get(id)! ? "scenario" : "simulation") === by);
    return `${seeds.length} by ${by}, the latest under seed ${Math.max(0, ...seeds.map(([, seed]) => seed))}`;
  });
  const unlike = [...found].filter(([id, seed]) => seed !== (likelySeeds[id] ?? 1)).length;
  const outdated = unlike === 0 ? "" : `; likely-seeds.json is out of date for ${unlike}, which costs time alone`;
  process.stdout.write(`mutants found: ${told.join("; ")}${outdated}\n`);
  if (WRITES_LIKELY && found.size === mutants.size) writeLikelySeeds(found);
});
