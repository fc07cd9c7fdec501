import { Command } from "commander";
import { seededRandom } from "../../demo/data/seeded-random.ts";
import { ROUND_TRIPS } from "../../local/cdn/latency.ts";
import { PopSharing } from "../../worker/purges/lease/pop-sharing.ts";
import { ReadYourWritesLog } from "../../worker/purges/lease/read-your-writes-log.ts";
import { ViewLease } from "../../worker/purges/lease/view-lease.ts";
import { PurgeView } from "../../worker/purges/view/purge-view.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";
import { DiscreteEventClock } from "../simulated-pop/discrete-event-clock.ts";
import { fetchesInLogOutage } from "../simulated-pop/log-outage.ts";
import {
  assertNoneLate,
  PURGE_COLUMNS,
  type PurgeFigures,
  PurgeTimes,
  purgeCells,
} from "../simulated-pop/purge-times.ts";
import { PushingLog } from "../simulated-pop/pushing-log.ts";
import { SKEW_MS, sharedNotes } from "../simulated-pop/simulated-pop.ts";

/** The city in which the backend purges, far from the log. */
const PURGED_IN = "fra";
const LEASE_MS = 1000;
const KEEP_MS = 20_000;
const OUTAGES_S = [1, 10, 60, 120];
/** Until all isolates are at work. */
const SETTLES_AFTER_MS = 10_000;

interface PushRow extends PurgeFigures {
  readonly name: string;
  readonly isolates: number;
  readonly push: boolean;
  readonly billedPerSecondAndPop: number;
}

export const push = new Command("push")
  .description(
    "How soon all isolates see a purge that the log pushes, how soon its receipt settles, and how often the log is asked.",
  )
  .option("--purges <n>", "purges for each row", Number, 300)
  .option("--json <file>", "where the results go (default: bench/results/push-<date>.json)")
  .action(async ({ purges, json }: { purges: number; json?: string }) => {
    const rows: PushRow[] = [];
    for (const isolates of [1, 3]) {
      for (const isPushed of [false, true]) rows.push(await simulate({ isolates, push: isPushed, purges, rate: 10 }));
    }
    rows.push(await simulate({ isolates: 1, push: true, purges, rate: 1 }));
    rows.push(await simulate({ isolates: 3, push: true, purges, rate: 10, restartEveryMs: 20_000 }));
    rows.push(await simulate({ isolates: 100, push: true, purges: Math.min(purges, 20), rate: 0.5 }));
    printTable(
      ["seven cities", ...PURGE_COLUMNS, "billed/s and PoP"],
      rows.map((row) => [row.name, ...purgeCells(row), row.billedPerSecondAndPop.toFixed(3)]),
    );
    const outages = await Promise.all(
      OUTAGES_S.map(async (seconds) => ({
        seconds,
        read: await fetchesInLogOutage(seconds * 1000, false),
        pushed: await fetchesInLogOutage(seconds * 1000, true),
      })),
    );
    console.log(
      "\nrequests to the origin while the log is silent; 1,000 requests/s for 100 stored pages, 4 isolates\n",
    );
    printTable(
      ["silent for", "read", "pushed"],
      outages.map(({ seconds, read, pushed }) => [`${seconds} s`, String(read), String(pushed)]),
    );
    writeResults("push", { settings: { purges }, rows, outages }, json);
    assertNoneLate(rows);
  });

interface Setting {
  readonly isolates: number;
  readonly push: boolean;
  readonly purges: number;
  /** Requests to an isolate in a second. */
  readonly rate: number;
  readonly restartEveryMs?: number;
}

interface SimulatedReader {
  readonly lease: ViewLease;
  readonly log: ReadYourWritesLog;
  readonly city: string;
}

async function simulate({ isolates, push, purges, rate, restartEveryMs }: Setting): Promise<PushRow> {
  const clock = new DiscreteEventClock();
  const random = seededRandom(1).next;
  const log = new PushingLog(clock, random);
  const readers: SimulatedReader[] = [];
  const times = new PurgeTimes(clock, log);
  for (const [city, { logMs }] of Object.entries(ROUND_TRIPS)) {
    const notes = sharedNotes(clock);
    for (let index = 0; index < isolates; index++) {
      const settings = { leaseMs: LEASE_MS, skewMs: SKEW_MS, push, ...(push && { keepViewMs: KEEP_MS }) };
      const reporter = { report: () => undefined };
      const pop = new PopSharing(notes, settings, clock, reporter);
      const view = new PurgeView(64 * 1024);
      const client = log.at(logMs, () => times.noteNews(lease));
      const lease: ViewLease = new ViewLease({ settings, view, log: client, pop, clock, random, reporter });
      readers.push({ lease, log: new ReadYourWritesLog(client, view, lease, SKEW_MS), city });
    }
  }
  const visit = (lease: ViewLease) => {
    times.use(lease);
    clock.at(clock.now() + (-Math.log(1 - random()) * 1000) / rate, () => visit(lease));
  };
  for (const { lease } of readers) clock.at(random() * 1000, () => visit(lease));
  const purger = readers.find(({ city }) => city === PURGED_IN)!;
  const purge = () => times.purge(purger.log, readers, ROUND_TRIPS[PURGED_IN]!);
  await clock.runUntil(SETTLES_AFTER_MS);
  const [billedBefore, from] = [log.billed, clock.now()];
  for (let number = 0; number < purges; number++) {
    clock.at(from + number * 2000 + random() * 1000, () => void purge());
    if (restartEveryMs && (number * 2000) % restartEveryMs === 0) clock.at(from + number * 2000, () => log.restart());
  }
  const seconds = purges * 2 + 3;
  await clock.runUntil(from + seconds * 1000);
  const billed = log.billed - billedBefore - 2 * purges;
  const restarts = restartEveryMs ? `, a log that restarts every ${restartEveryMs / 1000} s` : "";
  const name = `${isolates} isolates a PoP, ${rate}/s each, ${push ? "pushed" : "read"}${restarts}`;
  return {
    name,
    isolates,
    push,
    ...times.figures,
    billedPerSecondAndPop: billed / seconds / Object.keys(ROUND_TRIPS).length,
  };
}
