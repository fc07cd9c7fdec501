import { expect, test } from "vitest";
import { neverIn } from "../engine/tally.ts";
import { byDepth } from "../suite/depth.ts";
import { seed } from "../suite/seed.ts";
import { noteInvalidations } from "./invalidations.ts";
import { Round } from "./round.ts";
import { Stage } from "./stage.ts";
import { hostOf, type Story } from "./story.ts";

/** Enough rounds for everything to occur. */
const ENOUGH_ROUNDS = 11;

const ROUNDS = byDepth({ test: 1, gate: 1, all: 4, explore: ENOUGH_ROUNDS });
/** The seeds of a round are so far apart. */
const SEEDS_OF_A_ROUND = 20;
const STORIES = byDepth({ test: 6, gate: 6, all: SEEDS_OF_A_ROUND });
const STEPS = 12;

/** The seed is the number of the first round. */
const ROUND_NUMBERS = Array.from({ length: ROUNDS }, (_, index) => seed + index);

/** A story's seed contains the number of its round. */
function seedsOf(round: number): number[] {
  return Array.from({ length: STORIES }, (_, index) => round * SEEDS_OF_A_ROUND + index);
}

test(`the promises hold in ${ROUNDS * STORIES} random stories, in three PoPs with two isolates each`, {
  timeout: 120_000 + ROUNDS * 20_000,
}, async () => {
  await using stage = await Stage.start(ROUND_NUMBERS.flatMap(seedsOf).map(hostOf));
  const stories: Story[] = [];
  for (const number of ROUND_NUMBERS) {
    const round = new Round(stage, number, seedsOf(number));
    await round.play(STEPS);
    stories.push(...round.stories);
  }
  await stage.finishWork();
  await noteInvalidations(stage, stories);

  const broken = stories.filter((story) => story.broken.length > 0);
  const names = broken.map(({ name }) => name);
  expect(names, wordsOf(broken)).toEqual([]);
  expect(stage.bugs).toEqual([]);
  process.stdout.write(`stories: ${JSON.stringify(stage.occurred)}\n`);
  if (ROUNDS >= ENOUGH_ROUNDS) expect(neverIn(stage.occurred)).toEqual([]);
});

/** The shortest of the stories in which a promise broke. */
function wordsOf(broken: readonly Story[]): string {
  const [story] = [...broken].sort((a, b) => a.lines.length - b.lines.length);
  if (!story) return "";
  const replay = `TEST_SEED=${Math.floor(story.seed / SEEDS_OF_A_ROUND)} npx vitest run test/stories`;
  const told = [`story ${story.name} of ${broken.length} that broke; replay: ${replay}`, ...story.lines];
  return [...told, ...story.broken].join("\n");
}
