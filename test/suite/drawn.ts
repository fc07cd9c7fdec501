import { fnvHash } from "../../worker/rules/hashing/fnv-hash.ts";
import { depth } from "./depth.ts";
import { draw } from "./draw.ts";
import { seed } from "./seed.ts";

/** Whether the command names its tests with `-t`. Then nobody wonders where one of them is: all can be chosen from. */
const areNamed = process.env.TEST_NAMED === "yes";

/**
 * One of `inOne` cases, and a line that says how many that are. The run's seed and the words for them decide which. With
 * `--all`, and where the command names tests, it is all of them.
 */
export function drawn<T>(what: string, cases: readonly T[], inOne: number): readonly T[] {
  if (depth === "all" || areNamed || inOne === 1) return cases;
  const few = draw(cases, inOne, seed ^ fnvHash(what));
  process.stdout.write(`${what}: ${few.length} of ${cases.length}, drawn by TEST_SEED=${seed}\n`);
  return few;
}
