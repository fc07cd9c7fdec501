import { heldIn } from "../engine/held-in.ts";
import type { Finder } from "./finder.ts";
import type { Change } from "./mutant.ts";
import { mutated, soundModules } from "./sources/mutated-sources.ts";

/** The failures of the correct code by seed, for controls: they are the same for all mutants. */
const onSoundCode = new WeakMap<Finder, Map<number, Promise<unknown>>>();

/**
 * The first of the tried seeds under which a test finds a mutant; `"survived"` if none does. Throws if the result would
 * prove nothing: the change cannot be made, the mutated code crashes, or the test also fails on the correct code.
 */
export async function hunt(change: Change, finder: Finder, likely = 1): Promise<number | "survived"> {
  const modules = await mutated(change, finder.entries);
  for (const seed of finder.seeds(likely)) {
    if ((await finder.failure(modules, seed)) === null) continue;
    const controls = heldIn(onSoundCode, finder, () => new Map());
    const control = await heldIn(controls, seed, async () => finder.failure(await soundModules(), seed));
    if (control !== null) throw new Error("the test fails without the mutant as well", { cause: control });
    return seed;
  }
  return "survived";
}
