import { Command } from "commander";
import { ROUND_TRIPS } from "../../cdn/latency.ts";
import { seededRandom } from "../../demo/data/seeded-random.ts";
import type { NewPurge } from "../../worker/ports.ts";
import { PopSharing } from "../../worker/purges/lease/pop-sharing.ts";
import { ReadYourWritesLog } from "../../worker/purges/lease/read-your-writes-log.ts";
import { ViewLease } from "../../worker/purges/lease/view-lease.ts";
import { PurgeView } from "../../worker/purges/view/purge-view.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { LatencyHistogram } from "../report/latency-histogram.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";
import { DiscreteEventClock } from "../simulated-pop/discrete-event-clock.ts";
import { fetchesInLogOutage } from "../simulated-pop/log-outage.ts";
import { PushingLog } from "../simulated-pop/pushing-log.ts";

/** The city in which the backend purges, far from the log. */
const PURGED_IN = "fra";
const LEASE_MS = 1000;
const SKEW_MS = 250;
const KEEP_MS = 20_000;
const OUTAGES_S = [1, 10, 60, 120];
/** Until all isolates are at work. */
const SETTLES_AFTER_MS = 10_000;

interface PushRow {
  readonly name: string;
  readonly isolates: number;
  readonly push: boolean;
  /** From the number that the log gave until the last isolate had read it. */
  readonly seen: LatencyHistogram;
  /** From the sending of the purge, to the answer that it has settled. */
  readonly settled: LatencyHistogram;
  /** Uses of a view without a purge after the backend had been told that it has settled. */
  readonly late: number;
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
      ["seven cities", "seen p50 ms", "p99", "settled p50 ms", "p99", "late", "billed/s and PoP"],
      rows.map(({ name, seen, settled, late, billedPerSecondAndPop }) => [
        name,
        ...[seen, settled].flatMap((times) => [50, 99].map((part) => String(Math.round(times.percentile(part))))),
        String(late),
        billedPerSecondAndPop.toFixed(3),
      ]),
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
    if (rows.some(({ late }) => late > 0))
      throw new BenchFailure("a view without a purge was used after it had settled");
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
}

async function simulate({ isolates, push, purges, rate, restartEveryMs }: Setting): Promise<PushRow> {
  const clock = new DiscreteEventClock();
  const random = seededRandom(1).next;
  const log = new PushingLog(clock, random);
  const readers: (SimulatedReader & { readonly city: string })[] = [];
  /** Purges that some reader has not seen. */
  const unseen = new Map<number, { readonly numberedAt: number; readonly missing: Set<ViewLease> }>();
  const settledSeqs = { highest: 0 };
  const seen = new LatencyHistogram();
  const settled = new LatencyHistogram();
  let late = 0;
  const noteNews = (lease: ViewLease) => {
    const seq = lease.stamp()?.seq ?? 0;
    for (const [number, { numberedAt, missing }] of unseen) {
      if (number <= seq && missing.delete(lease) && missing.size === 0) {
        seen.add(clock.now() - numberedAt);
        unseen.delete(number);
      }
    }
  };
  for (const [city, { logMs }] of Object.entries(ROUND_TRIPS)) {
    const notes = new Map<string, Uint8Array>();
    for (let index = 0; index < isolates; index++) {
      const settings = { leaseMs: LEASE_MS, skewMs: SKEW_MS, push, ...(push && { keepViewMs: KEEP_MS }) };
      const reporter = { report: () => undefined };
      const popNotes = {
        read: async (name: string) => {
          await clock.wait(3).over;
          return notes.get(name) ?? null;
        },
        write: async (name: string, bytes: Uint8Array) => {
          await clock.wait(8).over;
          notes.set(name, bytes);
        },
      };
      const pop = new PopSharing(popNotes, settings, clock, reporter);
      const view = new PurgeView(64 * 1024);
      const client = log.at(logMs, () => noteNews(lease));
      const lease: ViewLease = new ViewLease({ settings, view, log: client, pop, clock, random, reporter });
      readers.push({ lease, log: new ReadYourWritesLog(client, view, lease, SKEW_MS), city });
    }
  }
  const visit = (lease: ViewLease) => {
    const now = clock.now();
    if (!lease.isUsable(now, null)) void lease.renew(BEHIND, null).then(() => noteNews(lease));
    else {
      if ((lease.stamp()?.seq ?? 0) < settledSeqs.highest) late++;
      noteNews(lease);
      if (lease.isDue(now)) void lease.renew(BEHIND, null);
    }
    clock.at(now + (-Math.log(1 - random()) * 1000) / rate, () => visit(lease));
  };
  for (const { lease } of readers) clock.at(random() * 1000, () => visit(lease));
  const { clientMs, logMs } = ROUND_TRIPS[PURGED_IN]!;
  const purger = readers.find(({ city }) => city === PURGED_IN)!;
  const purge = async () => {
    const sentAt = clock.now();
    await clock.wait(clientMs / 2).over;
    const outcome = await purger.log.append(PURGE);
    if (outcome.kind === "conflict") return;
    const { seq, at, settlesInMs } = outcome;
    const usable = readers.filter(({ lease }) => lease.isUsable(clock.now(), null) && lease.stamp()!.seq < seq);
    if (usable.length > 0) unseen.set(seq, { numberedAt: at, missing: new Set(usable.map(({ lease }) => lease)) });
    else seen.add(clock.now() - at);
    await clock.wait(clientMs / 2).over;
    const byClock = clock.wait(settlesInMs);
    const asked = async () => {
      await clock.wait(clientMs / 2).over;
      const hasSettled = await log.settled(seq, logMs);
      await clock.wait(clientMs / 2).over;
      return hasSettled ? undefined : byClock.over;
    };
    await Promise.race([byClock.over, asked()]);
    settled.add(clock.now() - sentAt);
    settledSeqs.highest = Math.max(settledSeqs.highest, seq);
  };
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
    seen,
    settled,
    late,
    billedPerSecondAndPop: billed / seconds / Object.keys(ROUND_TRIPS).length,
  };
}

const BEHIND = { run: () => undefined };

const PURGE: NewPurge = {
  id: null,
  content: "",
  purgeKeys: ["#a"],
  accepted: { urls: 0, tags: 1, prefixes: 0, hosts: 0, everything: false },
  repeatAfterMs: null,
  reason: null,
  by: "bench",
};
