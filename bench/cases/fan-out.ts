import { Command } from "commander";
import { startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { median } from "../report/median.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";
import { bundleBenchWorker } from "../workers/bundle.ts";

const PURGES = 20;

interface FanOutRow {
  readonly connections: number;
  /** Until all of them were open, begun at once on a new log. */
  readonly connectedInMs: number;
  /** The same after a restart of the log's object. */
  readonly reconnectedInMs: number;
  /** From the sending of a purge until the last reader had it, and until its sender was told that it has settled. */
  readonly seen: { readonly p50Ms: number; readonly maxMs: number };
  readonly settled: { readonly p50Ms: number; readonly maxMs: number };
}

export const fanOut = new Command("fan-out")
  .description("How soon the log's object in the Workers runtime reaches many connections, and takes them back.")
  .option("--connections <numbers>", "how many, separated by commas", "10,100,1000,4000")
  .option("--json <file>", "where the results go (default: bench/results/fan-out-<date>.json)")
  .action(async ({ connections, json }: { connections: string; json?: string }) => {
    const rows: FanOutRow[] = [];
    for (const count of connections.split(",").map(Number)) rows.push(await measure(count));
    printTable(
      ["connections", "seen p50 ms", "max", "settled p50 ms", "max", "connected ms", "again after a restart"],
      rows.map(({ connections, seen, settled, connectedInMs, reconnectedInMs }) =>
        [connections, seen.p50Ms, seen.maxMs, settled.p50Ms, settled.maxMs, connectedInMs, reconnectedInMs].map(String),
      ),
    );
    writeResults("fan-out", { settings: { purges: PURGES }, rows }, json);
  });

async function measure(connections: number): Promise<FanOutRow> {
  const runtime = await startEdgeRuntime(
    { script: await bundleBenchWorker("connections"), variables: {} },
    { port: 0 },
  );
  const ask = async (path: string) => (await fetch(new URL(path, runtime.url))).text();
  const open = async () => {
    const held = ask(`/connect?count=${connections}`);
    for (;;) {
      const state = JSON.parse(await ask("/state")) as { isOpen: boolean; failed: number; connectedInMs: number };
      if (state.failed > 0) throw new BenchFailure(`${state.failed} of ${connections} connections failed`);
      if (state.isOpen) return { held, connectedInMs: state.connectedInMs };
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  try {
    const first = await open();
    const seen: number[] = [];
    const settled: number[] = [];
    for (let number = 0; number < PURGES; number++) {
      const purge = JSON.parse(await ask("/purge"));
      if (purge.learned !== connections || !purge.hasSettled) throw new BenchFailure(JSON.stringify(purge));
      seen.push(purge.seenInMs);
      settled.push(purge.settledInMs);
    }
    await ask("/restart");
    await ask("/close");
    await first.held;
    const again = await open();
    await ask("/close");
    await again.held;
    const { connectedInMs } = first;
    return {
      ...{ connections, connectedInMs, reconnectedInMs: again.connectedInMs },
      ...{ seen: summary(seen), settled: summary(settled) },
    };
  } finally {
    await runtime.stop();
  }
}

function summary(times: readonly number[]): { readonly p50Ms: number; readonly maxMs: number } {
  return { p50Ms: median(times), maxMs: Math.max(...times) };
}
