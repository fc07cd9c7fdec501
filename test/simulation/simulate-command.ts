/** `npm run simulate`: any number of random worlds that try to break the promises of docs/design.md. */
import { Command, InvalidArgumentError } from "commander";
import { printTable } from "../../bench/report/table.ts";
import { neverIn } from "../engine/tally.ts";
import { explore, hasBroken, runWorld, seedsFrom, tell, WORLDS } from "./explore.ts";
import { OCCURRENCES } from "./occurrences.ts";

/** The interval of progress lines. A terminal shows one line that changes, a log gets a line now and then. */
const TOLD_EVERY_MS = process.stderr.isTTY ? 2000 : 60_000;

interface Options {
  readonly seeds: number;
  readonly first: number;
  readonly seed?: number;
  readonly steps?: readonly number[];
}

const command = new Command("simulate")
  .description("Runs random worlds under seeds, one after the other, until a promise breaks in one.")
  .option("--seeds <count>", "how many worlds", positive, 10_000)
  .option("--first <seed>", "the seed of the first one", positive, 1)
  .option("--seed <seed>", "only the world of this seed, and tell all that happens in it", positive)
  .option("--steps <numbers>", "with --seed: only these of its steps, separated by commas", numbers);
command.parse();
const { seeds, first, seed, steps } = command.opts<Options>();
if (steps && seed === undefined) command.error("--steps names steps of one world: say of which, with --seed");
await (seed === undefined ? simulate(first, seeds) : tellOne(seed, steps));

async function simulate(first: number, count: number): Promise<void> {
  const startedAt = performance.now();
  let toldAt = startedAt;
  const { worlds, found, occurred } = await explore(seedsFrom(first, count), (done) => {
    const now = performance.now();
    if (now - toldAt < TOLD_EVERY_MS) return;
    toldAt = now;
    const aSecond = done / ((now - startedAt) / 1000);
    const minutes = Math.ceil((count - done) / aSecond / 60);
    tellProgress(`${done} of ${count} worlds, ${Math.round(aSecond)} a second, ${minutes} min to go`);
  });
  tellProgress("");
  if (found) {
    console.log(tell(found));
    process.exitCode = 1;
    return;
  }
  printTable(
    ["what happened", "times"],
    OCCURRENCES.map((name) => [name, String(occurred[name])]),
  );
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(`\n${worlds} worlds from seed ${first} on, ${seconds} s: no promise broke.`);
  const missing = neverIn(occurred);
  if (missing.length === 0) return;
  console.log(`That proves nothing of what never happened: ${missing.join(", ")}.`);
  if (worlds >= WORLDS) process.exitCode = 1;
  else console.log(`${WORLDS} worlds have all of it in them.`);
}

async function tellOne(seed: number, steps: readonly number[] | undefined): Promise<void> {
  const outcome = await runWorld(seed, steps);
  const { story, broken, bugs } = outcome;
  console.log(story.join("\n"));
  console.log(hasBroken(outcome) ? `\n${[...broken, ...bugs].join("\n")}` : "\nNo promise broke.");
  if (hasBroken(outcome)) process.exitCode = 1;
}

function tellProgress(words: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${words}`);
  else if (words !== "") process.stderr.write(`${words}\n`);
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("It is a whole number from 1 on.");
  return value;
}

function numbers(text: string): number[] {
  const values = text.split(",").map(Number);
  if (values.some((value) => !Number.isInteger(value) || value < 0)) {
    throw new InvalidArgumentError("They are whole numbers from 0 on, separated by commas.");
  }
  return values;
}
