import { seededRandom } from "../../demo/data/seeded-random.ts";
import { startCdn } from "../../local/index.ts";
import { LOG_SETTINGS } from "../../worker/purges/log/log-settings.ts";
import { type Case, count } from "../frame/case.ts";
import { printTable } from "../frame/table.ts";
import { DiscreteEventClock } from "../simulated-pop/discrete-event-clock.ts";
import { DistantLog } from "../simulated-pop/distant-log.ts";
import { SKEW_MS } from "../simulated-pop/simulated-lease.ts";
import { countPop, type PopSettings, SimulatedPop } from "../simulated-pop/simulated-pop.ts";

/** The round trip from a PoP to the log. */
const LOG_MS = 100;
/** A longer wait is not a wait for a note of the request's own PoP. */
const LONG_WAIT_MS = 10;
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
/** The most that the measured reads of the simulated CDN may differ from the simulated ones, relative to those. */
const MAX_DEVIATION = 0.35;

export const logLoad: Case<{ readonly seconds: number }> = {
  name: "log-load",
  description:
    "How often the purge log is read: real leases in a discrete-event simulation, and a check in the simulated CDN.",
  options: [count("--seconds", "virtual seconds to count", 60)],
  needs: [],
  async measure({ seconds }) {
    const pops = [];
    for (const size of SIZES) {
      const alone = await readsOfPop({ ...size, leaseMs: 1000, sharing: "alone" }, seconds);
      const shared: number[] = [];
      for (const leaseMs of LEASES_MS) shared.push(await readsOfPop({ ...size, leaseMs, sharing: "shared" }, seconds));
      pops.push({ ...size, alone, shared });
    }
    console.log(`\nreads of the log per second and PoP, ${LOG_MS} ms away\n`);
    printTable(
      ["isolates, requests/s", "each alone, 1 s", ...LEASES_MS.map((ms) => `shared, ${ms / 1000} s`)],
      pops.map(({ isolates, requestsPerSecond, alone, shared }) => [
        `${isolates}, ${requestsPerSecond}`,
        ...[alone, ...shared].map((rate) => rate.toFixed(2)),
      ]),
    );

    const { readsPerSecond } = LOG_SETTINGS;
    const brief = Math.min(seconds, 30);
    const worlds = [
      await simulateWorld("one log", Number.POSITIVE_INFINITY, brief),
      await simulateWorld(`one log, longer leases above ${readsPerSecond} reads/s`, readsPerSecond, brief),
    ];
    console.log(
      `\n${WORLD.pops} PoPs with ${WORLD.isolates} isolates and ${WORLD.requestsPerSecond} requests/s each, lease 1 s\n`,
    );
    printTable(
      ["", "reads of the log/s at first", "later", "a purge settles in, s", "requests that wait"],
      worlds.map(({ name, readsAtFirst, readsLater, settlesInMs, waiting }) => [
        name,
        readsAtFirst.toFixed(0),
        readsLater.toFixed(0),
        (settlesInMs / 1000).toFixed(2),
        `${(waiting * 100).toFixed(1)} %`,
      ]),
    );

    const check = await measureInCdn();
    const { measured, simulated } = check;
    console.log("\nthe same in the simulated CDN and in the discrete-event simulation, with no latency in either\n");
    printTable(
      ["PoPs, isolates, requests/s each", "measured reads/s", "simulated"],
      [[`${check.pops}, ${check.isolates}, ${check.requestsPerSecond}`, measured.toFixed(2), simulated.toFixed(2)]],
    );
    const deviation = Math.abs(measured / simulated - 1);
    const failure = `The simulation deviates by ${(deviation * 100).toFixed(0)} % from the simulated CDN.`;
    return { results: { pops, worlds, check }, failures: deviation > MAX_DEVIATION ? [failure] : [] };
  },
};

async function readsOfPop(settings: PopSettings, seconds: number, logMs = LOG_MS): Promise<number> {
  const longer = seconds * Math.max(1, settings.leaseMs / 1000);
  return (await countPop(settings, { logMs, settlesAfterMs: SETTLES_AFTER_S * 1000, seconds: longer })).readsPerSecond;
}

/** Many PoPs before one log. `readsAtFirst`: in the first seconds after all isolates were replaced at once. */
async function simulateWorld(name: string, maxReadsPerSecond: number, seconds: number) {
  const clock = new DiscreteEventClock();
  const random = seededRandom(1).next;
  const log = new DistantLog(clock, LOG_MS, maxReadsPerSecond);
  const beginsAt = SETTLES_AFTER_S * 1000;
  const pops = Array.from(
    { length: WORLD.pops },
    () => new SimulatedPop(clock, random, log, { ...WORLD, leaseMs: 1000, sharing: "shared" }, beginsAt),
  );
  await clock.runUntil(BEGINNING_S * 1000);
  const readsAtFirst = log.reads / BEGINNING_S;
  await clock.runUntil(beginsAt);
  log.takeLongestLeaseMs();
  const before = log.reads;
  await clock.runUntil(beginsAt + seconds * 1000);
  const counts = pops.map((pop) => pop.counts);
  const requests = counts.reduce((sum, each) => sum + each.requests, 0);
  const waits = counts.flatMap(({ waitsMs }) => waitsMs.filter((ms) => ms > LONG_WAIT_MS)).length;
  return {
    name,
    readsAtFirst,
    readsLater: (log.reads - before) / seconds,
    settlesInMs: log.takeLongestLeaseMs() + SKEW_MS,
    waiting: waits / requests,
  };
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
