import { afterAll, describe, expect, test } from "vitest";
import { ORDERS } from "../engine/orders.ts";
import { WORLDS } from "../simulation/explore.ts";
import { byDepth } from "../suite/depth.ts";
import { drawn } from "../suite/drawn.ts";
import { hunt, type Seeds } from "./hunt.ts";
import { mutants } from "./index.ts";
import { keepLikelySeeds, likelySeeds } from "./likely-seeds.ts";
import type { Mutant } from "./mutant.ts";

/** As many orders of events, and as many worlds, as are played with `--all`. */
const SEEDS: Seeds = { scenario: ORDERS, simulation: WORLDS };

const HUNTED = drawn("mutants", [...mutants], byDepth({ test: 8, gate: 4, all: 1 }));

const found = new Map<string, number>();

describe("a wrong rule is found", () => {
  test.each(HUNTED.map(([id, mutant]) => ({ id, name: mutant.name, mutant })))(
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
  const moved = [...found].filter(([id, seed]) => seed !== (likelySeeds[id] ?? 1));
  const kept = moved.length === 0 ? "" : `; ${moved.length} under another seed than before, ${keepLikelySeeds(moved)}`;
  process.stdout.write(`mutants found: ${told.join("; ")}${kept}\n`);
});
