import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** A run takes as many seeds as the worlds of `npm run simulate`, so that no two share one. */
const SEEDS_A_RUN = 500;
/** Seeds are 31 bits wide, as far as fast-check tells them apart. */
const SEEDS = 2 ** 31;

interface Exploration {
  /** Commands for a shell that run a single time, before the others. Default: none. */
  readonly once?: readonly string[];
  /** Commands for a shell, in each of which `{seed}` stands for a seed. */
  readonly searches: readonly string[];
  /** The seed of the first run. */
  readonly seed: number;
  /** How many searches run at the same time. */
  readonly jobs: number;
  /** Where findings are kept, a file each. */
  readonly folder: string;
  readonly isOver: () => boolean;
  readonly print: (line: string) => void;
}

/**
 * Runs the searches in turn until it is over, and goes on after a finding. Resolves to the number of findings once the runs
 * that have begun are at their end.
 */
export async function explore({
  once = [],
  searches,
  seed,
  jobs,
  folder,
  isOver,
  print,
}: Exploration): Promise<number> {
  let runs = 0;
  let findings = 0;
  const runInTurn = async () => {
    while (!isOver()) {
      const run = runs++;
      const ofRun = 1 + ((seed + run * SEEDS_A_RUN) % (SEEDS - 1));
      const next = once[run] ?? searches[(run - once.length) % searches.length]!;
      const command = next.replaceAll("{seed}", String(ofRun));
      const { failed, said } = await outcomeOf(command);
      print(`${failed ? "found" : "nothing"}: ${command}`);
      if (!failed) continue;
      findings++;
      mkdirSync(folder, { recursive: true });
      const file = join(folder, `finding-${ofRun}.txt`);
      writeFileSync(file, `${command}\n\n${said}`);
      print(`       kept in ${file}`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, runInTurn));
  return findings;
}

async function outcomeOf(command: string): Promise<{ failed: boolean; said: string }> {
  const child = spawn(command, {
    shell: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  const ended = once(child, "close");
  const said = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = await ended;
  return { failed: status !== 0, said: said.join("") };
}
