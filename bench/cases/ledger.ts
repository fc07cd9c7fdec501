import { Command } from "commander";
import { Counters } from "../../worker/metrics/counters.ts";
import { ReuseSample } from "../../worker/metrics/reuse-sample.ts";
import type { Timer } from "../../worker/ports/clock.ts";
import type { AnsweredEvent } from "../../worker/ports/reporter.ts";
import { positive } from "../options.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { thisMachine } from "../report/machine.ts";
import { median } from "../report/median.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";

/** The most that counting may cost a hit. Microseconds. */
const MAX_MICROSECONDS = 0.15;

interface LedgerOptions {
  readonly rounds: number;
  readonly hits: number;
  readonly json?: string;
}

export const ledger = new Command("ledger")
  .description("What counting for the site's ledger costs a hit in memory, with and without.")
  .option("--rounds <n>", "how many turns each side has", positive, 25)
  .option("--hits <n>", "how many hits a turn has", positive, 500_000)
  .option("--json <file>", "where the results go (default: bench/results/ledger-<date>.json)")
  .action(measureLedger);

function measureLedger({ json, rounds, hits }: LedgerOptions): void {
  const without: number[] = [];
  const withCounting: number[] = [];
  for (let round = 0; round < rounds; round++) {
    without.push(microsecondsPerHit(hits, false));
    withCounting.push(microsecondsPerHit(hits, true));
  }
  // Other work on the machine disturbs both sides of a round.
  const costs = withCounting.map((each, round) => each - without[round]!);
  const microseconds = median(costs);
  const row = (name: string, value: number) => [name, value.toFixed(3)];
  printTable(
    ["", "µs per hit"],
    [row("without", median(without)), row("with", median(withCounting)), row("the difference", microseconds)],
  );
  writeResults(
    "ledger",
    { machine: thisMachine(), rounds, hits, microseconds, maxMicroseconds: MAX_MICROSECONDS },
    json,
  );
  if (microseconds > MAX_MICROSECONDS) {
    throw new BenchFailure(`Counting a hit takes ${microseconds.toFixed(3)} µs, and ${MAX_MICROSECONDS} is the most.`);
  }
}

const URLS = Array.from({ length: 1000 }, (_, page) => `https://www.example.com/page/${page}`);

/**
 * A hit is counted by the sample of the memory, makes the event and reads the timer at its arrival. Without counting, the event is an `X-Cache` that is added to
 * one map, as before there was a ledger.
 */
function microsecondsPerHit(hits: number, isCounted: boolean): number {
  const timer: Timer = { now: () => performance.now(), runsInMemory: true };
  const counters = new Counters("https://origin.example.com", () => undefined);
  counters.timeBy(timer);
  counters.reportAt(Number.MAX_SAFE_INTEGER);
  const reuse = new ReuseSample();
  if (isCounted) for (const url of URLS) reuse.missed(url, 10_000);
  const answers = new Map<string, number>();
  const begunAt = performance.now();
  for (let hit = 0; hit < hits; hit++) {
    const url = URLS[hit % URLS.length]!;
    if (isCounted) {
      reuse.found(url);
      counters.report(hitOf(url, hit, timer.now()));
    } else answers.set("HIT", (answers.get("HIT") ?? 0) + 1);
  }
  const tookMs = performance.now() - begunAt;
  if (!isCounted && answers.get("HIT") !== hits) throw new BenchFailure("not every hit was counted");
  return (tookMs * 1000) / hits;
}

function hitOf(url: string, at: number, startedAt: number): AnsweredEvent {
  const known = { kind: "answered", xCache: "HIT", route: "/page/*", tier: "memory" } as const;
  return { ...known, url, cachedBytes: 10_000, isStored: true, arrivedAt: at, startedAt };
}
