import { Option } from "commander";
import { ENDURANCE_ROWS, type EnduranceResult, type EnduranceSettings } from "../endurance/endurance-rows.ts";
import { BenchFailure } from "../frame/bench-failure.ts";
import { type Case, chosenBy, count, words } from "../frame/case.ts";
import { NGINX, WRK } from "../frame/programs.ts";
import { printTable } from "../frame/table.ts";
import { commandOption, SOURCES_COMMAND } from "../peers/tidemark.ts";

const MIB = 1024 ** 2;
/** Small bounds, so that both tiers are full, and evict, for most of the time. */
const COMMAND = `${SOURCES_COMMAND} --memory 64MiB --disk 512MiB`;

interface EnduranceOptions extends Omit<EnduranceSettings, "mixedSeconds" | "crowdSeconds"> {
  readonly minutes: number;
  readonly short?: true;
  readonly maxGrowth: number;
  readonly rows?: string;
}

export const endurance: Case<EnduranceOptions> = {
  name: "endurance",
  description:
    "Whether `tidemark serve` stays flat and answers all under mixed load, idle connections and slow readers.",
  options: [
    words("--rows", "only the rows whose name has one of these, separated by commas"),
    count("--minutes", "how long the mixed load lasts", 30),
    new Option("--short", "seconds instead of minutes"),
    count("--workers", "how many processes answer", 1),
    count("--idle-connections", "how many connections stay open after one request", 10_000),
    count("--slow-readers", "how many connections read a large page slowly", 200),
    count("--silent-pipelines", "how many connections send 1,000 requests and read nothing", 50),
    count("--max-growth", "fail if memory grows by more than this many mebibytes, and 16 KiB a connection", 128),
    commandOption(COMMAND),
  ],
  needs: [NGINX, WRK],
  async measure(options) {
    const lengths = options.short
      ? { mixedSeconds: 20, crowdSeconds: 5 }
      : { mixedSeconds: options.minutes * 60, crowdSeconds: 60 };
    const results: EnduranceResult[] = [];
    const failures: string[] = [];
    for (const { name, measure } of chosenBy(options.rows, ENDURANCE_ROWS)) {
      try {
        const result = await measure({ ...options, ...lengths });
        results.push(result);
        console.error(`${result.name}: ${result.remarks}`);
      } catch (cause) {
        if (!(cause instanceof BenchFailure)) throw cause;
        failures.push(`${name}: ${cause.message}`);
      }
    }
    console.log("\nproportional set size of the server's whole process tree, in MiB, sampled while the load runs\n");
    printTable(
      ["", "before", "peak", "after", "growth", "descriptors", "requests"],
      results.map(({ name, beforeBytes, peakBytes, afterBytes, growthBytes, descriptorGrowth, requests }) => [
        name,
        ...[beforeBytes, peakBytes, afterBytes, growthBytes].map(inMebibytes),
        `${descriptorGrowth < 0 ? "" : "+"}${Math.round(descriptorGrowth)}`,
        requests.toLocaleString("en"),
      ]),
    );
    for (const { name, growthBytes, allowedBytes } of results) {
      if (growthBytes > options.maxGrowth * MIB + allowedBytes)
        failures.push(`${name}: memory grew by ${inMebibytes(growthBytes)} MiB.`);
    }
    return { results: { results }, failures };
  },
};

function inMebibytes(bytes: number): string {
  return (bytes / MIB).toFixed(0);
}
