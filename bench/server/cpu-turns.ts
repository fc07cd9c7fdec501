import type { Load } from "../load/load.ts";
import { cpuSecondsOfTree } from "../processes/process-tree.ts";
import type { ServerProcess } from "../processes/server-process.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { median } from "../report/median.ts";

/** A server, and how it is put under load for one turn. */
export interface Contestant {
  readonly name: string;
  readonly server: ServerProcess;
  readonly load: () => Promise<Load>;
}

/** The medians of the turns of one server. */
export interface CpuFigures {
  readonly name: string;
  readonly perSecond: number;
  /** CPU time of all its processes for a request. */
  readonly cpuMicros: number;
}

/** Each round begins with the server after that of the last round. The first round warms up, and does not count. */
export async function takeTurns(contestants: readonly Contestant[], rounds: number): Promise<readonly CpuFigures[]> {
  const turns = contestants.map(() => [] as { readonly perSecond: number; readonly cpuMicros: number }[]);
  for (let round = 0; round <= rounds; round++) {
    for (const turn of contestants.keys()) {
      const at = (round + turn) % contestants.length;
      const { name, server, load } = contestants[at]!;
      const before = cpuSecondsOfTree(server.pid);
      const { requests, requestsPerSecond, failures } = await load();
      if (failures > 0) throw new BenchFailure(`${name}: ${failures} requests failed under load.`);
      const cpuMicros = ((cpuSecondsOfTree(server.pid) - before) / requests) * 1e6;
      if (round > 0) turns[at]!.push({ perSecond: requestsPerSecond, cpuMicros });
    }
  }
  return contestants.map(({ name }, at) => ({
    name,
    perSecond: median(turns[at]!.map(({ perSecond }) => perSecond)),
    cpuMicros: median(turns[at]!.map(({ cpuMicros }) => cpuMicros)),
  }));
}
