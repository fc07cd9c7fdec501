import { Command } from "commander";
import { seededRandom } from "../../demo/data/seeded-random.ts";
import { ROUND_TRIPS } from "../../local/cdn/latency.ts";
import { median } from "../report/median.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";
import { DiscreteEventClock } from "../simulated-pop/discrete-event-clock.ts";
import { DistantLog } from "../simulated-pop/distant-log.ts";
import { NOTE_READ_MS, SimulatedPop } from "../simulated-pop/simulated-pop.ts";

const RATES = [0.1, 1, 10] as const;
const ISOLATES = [1, 4] as const;
/** Leases, and bounds of a route, for a PoP in Frankfurt. */
const BOUNDS = [
  { name: "lease 1 s", leaseMs: 1000, maxViewAgeMs: 1000 },
  { name: "lease 5 s", leaseMs: 5000, maxViewAgeMs: 5000 },
  { name: "lease 30 s", leaseMs: 30_000, maxViewAgeMs: 30_000 },
  { name: "lease 1 s, maxViewAge 60 s", leaseMs: 1000, maxViewAgeMs: 60_000 },
  { name: "lease 1 s, maxViewAge 10 min", leaseMs: 1000, maxViewAgeMs: 600_000 },
  { name: "lease 1 s, view kept for 5 s", leaseMs: 1000, maxViewAgeMs: 1000, keepViewMs: 5000 },
  { name: "lease 1 s, view kept for 20 s", leaseMs: 1000, maxViewAgeMs: 1000, keepViewMs: 20_000 },
  { name: "lease 1 s, pushed, kept for 5 s", leaseMs: 1000, maxViewAgeMs: 1000, keepViewMs: 5000, push: true },
  { name: "lease 1 s, pushed, kept for 20 s", leaseMs: 1000, maxViewAgeMs: 1000, keepViewMs: 20_000, push: true },
] as const;
const LEASE_MS = 1000;
const SETTLES_AFTER_MS = 60_000;

interface Row {
  readonly name: string;
  readonly isolates: number;
  readonly requestsPerSecond: number;
  readonly leaseMs: number;
  readonly maxViewAgeMs: number;
  readonly logMs: number;
  /** The share of requests that wait, from 0 to 1. A wait for the PoP's own notes runs beside the look-up of the page. */
  readonly waiting: number;
  /** The share that waits longer than for those notes: for the log, or for the copy of an isolate that reads the log. */
  readonly waitingForLog: number;
  readonly medianMs: number;
  readonly meanMsOfAll: number;
  readonly readsPerSecond: number;
}

export const quiet = new Command("quiet")
  .description(
    "How many requests of a quiet PoP wait for the purge log, and how long: real leases in a discrete-event simulation.",
  )
  .option("--requests <n>", "requests to count for each figure", Number, 4000)
  .option("--json <file>", "where the results go (default: bench/results/quiet-<date>.json)")
  .action(simulateQuietPops);

async function simulateQuietPops({ requests, json }: { requests: number; json?: string }): Promise<void> {
  const cities: Row[] = [];
  for (const [name, { logMs }] of Object.entries(ROUND_TRIPS)) {
    for (const isolates of ISOLATES) {
      for (const requestsPerSecond of RATES) {
        const bound = { leaseMs: LEASE_MS, maxViewAgeMs: LEASE_MS };
        cities.push(await simulate({ name, isolates, requestsPerSecond, logMs, ...bound }, requests));
      }
    }
  }
  console.log("a lease of 1 s: requests that wait for the purge log, and their median wait\n");
  print("city, round trip", cities, ({ name, logMs }) => `${name}, ${logMs} ms`);
  const { logMs } = ROUND_TRIPS.fra!;
  const bounds: Row[] = [];
  for (const bound of BOUNDS) {
    for (const isolates of ISOLATES) {
      for (const requestsPerSecond of RATES) {
        bounds.push(await simulate({ isolates, requestsPerSecond, logMs, ...bound }, requests));
      }
    }
  }
  console.log("\nfra, with longer bounds\n");
  print("bound", bounds, ({ name }) => name);
  writeResults("quiet", { settings: { requests }, cities, bounds }, json);
}

interface Setting extends Pick<Row, "name" | "isolates" | "requestsPerSecond" | "leaseMs" | "maxViewAgeMs" | "logMs"> {
  readonly keepViewMs?: number;
  readonly push?: boolean;
}

async function simulate(setting: Setting, requests: number): Promise<Row> {
  const { isolates, requestsPerSecond, leaseMs, maxViewAgeMs, logMs, keepViewMs = 0, push = false } = setting;
  const clock = new DiscreteEventClock();
  const log = new DistantLog(clock, logMs);
  const settlesAt = SETTLES_AFTER_MS * Math.max(1, isolates / requestsPerSecond);
  const settings = { isolates, requestsPerSecond, leaseMs, maxViewAgeMs, keepViewMs, push, sharing: "shared" } as const;
  const pop = new SimulatedPop(clock, seededRandom(1).next, log, settings, settlesAt);
  await clock.runUntil(settlesAt);
  const readsBefore = log.reads;
  const seconds = requests / requestsPerSecond;
  await clock.runUntil(settlesAt + seconds * 1000);
  const { requests: counted, waitsMs } = pop.counts;
  const forLog = waitsMs.filter((ms) => ms > NOTE_READ_MS);
  return {
    ...setting,
    waiting: waitsMs.length / counted,
    waitingForLog: forLog.length / counted,
    medianMs: forLog.length === 0 ? 0 : median(forLog),
    meanMsOfAll: waitsMs.reduce((sum, ms) => sum + ms, 0) / counted,
    readsPerSecond: (log.reads - readsBefore) / seconds,
  };
}

function print(first: string, rows: readonly Row[], nameOf: (row: Row) => string): void {
  const names = [...new Set(rows.map(nameOf))];
  const columns = ISOLATES.flatMap((isolates) => RATES.map((rate) => ({ isolates, rate })));
  printTable(
    [first, ...columns.map(({ isolates, rate }) => `${isolates} × ${rate}/s`)],
    names.map((name) => [
      name,
      ...columns.map(({ isolates, rate }) => {
        const row = rows.find(
          (each) => nameOf(each) === name && each.isolates === isolates && each.requestsPerSecond === rate,
        )!;
        return `${(row.waitingForLog * 100).toFixed(1)} %, ${Math.round(row.medianMs)} ms (${row.readsPerSecond.toFixed(2)}/s)`;
      }),
    ]),
  );
}
