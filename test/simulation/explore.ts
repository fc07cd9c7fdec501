import { shortened } from "../engine/shortened.ts";
import { addOccurrences, noOccurrences, type Occurrences } from "./occurrences.ts";
import { STEPS, World, type WorldOutcome } from "./world.ts";

/** How many worlds the gate runs, and how many of them a wrong rule may survive. All that can occur occurs in them. */
export const WORLDS = 2000;

/** Runs the world of a seed; of its steps those that are named, or all. */
export type RunWorld = (seed: number, only?: readonly number[]) => Promise<WorldOutcome>;

export const runWorld: RunWorld = (seed, only) => new World(seed, only && { only: new Set(only) }).run();

/** A world in which something broke, and those of its steps that it took. */
export interface Found {
  readonly outcome: WorldOutcome;
  readonly steps: readonly number[];
}

export interface Explored {
  readonly worlds: number;
  /** `null` if nothing broke. */
  readonly found: Found | null;
  readonly occurred: Occurrences;
}

/** Runs one world after the other, from a seed on, until something breaks in one. */
export async function explore(
  first: number,
  count: number,
  onWorld: (worlds: number) => void = () => undefined,
  run: RunWorld = runWorld,
): Promise<Explored> {
  const occurred = noOccurrences();
  for (let worlds = 1; worlds <= count; worlds++) {
    const outcome = await run(first + worlds - 1);
    addOccurrences(occurred, outcome.occurred);
    if (hasBroken(outcome)) return { worlds, found: await cutDown(outcome, run), occurred };
    onWorld(worlds);
  }
  return { worlds: count, found: null, occurred };
}

/** Leaves out the steps that it does not take. Each has chances of its own, so the others go on much as they did. */
async function cutDown(whole: WorldOutcome, run: RunWorld): Promise<Found> {
  let outcome = whole;
  const isWrong = async (few: readonly number[]) => {
    const tried = await run(whole.seed, few);
    const isBroken = hasBroken(tried);
    if (isBroken) outcome = tried;
    return isBroken;
  };
  const all = Array.from({ length: STEPS }, (_, number) => number);
  const steps = await shortened(all, isWrong);
  return { outcome, steps };
}

export function hasBroken({ broken, bugs }: WorldOutcome): boolean {
  return broken.length > 0 || bugs.length > 0;
}

/** What a person needs to understand it, and the command that shows it again. */
export function tell({ outcome, steps }: Found): string {
  const { seed, broken, bugs, story } = outcome;
  const replay = `npm run simulate -- --seed ${seed} --steps ${steps.join(",")}`;
  return [...story, "", ...broken, ...bugs, "", `seed ${seed}; to see it again: ${replay}`].join("\n");
}
