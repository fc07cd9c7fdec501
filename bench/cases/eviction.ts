import { Command } from "commander";
import { EvictingMap } from "../../worker/store/evicting-map.ts";
import { LARGEST_SHARE } from "../../worker/store/memory-tier.ts";
import { Lru } from "../eviction/lru.ts";
import { offlineBound } from "../eviction/offline-bound.ts";
import type { Policy } from "../eviction/policy.ts";
import { S3Fifo } from "../eviction/s3-fifo.ts";
import { allTraffic, type Traffic } from "../eviction/traffic.ts";
import { WTinyLfu } from "../eviction/w-tinylfu.ts";
import { positive } from "../options.ts";
import { thisMachine } from "../report/machine.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";

/** The sizes of the cache, in pages of the mean size. */
const CACHE_PAGES = [250, 800, 3_000];
/** What a page takes on the average; see `traffic.ts`. */
const MEAN_PAGE_BYTES = 38_000;
/** Ours may be so far below the best online policy, in points by requests. */
const MAX_BEHIND = 1;

interface EvictionOptions {
  readonly requests: number;
  readonly seed: number;
  readonly json?: string;
}

/** Hit ratios in percent. */
interface Ratios {
  readonly byRequests: number;
  readonly byBytes: number;
  readonly nanosecondsPerRequest?: number;
}

interface EvictionResult {
  readonly traffic: string;
  readonly cachePages: number;
  readonly policies: Readonly<Record<string, Ratios>>;
  readonly bound: Ratios;
  /** Ours less the best of the other online policies, in points. */
  readonly ahead: Ratios;
}

/** The policy of the memory tier and of the disk. */
class Ours implements Policy {
  readonly name = "Tidemark";
  readonly #maxBytes: number;
  readonly #entries: EvictingMap<true>;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#entries = new EvictingMap(maxBytes);
  }

  request(page: number, bytes: number): boolean {
    const key = `https://www.example.com/page/${page}`;
    if (this.#entries.get(key)) return true;
    if (bytes <= this.#maxBytes * LARGEST_SHARE) this.#entries.set(key, true, bytes);
    return false;
  }
}

const POLICIES: readonly ((maxBytes: number) => Policy)[] = [
  (maxBytes) => new Ours(maxBytes),
  (maxBytes) => new Lru(maxBytes),
  (maxBytes) => new S3Fifo(maxBytes),
  (maxBytes) => new WTinyLfu(maxBytes),
];

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
    ["", "cache", ...names, "bound", "ahead"],
    results.map(({ traffic, cachePages, policies, bound, ahead }) => [
      traffic,
      String(cachePages),
      ...names.map((name) => inPercent(policies[name]!)),
      inPercent(bound),
      `${signed(ahead.byRequests)} / ${signed(ahead.byBytes)}`,
    ]),
  );
  const behind = results.filter(({ ahead }) => ahead.byRequests < 0);
  const tooFar = behind.filter(({ ahead }) => ahead.byRequests < -MAX_BEHIND);
  const least = Math.min(...results.map(({ ahead }) => ahead.byRequests));
  const leastBytes = Math.min(...results.map(({ ahead }) => ahead.byBytes));
  const lost = results.filter(({ ahead }) => ahead.byBytes < 0).length;
  console.log(
    `\nby requests behind the best other one in ${behind.length} of ${results.length} rows, by ${signed(least)} at most (${tooFar.length} by more than ${MAX_BEHIND});`,
  );
  console.log(`by bytes in ${lost}, by ${signed(leastBytes)} at most`);
  for (const name of names) {
    const times = results.map(({ policies }) => policies[name]!.nanosecondsPerRequest!);
    console.log(`${name}: ${Math.round(times.reduce((sum, each) => sum + each, 0) / times.length)} ns CPU a request`);
  }
  writeResults("eviction", { machine: thisMachine(), settings, results }, json);
}

function measure(traffic: Traffic, cachePages: number): EvictionResult {
  const maxBytes = cachePages * MEAN_PAGE_BYTES;
  const policies = Object.fromEntries(
    POLICIES.map((make) => {
      const policy = make(maxBytes);
      return [policy.name, play(traffic, policy)];
    }),
  );
  const [ours, ...others] = Object.values(policies);
  const best = (ratio: (ratios: Ratios) => number) => ratio(ours!) - Math.max(...others.map(ratio));
  const { byRequests, byBytes } = offlineBound(traffic, maxBytes);
  return {
    traffic: traffic.name,
    cachePages,
    policies,
    bound: { byRequests: byRequests * 100, byBytes: byBytes * 100 },
    ahead: { byRequests: best((ratios) => ratios.byRequests), byBytes: best((ratios) => ratios.byBytes) },
  };
}

function play({ pages, sizeBytes }: Traffic, policy: Policy): Ratios {
  let hits = 0;
  let hitBytes = 0;
  let allBytes = 0;
  const before = process.cpuUsage();
  for (const page of pages) {
    const bytes = sizeBytes[page]!;
    allBytes += bytes;
    if (!policy.request(page, bytes)) continue;
    hits++;
    hitBytes += bytes;
  }
  const { user, system } = process.cpuUsage(before);
  return {
    byRequests: (100 * hits) / pages.length,
    byBytes: (100 * hitBytes) / allBytes,
    nanosecondsPerRequest: ((user + system) * 1000) / pages.length,
  };
}

function inPercent({ byRequests, byBytes }: Ratios): string {
  return `${byRequests.toFixed(1)} / ${byBytes.toFixed(1)}`;
}

function signed(points: number): string {
  return `${points >= 0 ? "+" : "−"}${Math.abs(points).toFixed(1)}`;
}
