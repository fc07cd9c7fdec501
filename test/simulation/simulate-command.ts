/** `npm run simulate`: any number of random worlds that try to break the promises of docs/protocol.md. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { Command, InvalidArgumentError } from "commander";
import { printTable } from "../../bench/frame/table.ts";
import { neverIn } from "../engine/tally.ts";
import { type Explored, type Found, hasBroken, runWorld, tell, together, WORLDS } from "./explore.ts";
import { noOccurrences, OCCURRENCES } from "./occurrences.ts";

/** The interval of progress lines. A terminal shows one line that changes, a log gets a line now and then. */
const TOLD_EVERY_MS = process.stderr.isTTY ? 2000 : 60_000;
/** The worlds that a thread runs at a time, so that none is left with much work at the end. */
const WORLDS_AT_A_TIME = 50;
/** Seeds are 31 bits wide, as far as the worlds tell them apart. */
const SEEDS = 2 ** 31;

interface Options {
  readonly worlds: number;
  readonly from?: number;
  readonly jobs: number;
  readonly seed?: number;
  readonly steps?: readonly number[];
}

const command = new Command("simulate")
  .description("Runs random worlds, from a new seed each time, and lists those in which a promise breaks.")
  .option("--worlds <count>", "how many worlds", positive, 10_000)
  .option("--from <seed>", "the seed of the first one; by default the clock draws it", positive)
  .option("--jobs <count>", "how many threads run worlds", positive, availableParallelism())
  .option("--seed <seed>", "only the world of this seed, and tell all that happens in it", positive)
  .option("--steps <numbers>", "with --seed: only these of its steps, separated by commas", numbers);
command.parse();
const { worlds, from = 1 + (Date.now() % SEEDS), jobs, seed, steps } = command.opts<Options>();
if (steps && seed === undefined) command.error("--steps names steps of one world: say of which, with --seed");
await (seed === undefined ? simulate(from, worlds, jobs) : tellOne(seed, steps));

async function simulate(from: number, count: number, jobs: number): Promise<void> {
  console.log(`${count} worlds from seed ${from} on.`);
  const startedAt = performance.now();
  let toldAt = startedAt;
  const { found, occurred, worlds } = await exploreSideBySide(from, count, jobs, (done, latest) => {
    for (const each of latest) console.log(`${tell(each)}\n`);
    const now = performance.now();
    if (now - toldAt < TOLD_EVERY_MS) return;
    toldAt = now;
    const aSecond = done / ((now - startedAt) / 1000);
    const minutes = Math.ceil((count - done) / aSecond / 60);
    tellProgress(`${done} of ${count} worlds, ${Math.round(aSecond)} a second, ${minutes} min to go`);
  });
  tellProgress("");
  const seconds = (performance.now() - startedAt) / 1000;
  printTable(
    ["what happened", "times"],
    OCCURRENCES.map((name) => [name, String(occurred[name])]),
  );
  const pace = `${Math.round(seconds)} s, ${Math.round(worlds / seconds)} worlds a second`;
  console.log(`\n${worlds} worlds from seed ${from} on, ${pace}.`);
  if (found.length > 0) {
    printTable(["promise", "rule", "seed", "what broke"], found.flatMap(rowsOf));
    process.exitCode = 1;
    return;
  }
  console.log("No promise broke.");
  const missing = neverIn(occurred);
  if (missing.length === 0) return;
  console.log(`That proves nothing of what never happened: ${missing.join(", ")}.`);
  if (worlds >= WORLDS) process.exitCode = 1;
  else console.log(`${WORLDS} worlds have all of it in them.`);
}

/** Runs the worlds in threads. `onWorlds` is told of each piece: how many worlds have run, and what it has found. */
async function exploreSideBySide(
  from: number,
  count: number,
  jobs: number,
  onWorlds: (done: number, found: readonly Found[]) => void,
): Promise<Explored> {
  let explored: Explored = { worlds: 0, found: [], occurred: noOccurrences() };
  let next = from;
  const end = from + count;
  const runAThread = async () => {
    const thread = new Worker(new URL("./simulate-thread.ts", import.meta.url));
    while (next < end) {
      const first = next;
      next = Math.min(end, first + WORLDS_AT_A_TIME);
      const { promise, resolve, reject } = Promise.withResolvers<Explored>();
      thread.once("error", reject).once("message", resolve);
      thread.postMessage({ first, count: next - first });
      const piece = await promise;
      thread.off("error", reject);
      explored = together(explored, piece);
      onWorlds(explored.worlds, piece.found);
    }
    await thread.terminate();
  };
  await Promise.all(Array.from({ length: jobs }, runAThread));
  return explored;
}

/** A row for each kind of fault of a world. */
function rowsOf({ outcome: { seed, broken, bugs } }: Found): string[][] {
  const kinds = new Map(broken.map(({ promise, rule, words }) => [`${promise} ${rule}`, { promise, rule, words }]));
  const rows = [...kinds.values()].map(({ promise, rule, words }) => [String(promise), rule, String(seed), words]);
  return bugs.length > 0 ? [...rows, ["", "an exception", String(seed), bugs[0]!.split("\n")[0]!]] : rows;
}

async function tellOne(seed: number, steps: readonly number[] | undefined): Promise<void> {
  const outcome = await runWorld(seed, steps);
  const { story, broken, bugs } = outcome;
  console.log(story.join("\n"));
  const words = [...broken.map(({ words }) => words), ...bugs];
  console.log(hasBroken(outcome) ? `\n${words.join("\n")}` : "\nNo promise broke.");
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
