import { globSync } from "node:fs";
import { heldIn } from "../engine/held-in.ts";
import type { Mutant, Mutants } from "./mutant.ts";

const TESTS = new URL("../", import.meta.url);

/** Every mutant, from all files that are called `mutants.ts`. */
export const mutants: readonly Mutant[] = (
  await Promise.all(globSync("**/mutants.ts", { cwd: TESTS }).sort().map(read))
)
  .flatMap((written) => Object.entries(written))
  .flatMap(([rule, ofRule]) =>
    Object.entries(ofRule).map(([breaks, mutant]) => ({ rule, breaks, ...mutant, foundBy: [mutant.foundBy].flat() })),
  );

async function read(path: string): Promise<Mutants> {
  return ((await import(new URL(path, TESTS).href)) as { readonly mutants: Mutants }).mutants;
}

/** One mutant, and one of the tests that must find it. */
export interface Hunted {
  readonly name: string;
  readonly mutant: Mutant;
  readonly by: string;
  /** Whether the gate hunts it. All others are hunted with `--all`. */
  readonly inGate: boolean;
}

/** So many tests of each rule find a mutant in the gate. */
const TESTS_OF_A_RULE = 4;

export const hunted: readonly Hunted[] = markFirst(
  mutants.flatMap((mutant) =>
    mutant.foundBy.map((by) => ({ name: `${mutant.rule}: ${mutant.breaks} (${by})`, mutant, by })),
  ),
);

/** The gate has a mutant of each rule for the first few tests that guard it, which shows that these can fail. */
export function markFirst<Each extends Pick<Hunted, "by"> & { readonly mutant: Pick<Mutant, "rule"> }>(
  all: readonly Each[],
): (Each & Pick<Hunted, "inGate">)[] {
  const testsByRule = new Map<string, Set<string>>();
  return all.map((each) => {
    const tests = heldIn(testsByRule, each.mutant.rule, () => new Set());
    const inGate = tests.size < TESTS_OF_A_RULE && !tests.has(each.by);
    tests.add(each.by);
    return { ...each, inGate };
  });
}
