import { shortened } from "../engine/shortened.ts";
import { addOccurrences, noOccurrences, type Occurrences } from "./occurrences.ts";
import { STEPS, World, type WorldOutcome } from "./world.ts";

/**
 * The number of worlds that run with `--all`, and of worlds that no wrong rule may survive. Every listed occurrence occurs
 * in them.
 */
export const WORLDS = 2000;

/** Runs the world of a seed, with the named steps or all of them. */
export type RunWorld = (seed: number, only?: readonly number[]) => Promise<WorldOutcome>;

export const runWorld: RunWorld = (seed, only) => new World(seed, only && { only: new Set(only) }).run();

/** A world in which a promise broke, and the steps that are needed for it. */
export interface Found {
  readonly outcome: WorldOutcome;
  readonly steps: readonly number[];
}

export interface Explored {
  readonly worlds: number;
  /** Every world in which a promise broke. */
  readonly found: readonly Found[];
  readonly occurred: Occurrences;
}

/** So many seeds, one after the other. */
export function seedsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

/** Runs the worlds of these seeds. */
export async function explore(seeds: readonly number[], run: RunWorld = runWorld): Promise<Explored> {
  const occurred = noOccurrences();
  const found: Found[] = [];
  for (const seed of seeds) {
    const outcome = await run(seed);
    addOccurrences(occurred, outcome.occurred);
    if (hasBroken(outcome)) found.push(await cutDown(outcome, run));
  }
  return { worlds: seeds.length, found, occurred };
}

/** What two explorations have found together. */
export function together(one: Explored, other: Explored): Explored {
  const occurred = { ...one.occurred };
  addOccurrences(occurred, other.occurred);
  return { worlds: one.worlds + other.worlds, found: [...one.found, ...other.found], occurred };
}

/** Removes the unnecessary steps. Each step has chances of its own, so the others run much as before. */
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

/** The description of a failure for a person, and the command that repeats it. */
export function tell({ outcome, steps }: Found): string {
  const { seed, broken, bugs, story } = outcome;
  const replay = `npm run simulate -- --seed ${seed} --steps ${steps.join(",")}`;
  return [
    ...story,
    "",
    ...broken.map(({ words }) => words),
    ...bugs,
    "",
    `seed ${seed}; to see it again: ${replay}`,
  ].join("\n");
}
