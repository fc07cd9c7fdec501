import { platform } from "node:os";
import { Command } from "commander";
import { type LargeResult, largeRows, measureLargeRow } from "../large/large-rows.ts";
import { positive } from "../options.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { thisMachine } from "../report/machine.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";

const MIB = 1024 ** 2;

interface LargeOptions {
  readonly mebibytes: number;
  readonly slow: number;
  readonly maxGrowth: number;
  readonly json?: string;
}

export const large = new Command("large")
  .description(
    "Whether memory stays flat while a large body passes the edge: streamed past, stored, and served from store.",
  )
  .option("--mebibytes <n>", "the size of the body", positive, 1024)
  .option("--slow <n>", "how many mebibytes a second the slow reader reads", positive, 50)
  .option("--max-growth <n>", "fail if memory grows by more than this many mebibytes", positive, 192)
  .option("--json <file>", "where the results go (default: bench/results/large-<date>.json)")
  .action(measureLarge);

async function measureLarge({ json, ...options }: LargeOptions): Promise<void> {
  if (platform() !== "linux")
    throw new BenchFailure("The memory of a process is read from /proc, which only Linux has.");
  const machine = thisMachine();
  const { cpu, cores, node, workerd, loadBefore } = machine;
  console.log(`${cpu}, ${cores} cores, load ${loadBefore} before; Node ${node}, workerd ${workerd}`);
  console.log(`one body of ${options.mebibytes} MiB, a slow reader reads ${options.slow} MiB/s\n`);
  const bytes = options.mebibytes * MIB;
  const results: LargeResult[] = [];
  for (const row of largeRows(bytes, options.slow * MIB)) {
    results.push(await measureLargeRow(row, bytes));
    console.error(`${row.name}: done`);
  }
  printTable(
    ["", "seconds", "MiB/s", "RSS before", "peak", "after", "peak growth MiB"],
    results.map(({ name, seconds, memory }) => [
      name,
      seconds.toFixed(1),
      (options.mebibytes / seconds).toFixed(0),
      ...[memory.beforeBytes, memory.peakBytes, memory.afterBytes, growth(memory)].map(inMebibytes),
    ]),
  );
  console.log(
    "\nRSS of the runtime's process, in MiB. It includes the local Cache API, whose own share the last two rows show.",
  );
  writeResults("large", { machine, settings: options, results }, json);
  for (const { name, memory } of results) {
    if (growth(memory) > options.maxGrowth * MIB) {
      throw new BenchFailure(
        `${name}: memory grew by ${inMebibytes(growth(memory))} MiB, more than ${options.maxGrowth}.`,
      );
    }
  }
}

function growth({ beforeBytes, peakBytes }: LargeResult["memory"]): number {
  return peakBytes - beforeBytes;
}

function inMebibytes(bytes: number): string {
  return (bytes / MIB).toFixed(0);
}
