import { Command } from "commander";
import { seededRandom } from "../../demo/data/seeded-random.ts";
import { startCdn } from "../../local/index.ts";
import type { PurgeLogClient } from "../../worker/purges/log/log-contract.ts";
import { LOG_SETTINGS } from "../../worker/purges/log/log-settings.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";
import { DiscreteEventClock } from "../simulated-pop/discrete-event-clock.ts";
import { DistantLog, SimulatedRelay } from "../simulated-pop/distant-log.ts";
import { type PopSettings, SimulatedPop, SKEW_MS } from "../simulated-pop/simulated-pop.ts";

/** The round trip from a PoP or a relay to the log, and that from a PoP to its relay. */
const LOG_MS = 100;
const RELAY_MS = 20;
const SETTLES_AFTER_S = 20;
/** The first seconds, in which all isolates have just started and hold no view. */
const BEGINNING_S = 5;
const SIZES = [
  { isolates: 1, requestsPerSecond: 10 },
  { isolates: 4, requestsPerSecond: 10 },
  { isolates: 4, requestsPerSecond: 100 },
  { isolates: 30, requestsPerSecond: 1 },
  { isolates: 30, requestsPerSecond: 30 },
  { isolates: 30, requestsPerSecond: 300 },
  { isolates: 50, requestsPerSecond: 1000 },
  { isolates: 200, requestsPerSecond: 4000 },
] as const;
const LEASES_MS = [1000, 2000, 5000, 10_000, 30_000] as const;
const WORLD = { pops: 300, isolates: 30, requestsPerSecond: 30 } as const;
const RELAYS = [
  { regions: 8, leaseMs: 250 },
  { regions: 8, leaseMs: 1000 },
  { regions: 30, leaseMs: 1000 },
] as const;
/** The most that the measured reads of the simulated CDN may differ from the simulated ones, relative to those. */
const MAX_DEVIATION = 0.35;

interface LoadOptions {
  readonly seconds: number;
  readonly json?: string;
}

export const logLoad = new Command("log-load")
  .description(
    "How often the purge log is read: real leases in a discrete-event simulation, and a check in the simulated CDN.",
  )
  .option("--seconds <n>", "virtual seconds to count", Number, 60)
  .option("--json <file>", "where the results go (default: bench/results/log-load-<date>.json)")
  .action(simulateLoad);

async function simulateLoad({ seconds, json }: LoadOptions): Promise<void> {
  const pops = [];
  for (const size of SIZES) {
    const rates = [];
    for (const leaseMs of LEASES_MS) rates.push(await readsOfPop({ ...size, leaseMs, sharing: "shared" }, seconds));
    const alone = await readsOfPop({ ...size, leaseMs: 1000, sharing: "alone" }, seconds);
    pops.push({ ...size, alone, shared: rates });
  }
  console.log(`reads of the log per second and PoP, ${LOG_MS} ms away\n`);
  printTable(
    ["isolates, requests/s", "each alone, 1 s", ...LEASES_MS.map((ms) => `shared, ${ms / 1000} s`)],
    pops.map(({ isolates, requestsPerSecond, alone, shared }) => [
      `${isolates}, ${requestsPerSecond}`,
      ...[alone, ...shared].map((rate) => rate.toFixed(2)),
    ]),
  );

  const worlds = await simulateWorlds(Math.min(seconds, 30));
  console.log(
    `\n${WORLD.pops} PoPs with ${WORLD.isolates} isolates and ${WORLD.requestsPerSecond} requests/s each, lease 1 s\n`,
  );
  printTable(
    ["", "reads of the log/s at first", "later", "of a relay/s", "a purge settles in, s", "requests that wait"],
    worlds.map(({ name, readsAtFirst, logReads, relayReads, settlesInMs, waiting }) => [
      name,
      readsAtFirst.toFixed(0),
      logReads.toFixed(0),
      relayReads === null ? "" : relayReads.toFixed(0),
      (settlesInMs / 1000).toFixed(2),
      `${(waiting * 100).toFixed(1)} %`,
    ]),
  );

  const check = await measureInCdn();
  console.log("\nthe same in the simulated CDN and in the discrete-event simulation, with no latency in either\n");
  printTable(
    ["PoPs, isolates, requests/s each", "measured reads/s", "simulated"],
    [
      [
        `${check.pops}, ${check.isolates}, ${check.requestsPerSecond}`,
        check.measured.toFixed(2),
        check.simulated.toFixed(2),
      ],
    ],
  );
  writeResults("log-load", { settings: { seconds, logMs: LOG_MS, relayMs: RELAY_MS }, pops, worlds, check }, json);
  const deviation = Math.abs(check.measured / check.simulated - 1);
  if (deviation > MAX_DEVIATION)
    throw new BenchFailure(`The simulation deviates by ${(deviation * 100).toFixed(0)} % from the simulated CDN.`);
}

async function readsOfPop(settings: PopSettings, seconds: number, logMs = LOG_MS): Promise<number> {
  const clock = new DiscreteEventClock();
  const log = new DistantLog(clock, logMs);
  new SimulatedPop(clock, seededRandom(1).next, log, settings, 0);
  await clock.runUntil(SETTLES_AFTER_S * 1000);
  const before = log.reads;
  const longer = seconds * Math.max(1, settings.leaseMs / 1000);
  await clock.runUntil((SETTLES_AFTER_S + longer) * 1000);
  return (log.reads - before) / longer;
}

interface SimulatedWorld {
  readonly name: string;
  /** Reads of the log per second in the first seconds after all isolates were replaced at once. */
  readonly readsAtFirst: number;
  readonly logReads: number;
  readonly relayReads: number | null;
  readonly settlesInMs: number;
  readonly waiting: number;
}

async function simulateWorlds(seconds: number): Promise<SimulatedWorld[]> {
  const { readsPerSecond } = LOG_SETTINGS;
  const worlds = [
    await simulateWorld("one log", Number.POSITIVE_INFINITY, null, seconds),
    await simulateWorld(`one log, longer leases above ${readsPerSecond} reads/s`, readsPerSecond, null, seconds),
  ];
  for (const relays of RELAYS) {
    const name = `${relays.regions} relays with a lease of ${relays.leaseMs} ms`;
    worlds.push(await simulateWorld(name, Number.POSITIVE_INFINITY, relays, seconds));
  }
  return worlds;
}

async function simulateWorld(
  name: string,
  maxReadsPerSecond: number,
  relay: (typeof RELAYS)[number] | null,
  seconds: number,
): Promise<SimulatedWorld> {
  const leaseMs = 1000;
  const clock = new DiscreteEventClock();
  const random = seededRandom(1).next;
  const log = new DistantLog(clock, LOG_MS, maxReadsPerSecond);
  const relays = Array.from(
    { length: relay?.regions ?? 0 },
    () => new SimulatedRelay(clock, log, RELAY_MS, relay!.leaseMs),
  );
  const beginsAt = SETTLES_AFTER_S * 1000;
  const pops = Array.from({ length: WORLD.pops }, (_, index) => {
    const read: PurgeLogClient = relays[index % relays.length] ?? log;
    return new SimulatedPop(clock, random, read, { ...WORLD, leaseMs, sharing: "shared" }, beginsAt);
  });
  await clock.runUntil(BEGINNING_S * 1000);
  const readsAtFirst = log.reads / BEGINNING_S;
  await clock.runUntil(beginsAt);
  log.takeLongestLeaseMs();
  const before = { log: log.reads, relays: readsOf(relays) };
  await clock.runUntil(beginsAt + seconds * 1000);
  const counts = pops.map((pop) => pop.counts);
  const requests = counts.reduce((sum, each) => sum + each.requests, 0);
  const waits = counts.flatMap(({ waitsMs }) => waitsMs.filter((ms) => ms > RELAY_MS / 2)).length;
  return {
    name,
    readsAtFirst,
    logReads: (log.reads - before.log) / seconds,
    relayReads: relay === null ? null : (readsOf(relays) - before.relays) / relays.length / seconds,
    settlesInMs: (relay ? leaseMs + relay.leaseMs : log.takeLongestLeaseMs()) + SKEW_MS,
    waiting: waits / requests,
  };
}

function readsOf(relays: readonly SimulatedRelay[]): number {
  return relays.reduce((sum, { reads }) => sum + reads, 0);
}

/** Measures a few PoPs of the real worker, whose time advances in steps, with one request to each PoP in each step. */
async function measureInCdn() {
  const [isolates, requestsPerSecond, seconds] = [4, 20, 20];
  const regions = ["fra", "syd"] as const;
  const leaseMs = 1000;
  const page = { fields: { "cache-control": "max-age=86400" }, body: "page" };
  await using cdn = await startCdn({ site: { purge: { leaseMs } }, regions, isolates, origin: { "/": page } });
  const random = seededRandom(1);
  for (const from of regions)
    for (let isolate = 0; isolate < isolates; isolate++) await cdn.get("/", { from, isolate });
  const reads = async () => {
    let sum = 0;
    for (const from of regions) {
      for (let isolate = 0; isolate < isolates; isolate++) sum += (await cdn.stats(from, isolate)).log.reads;
    }
    return sum;
  };
  const before = await reads();
  for (let step = 0; step < seconds * requestsPerSecond; step++) {
    await cdn.advance(`${1000 / requestsPerSecond}ms`);
    for (const from of regions) await cdn.get("/", { from, isolate: random.between(0, isolates - 1) });
  }
  const measured = ((await reads()) - before) / seconds / regions.length;
  const simulated = await readsOfPop({ isolates, requestsPerSecond, leaseMs, sharing: "at-once" }, 600, 0);
  return { pops: regions.length, isolates, requestsPerSecond, measured, simulated };
}
