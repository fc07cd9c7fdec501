import { globSync } from "node:fs";
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

export const hunted: readonly Hunted[] = markFirst(
  mutants.flatMap((mutant) =>
    mutant.foundBy.map((by) => ({ name: `${mutant.rule}: ${mutant.breaks} (${by})`, mutant, by })),
  ),
);

/** The gate has one mutant of each rule that a test guards, which shows that the test can fail. */
export function markFirst<Each extends Pick<Hunted, "by"> & { readonly mutant: Pick<Mutant, "rule"> }>(
  all: readonly Each[],
): (Each & Pick<Hunted, "inGate">)[] {
  const proofs = new Set<string>();
  return all.map((each) => {
    const proof = `${each.by} guards ${each.mutant.rule}`;
    const inGate = !proofs.has(proof);
    proofs.add(proof);
    return { ...each, inGate };
  });
}
