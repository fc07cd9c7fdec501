import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { startCdn } from "../../local/index.ts";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import type { LoadSettings } from "../load/load.ts";
import { chooseLoadGenerator, type LoadGenerator } from "../load/load-generator.ts";
import { requestUntilHit } from "../load/raw-request.ts";
import { positive } from "../options.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { thisMachine } from "../report/machine.ts";
import { median } from "../report/median.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";
import { bundleBenchWorker } from "../workers/bundle.ts";

const VIRTUAL_TIME_WORKER = fileURLToPath(new URL("../../local/runtime/virtual-time.worker.ts", import.meta.url));
const PAGE = "/page";
const REGIONS = ["nyc", "fra", "syd"] as const;
/** The most that a CDN of one region may take to start, at the median. */
const MAX_START_MS = 500;

interface CdnOptions extends LoadSettings {
  readonly starts: number;
  readonly rounds: number;
  readonly json?: string;
}

export const cdn = new Command("cdn")
  .description("The cost of the simulated CDN: starting it, closing it, advancing its time, and a hit on virtual time.")
  .option("--starts <n>", "how many CDNs of each kind to start", positive, 10)
  .option("--rounds <n>", "how many turns each row of requests has", positive, 5)
  .option("--seconds <n>", "how long a turn takes", positive, 1)
  .option("--connections <n>", "keep-alive connections", positive, 10)
  .option("--json <file>", "where the results go (default: bench/results/cdn-<date>.json)")
  .action(measureCdn);

async function measureCdn(options: CdnOptions): Promise<void> {
  const machine = thisMachine();
  const { cpu, cores, node, workerd, loadBefore } = machine;
  console.log(`${cpu}, ${cores} cores, load ${loadBefore} before; Node ${node}, workerd ${workerd}\n`);
  const lives = [await measureLives(["fra"], options.starts), await measureLives(REGIONS, options.starts)];
  printTable(
    ["", "start ms", "fastest", "slowest", 'advance("1h") ms', "close ms"],
    lives.map((life) => [
      `${life.regions} region${life.regions === 1 ? "" : "s"}`,
      ...[life.startMs, life.fastestMs, life.slowestMs, life.advanceMs, life.closeMs].map((ms) => ms.toFixed(0)),
    ]),
  );
  const generator = chooseLoadGenerator(false);
  console.log(`\nmemory hits, ${options.connections} connections, ${generator.name}\n`);
  const hits = await measureHits(generator, options);
  printTable(
    ["", "requests/s", "p99 ms"],
    hits.map(({ name, requestsPerSecond, p99Ms }) => [
      name,
      Math.round(requestsPerSecond).toLocaleString("en"),
      p99Ms.toFixed(2),
    ]),
  );
  const { json, ...settings } = options;
  writeResults("cdn", { machine, generator: generator.name, settings, lives, hits }, json);
  if (lives[0]!.startMs > MAX_START_MS) {
    throw new BenchFailure(`One region took ${lives[0]!.startMs.toFixed(0)} ms, more than ${MAX_START_MS}.`);
  }
}

interface Lives {
  readonly regions: number;
  readonly startMs: number;
  readonly fastestMs: number;
  readonly slowestMs: number;
  readonly advanceMs: number;
  readonly closeMs: number;
}

/** Medians over a number of CDNs, one after the other. The first bundles the worker for all of them, and is not counted. */
async function measureLives(regions: readonly string[], starts: number): Promise<Lives> {
  const [startMs, advanceMs, closeMs]: [number[], number[], number[]] = [[], [], []];
  for (let start = 0; start <= starts; start++) {
    const startedAt = performance.now();
    const started = await startCdn({ site: {}, regions });
    const readyAt = performance.now();
    await started.advance("1h");
    const advancedAt = performance.now();
    await started.close();
    if (start === 0) continue;
    startMs.push(readyAt - startedAt);
    advanceMs.push(advancedAt - readyAt);
    closeMs.push(performance.now() - advancedAt);
  }
  return {
    regions: regions.length,
    startMs: median(startMs),
    fastestMs: Math.min(...startMs),
    slowestMs: Math.max(...startMs),
    advanceMs: median(advanceMs),
    closeMs: median(closeMs),
  };
}

interface Hits {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

/** Hits of the same page in memory: in the deployed worker, in the one on virtual time, and in that behind its PoP's front. */
async function measureHits(generator: LoadGenerator, { rounds, ...settings }: CdnOptions): Promise<Hits[]> {
  const origin = new ScriptedOrigin(Date.now);
  const reply = { fields: { "cache-control": "max-age=86400" }, body: "x".repeat(1000) };
  origin.reply(PAGE, reply);
  await origin.comeUp();
  const edges: EdgeRuntime[] = [];
  const start = async (script: string): Promise<URL> => {
    const variables = {
      SITE: { origin: origin.url },
      TIDEMARK_HOSTS: "*",
      TIDEMARK_TOKEN: "bench-token-0123456789-abcdefghij",
    };
    const edge = await startEdgeRuntime({ script, variables }, { port: 0 });
    edges.push(edge);
    return edge.url;
  };
  try {
    const real = await start(await bundleBenchWorker("edge"));
    const virtual = await start(await bundleWorker(VIRTUAL_TIME_WORKER));
    await (await fetch(new URL(`/_virtual-time?now=${Date.now()}`, virtual))).text();
    await using simulated = await startCdn({ site: {}, origin: { [PAGE]: reply } });
    const rows = [
      { name: "real time", url: real },
      { name: "virtual time", url: virtual },
      { name: "virtual time, behind the PoP's front", url: new URL(simulated.url()) },
    ].map(({ name, url }) => ({ name, page: new URL(PAGE, url), rates: [] as number[], p99s: [] as number[] }));
    for (const { name, page } of rows) await requestUntilHit(name, page);
    for (let round = 0; round < rounds; round++) {
      for (const { name, page, rates, p99s } of rows) {
        const load = await generator.measure(page, settings);
        if (load.failures > 0) throw new BenchFailure(`${name}: ${load.failures} requests failed under load.`);
        rates.push(load.requestsPerSecond);
        p99s.push(load.p99Ms);
      }
    }
    return rows.map(({ name, rates, p99s }) => ({ name, requestsPerSecond: median(rates), p99Ms: median(p99s) }));
  } finally {
    await Promise.all(edges.map((edge) => edge.stop()));
    await origin.goDown();
  }
}
