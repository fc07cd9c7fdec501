import { platform } from "node:os";
import { Command } from "commander";
import { SOURCES_COMMAND } from "../contenders/tidemark.ts";
import { installMissing, isInstalled } from "../debian-programs.ts";
import { ENDURANCE_ROWS, type EnduranceResult, type EnduranceSettings } from "../endurance/endurance-rows.ts";
import { WRK } from "../load/wrk.ts";
import { NGINX } from "../nginx/nginx-cache.ts";
import { hasWord, positive } from "../options.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { thisMachine } from "../report/machine.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";

const MIB = 1024 ** 2;
/** Small bounds, so that both tiers are full, and evict, for most of the time. */
const COMMAND = `${SOURCES_COMMAND} --memory 64MiB --disk 512MiB`;
const SHORT = { mixedSeconds: 20, crowdSeconds: 5, changeSeconds: 2 };

interface EnduranceOptions extends Omit<EnduranceSettings, "mixedSeconds" | "crowdSeconds" | "changeSeconds"> {
  readonly minutes: number;
  readonly short: boolean;
  readonly maxGrowth: number;
  readonly install: boolean;
  readonly rows?: string;
  readonly json?: string;
}

export const endurance = new Command("endurance")
  .description(
    "Whether `tidemark serve` stays flat and answers all under mixed load, changes, idle connections and slow readers.",
  )
  .option("--rows <words>", "only the rows whose name has one of these, separated by commas")
  .option("--minutes <n>", "how long the mixed load lasts", positive, 30)
  .option("--short", "seconds instead of minutes", false)
  .option("--workers <n>", "how many processes answer", positive, 1)
  .option("--idle-connections <n>", "how many connections stay open without a request", positive, 10_000)
  .option("--slow-readers <n>", "how many connections read a large page slowly", positive, 200)
  .option("--silent-pipelines <n>", "how many connections send 1,000 requests and read nothing", positive, 50)
  .option(
    "--max-growth <n>",
    "fail if memory grows by more than this many mebibytes, and 16 KiB a connection",
    positive,
    128,
  )
  .option("--tidemark <command>", "how to start Tidemark; see the server case", COMMAND)
  .option("--install", "install nginx and wrk from Debian's packages if they are missing; needs root", false)
  .option("--json <file>", "where the results go (default: bench/results/endurance-<date>.json)")
  .action(measureEndurance);

async function measureEndurance({ json, install, ...options }: EnduranceOptions): Promise<void> {
  if (platform() !== "linux") throw new BenchFailure("Memory is read from /proc, which only Linux has.");
  if (install) installMissing([NGINX, WRK]);
  const missing = [NGINX, WRK].find((each) => !isInstalled(each));
  if (missing) throw new BenchFailure(`${missing.program} is missing. --install gets it from Debian.`);
  const machine = thisMachine();
  console.log(`${machine.cpu}, ${machine.cores} cores, load ${machine.loadBefore} before; Node ${machine.node}\n`);
  const long = { mixedSeconds: options.minutes * 60, crowdSeconds: 60, changeSeconds: 30 };
  const settings: EnduranceSettings = { ...options, ...(options.short ? SHORT : long) };
  const results: EnduranceResult[] = [];
  const failures: string[] = [];
  for (const { measure } of ENDURANCE_ROWS.filter(({ name }) => hasWord(name, options.rows))) {
    try {
      const result = await measure(settings);
      results.push(result);
      const [before, after] = [result.beforeBytes, result.afterBytes].map(inMebibytes);
      console.error(`${result.name}: ${before} MiB before, ${after} after; ${result.remarks}`);
    } catch (cause) {
      if (!(cause instanceof BenchFailure)) throw cause;
      console.error(`FAILED: ${cause.message}`);
      failures.push(cause.message);
    }
  }
  printTable(
    ["", "memory before", "peak", "after", "growth MiB", "descriptors", "requests"],
    results.map(({ name, beforeBytes, peakBytes, afterBytes, growthBytes, descriptorGrowth, requests }) => [
      name,
      ...[beforeBytes, peakBytes, afterBytes, growthBytes].map(inMebibytes),
      `${descriptorGrowth < 0 ? "" : "+"}${Math.round(descriptorGrowth)}`,
      requests.toLocaleString("en"),
    ]),
  );
  console.log("\nProportional set size of the server's whole process tree, in MiB, sampled while the load runs.");
  for (const { name, growthBytes, allowedBytes } of results) {
    if (growthBytes > options.maxGrowth * MIB + allowedBytes)
      failures.push(`${name}: memory grew by ${inMebibytes(growthBytes)} MiB.`);
  }
  writeResults(
    "endurance",
    { machine, settings: { ...settings, maxGrowthMiB: options.maxGrowth }, results, failures },
    json,
  );
  if (failures.length > 0) throw new BenchFailure(failures.join(" "));
}

function inMebibytes(bytes: number): string {
  return (bytes / MIB).toFixed(0);
}
