import { Command } from "commander";
import {
  bytesOfPages,
  type Comparison,
  compare,
  MAX_BEHIND,
  MAX_BEHIND_BY_BYTES,
  type Ratios,
} from "../eviction/comparison.ts";
import { offlineBound } from "../eviction/offline-bound.ts";
import { allTraffic, type Traffic } from "../eviction/traffic.ts";
import { positive } from "../options.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { thisMachine } from "../report/machine.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";

/** The sizes of the cache, in pages of the mean size. */
const CACHE_PAGES = [250, 800, 3_000];

interface EvictionOptions {
  readonly requests: number;
  readonly seed: number;
  readonly json?: string;
}

interface EvictionResult extends Comparison {
  readonly traffic: string;
  readonly cachePages: number;
  readonly bound: Ratios;
}

export const eviction = new Command("eviction")
  .description("Hit ratios by requests and by bytes, beside LRU, S3-FIFO, W-TinyLFU and the offline bound.")
  .option("--requests <n>", "how many requests each kind of traffic has", positive, 300_000)
  .option("--seed <n>", "the seed of the traffic", positive, 1)
  .option("--json <file>", "where the results go (default: bench/results/eviction-<date>.json)")
  .action(measureEviction);

function measureEviction({ json, ...settings }: EvictionOptions): void {
  console.log(`${settings.requests.toLocaleString("en")} requests a row, seed ${settings.seed}`);
  console.log("hit ratios in percent, by requests / by bytes; the cache in pages of the mean size, 38 KB");
  console.log("bound: PFOO-L, which no policy can exceed, even one that knows all requests in advance\n");
  const results = allTraffic(settings.requests, settings.seed).flatMap((traffic) =>
    CACHE_PAGES.map((cachePages) => measure(traffic, cachePages)),
  );
  const names = Object.keys(results[0]!.policies);
  printTable(
    ["", "cache", ...names, "bound", "ahead", ""],
    results.map((result) => [
      result.traffic,
      String(result.cachePages),
      ...names.map((name) => inPercent(result.policies[name]!)),
      inPercent(result.bound),
      `${signed(result.ahead.byRequests)} / ${signed(result.ahead.byBytes)}`,
      missedBy(result) ?? (result.ahead.byBytes < 0 ? "met, behind by bytes" : "met"),
    ]),
  );
  const least = Math.min(...results.map(({ ahead }) => ahead.byRequests));
  const leastBytes = Math.min(...results.map(({ ahead }) => ahead.byBytes));
  const behind = results.filter(({ ahead }) => ahead.byRequests < 0).length;
  const behindByBytes = results.filter(({ ahead }) => ahead.byBytes < 0).length;
  console.log(`
Promised by requests: the best of the online policies, or behind it by ${MAX_BEHIND} at most. Behind in ${behind} of ${results.length} rows, by ${signed(least)} at most.
"behind by bytes", by ${MAX_BEHIND_BY_BYTES} at most, is the price of docs/decisions/0020: ${behindByBytes} rows, by ${signed(leastBytes)} at most.`);
  for (const name of names) {
    const times = results.map(({ policies }) => policies[name]!.nanosecondsPerRequest!);
    console.log(`${name}: ${Math.round(times.reduce((sum, each) => sum + each, 0) / times.length)} ns CPU a request`);
  }
  writeResults("eviction", { machine: thisMachine(), settings, results }, json);
  const missed = results.filter((result) => missedBy(result) !== null);
  if (missed.length === 0) return;
  const rows = missed.map((result) => `${result.traffic} (${result.cachePages} pages) ${missedBy(result)}`);
  throw new BenchFailure(`${missed.length} of ${results.length} rows do not keep the promise: ${rows.join("; ")}.`);
}

function measure(traffic: Traffic, cachePages: number): EvictionResult {
  const maxBytes = bytesOfPages(cachePages);
  const { byRequests, byBytes } = offlineBound(traffic, maxBytes);
  const bound = { byRequests: byRequests * 100, byBytes: byBytes * 100 };
  return { traffic: traffic.name, cachePages, ...compare(traffic, maxBytes), bound };
}

/** What a row is too far behind by; `null` if it keeps the promise. */
function missedBy({ ahead: { byRequests, byBytes } }: EvictionResult): string | null {
  if (byRequests < -MAX_BEHIND) return "MISSED by requests";
  return byBytes < -MAX_BEHIND_BY_BYTES ? "MISSED by bytes" : null;
}

function inPercent({ byRequests, byBytes }: Ratios): string {
  return `${byRequests.toFixed(1)} / ${byBytes.toFixed(1)}`;
}

function signed(points: number): string {
  return `${points >= 0 ? "+" : "−"}${Math.abs(points).toFixed(1)}`;
}
