import { afterAll, describe, expect, test } from "vitest";
import { ORDERS } from "../engine/orders.ts";
import { WORLDS } from "../simulation/explore.ts";
import { hunt, type Seeds } from "./hunt.ts";
import { mutants } from "./index.ts";
import type { Mutant } from "./mutant.ts";

/** As many orders of events as scenarios have of their own, and as many worlds as the gate runs. */
const SEEDS: Seeds = { scenario: ORDERS, simulation: WORLDS };

const found = { scenario: [] as number[], simulation: [] as number[] };

describe("a wrong rule is found", () => {
  test.each([...mutants].map(([id, mutant]) => ({ id, name: mutant.name, mutant })))(
    "$name ($id)",
    { timeout: 300_000 },
    async ({ id, mutant }) => {
      const seed = await hunt(mutant, SEEDS);
      const by = "reddens" in mutant ? "scenario" : "simulation";
      expect(seed, `the mutant ${id} survived ${survivedWhat(mutant)}`).not.toBe("survived");
      found[by].push(seed as number);
    },
  );
});

function survivedWhat(mutant: Mutant): string {
  if ("foundBy" in mutant) return `${SEEDS.simulation} worlds of the simulation`;
  return `the scenario “${mutant.reddens}” under ${SEEDS.scenario} orders of events`;
}

afterAll(() => {
  const told = Object.entries(found).map(
    ([by, seeds]) => `${seeds.length} by ${by} under at most ${Math.max(0, ...seeds)} seeds`,
  );
  process.stdout.write(`mutants found: ${told.join(", ")}\n`);
});
