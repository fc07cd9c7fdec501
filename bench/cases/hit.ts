import { Command, Option } from "commander";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { storeFiles } from "../hit/files.ts";
import { type HitRows, pagesFetched, type Row, startHitRows } from "../hit/hit-rows.ts";
import { assertNeverStale } from "../hit/never-stale.ts";
import { pageOfBytes } from "../inputs/page-of-bytes.ts";
import type { Load, LoadSettings } from "../load/load.ts";
import { chooseLoadGenerator, type LoadGenerator } from "../load/load-generator.ts";
import { measureFilesWithWrk } from "../load/wrk.ts";
import { positive } from "../options.ts";
import { listeningProcess } from "../processes/listening-process.ts";
import { cpuSecondsOfTree } from "../processes/process-tree.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { type Machine, thisMachine } from "../report/machine.ts";
import { median } from "../report/median.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";

const BODY_BYTES = { "1KB": 1000, "10KB": 10_000, "100KB": 100_000 } as const;
/** A worker that answers a thousand requests a second is slower in its first seconds: the engine compiles what is called often. */
const WARM_UP_SECONDS = 5;
/** Above this share of a core, the figures may be those of the load generator. */
const CLIENT_BOUND_CPU = 0.9;

interface HitOptions extends LoadSettings {
  readonly rounds: number;
  readonly body: keyof typeof BODY_BYTES;
  /** 0 for one page. */
  readonly files: number;
  readonly install: boolean;
  readonly json?: string;
}

interface MeasuredLoad extends Load {
  readonly cpuUs: number;
}

/** The result of a row over all rounds. */
interface HitResult {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The median of the ratios of each round, because other work on the machine disturbs both sides of a round. */
  readonly toConstant: number;
  readonly toUsual: number;
  readonly toNamed: number;
  /** The CPU time of the runtime for a request, in microseconds, and its ratio to that of the usual worker. */
  readonly cpuUs: number;
  readonly cpuToUsual: number;
  readonly cpuToNamed: number;
  readonly generatorCpu: number;
  readonly clientBound: boolean;
  readonly rounds: readonly MeasuredLoad[];
}

export const hit = new Command("hit")
  .description(
    "The cost of a hit, from memory and from the Cache API, beside a constant responder and a hand-written cache worker.",
  )
  .option("--rounds <n>", "how many turns each row has", positive, 10)
  .option("--seconds <n>", "how long a turn takes", positive, 1)
  .option("--connections <n>", "keep-alive connections", positive, 10)
  .addOption(new Option("--body <size>", "the size of the page").choices(Object.keys(BODY_BYTES)).default("1KB"))
  .option("--files <n>", "request so many different pages, in random order; needs wrk", positive)
  .option("--install", "install wrk from Debian's packages if it is missing; needs root", false)
  .option("--json <file>", "where the results go (default: bench/results/hit-<date>.json)")
  .action(measureHits);

async function measureHits(options: HitOptions): Promise<void> {
  const machine = thisMachine();
  const generator = chooseLoadGenerator(options.install);
  printSettings(machine, generator, options);
  const origin = new ScriptedOrigin(() => Date.now());
  await origin.comeUp();
  try {
    const rows = await startHitRows(origin, pageOfBytes(BODY_BYTES[options.body]));
    try {
      if (options.files) for (const row of rows.all) await storeFiles(row, options.files);
      const results = summarize(rows, await measureRounds(rows, origin, generator, options));
      printResults(results);
      const { json, install: _, ...settings } = options;
      writeResults("hit", { machine, generator: generator.name, settings, results }, json);
    } finally {
      await rows.stop();
    }
  } finally {
    await origin.goDown();
  }
}

/** Measures each row once a round. The order rotates: each round begins with the row after that of the last round. */
async function measureRounds(
  { all, edges }: HitRows,
  origin: ScriptedOrigin,
  generator: LoadGenerator,
  options: HitOptions,
): Promise<Map<Row, MeasuredLoad[]>> {
  const loads = new Map<Row, MeasuredLoad[]>(all.map((row) => [row, []]));
  for (const row of all) await measureRow(row, origin, generator, { ...options, seconds: WARM_UP_SECONDS });
  for (let round = 0; round < options.rounds; round++) {
    await Promise.all(edges.map((edge) => assertNeverStale(edge, origin, round)));
    for (const turn of all.keys()) {
      const row = all[(round + turn) % all.length]!;
      loads.get(row)!.push(await measureRow(row, origin, generator, options));
    }
    console.error(`round ${round + 1} of ${options.rounds}: nothing purged or expired was served`);
  }
  return loads;
}

/** Measures one turn. Fails if a request failed or reached the origin, because then not all of them were hits. */
async function measureRow(
  { name, page }: Row,
  origin: ScriptedOrigin,
  generator: LoadGenerator,
  settings: LoadSettings & Pick<HitOptions, "files">,
): Promise<MeasuredLoad> {
  const fetchedBefore = pagesFetched(origin);
  const runtime = listeningProcess(Number(page.port));
  const cpuBefore = cpuSecondsOfTree(runtime);
  const { files } = settings;
  const load = files ? await measureFilesWithWrk(page, files, settings) : await generator.measure(page, settings);
  const cpuSeconds = cpuSecondsOfTree(runtime) - cpuBefore;
  if (load.failures > 0) throw new BenchFailure(`${name}: ${load.failures} requests failed under load.`);
  const fetched = pagesFetched(origin) - fetchedBefore;
  if (fetched > 0) throw new BenchFailure(`${name}: ${fetched} requests went to the origin under load.`);
  return { ...load, cpuUs: (cpuSeconds * 1e6) / load.requests };
}

function summarize(
  { constant, usual, named, all }: HitRows,
  loads: ReadonlyMap<Row, readonly MeasuredLoad[]>,
): HitResult[] {
  const ofConstant = loads.get(constant)!;
  const ofUsual = loads.get(usual)!;
  const ofNamed = loads.get(named)!;
  return all.map((row) => {
    const rounds = loads.get(row)!;
    const middle = (value: (load: MeasuredLoad, round: number) => number) => median(rounds.map(value));
    return {
      name: row.name,
      requestsPerSecond: middle((load) => load.requestsPerSecond),
      p50Ms: middle((load) => load.p50Ms),
      p99Ms: middle((load) => load.p99Ms),
      toConstant: middle((load, round) => load.requestsPerSecond / ofConstant[round]!.requestsPerSecond),
      toUsual: middle((load, round) => load.requestsPerSecond / ofUsual[round]!.requestsPerSecond),
      toNamed: middle((load, round) => load.requestsPerSecond / ofNamed[round]!.requestsPerSecond),
      cpuUs: middle((load) => load.cpuUs),
      cpuToUsual: middle((load, round) => load.cpuUs / ofUsual[round]!.cpuUs),
      cpuToNamed: middle((load, round) => load.cpuUs / ofNamed[round]!.cpuUs),
      generatorCpu: middle((load) => load.generatorCpu),
      clientBound: middle((load) => load.generatorCpu) > CLIENT_BOUND_CPU,
      rounds,
    };
  });
}

function printSettings(machine: Machine, generator: LoadGenerator, options: HitOptions): void {
  const { cpu, cores, system, node, workerd, loadBefore } = machine;
  console.log(
    `${cpu}, ${cores} cores, nothing pinned, load ${loadBefore} before; ${system}; Node ${node}, workerd ${workerd}`,
  );
  console.log(`load generator: ${generator.name}`);
  const { body, connections, rounds, seconds } = options;
  console.log(`${body} body, ${connections} connections, ${rounds} rounds of ${seconds} s a row, in turn; medians\n`);
}

function printResults(results: readonly HitResult[]): void {
  const columns = [
    "",
    "requests/s",
    "p50 ms",
    "p99 ms",
    "to constant",
    "to usual",
    "to X-Cache",
    "CPU µs/request",
    "to usual",
    "to X-Cache",
    "generator CPU",
    "",
  ];
  const cells = results.map((result) => [
    result.name,
    Math.round(result.requestsPerSecond).toLocaleString("en"),
    result.p50Ms.toFixed(2),
    result.p99Ms.toFixed(2),
    result.toConstant.toFixed(2),
    result.toUsual.toFixed(2),
    result.toNamed.toFixed(2),
    result.cpuUs.toFixed(0),
    result.cpuToUsual.toFixed(2),
    result.cpuToNamed.toFixed(2),
    `${Math.round(result.generatorCpu * 100)} %`,
    result.clientBound ? "client-bound" : "",
  ]);
  printTable(columns, cells);
}
