/**
 * `npm run explore -- --minutes N`: runs with ever new seeds what only counts higher than the tests, until the time is over,
 * or until Ctrl-C. It keeps each finding with the command that repeats it, and goes on.
 */
import { availableParallelism } from "node:os";
import { Command, InvalidArgumentError } from "commander";
import { explore } from "./explore.ts";
import { ONCE, SEARCHES } from "./searches.ts";

const command = new Command("explore")
  .description("Runs random searches with new seeds, and keeps what they find in the folder `.findings`.")
  .option("--minutes <count>", "no search begins after so many; by default it runs until Ctrl-C", positive)
  .option("--seed <seed>", "of the first search; by default the clock draws it", positive, 1 + (Date.now() % 2 ** 31))
  .option("--jobs <count>", "how many searches run at a time", positive, availableParallelism());
command.parse();
const {
  minutes = Number.POSITIVE_INFINITY,
  seed,
  jobs,
} = command.opts<{ minutes?: number; seed: number; jobs: number }>();

console.log(`From seed ${seed} on.`);
const endsAt = performance.now() + minutes * 60_000;
const isOver = () => performance.now() >= endsAt;
const searches = { once: ONCE, searches: SEARCHES };
const findings = await explore({ ...searches, seed, jobs, folder: ".findings", isOver, print: console.log });
console.log(findings === 0 ? "Nothing was found." : `${findings} findings, in the folder .findings.`);
process.exitCode = findings === 0 ? 0 : 1;

function positive(words: string): number {
  const value = Number(words);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("It is a whole number from 1 on.");
  return value;
}
