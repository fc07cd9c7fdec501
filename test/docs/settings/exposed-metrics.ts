import { machineMetrics } from "../../../server/machine/machine-metrics.ts";
import type { MachineStats } from "../../../wire/machine-stats.ts";
import { metricsText } from "../../../worker/control/stats/metrics.ts";
import type { LedgerReading } from "../../../worker/metrics/ledger-reading.ts";

/** One name that `/_tidemark/metrics` exposes. */
export interface ExposedMetric {
  /** With `tidemark_` before it. */
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  /** Where the stats have the same. */
  readonly path: string;
  /** Whether `tidemark serve` alone has it. */
  readonly isOfMachine: boolean;
}

/** One of each thing that is counted. */
const COUNTS = {
  answers: { HIT: 1 },
  statuses: { 200: 1 },
  answeredByEdge: { "url-too-long": 1 },
  store: { refused: { private: 1 } },
  queue: { awaited: { other: 1 }, turnedAway: { other: 1 } },
  times: { memory: { sum: 1, buckets: { 1: 1 } } },
};
const QUEUE = { running: 1, concurrency: 1, waiting: 1, maxWaiting: 1, longestWaitMs: 1 };
const WORKER = {
  connections: 1,
  maxConnections: 1,
  memory: { entries: 1, bytes: 1, maxBytes: 1, evictions: 1 },
  origin: QUEUE,
};
const PROCESS = { name: "worker-1", pid: 1, isDraining: false, residentBytes: 1, openFiles: 1, maxOpenFiles: 1 };
const MACHINE: MachineStats = {
  name: "web-1",
  memory: { bytes: 1, maxBytes: 1 },
  disk: { usedBytes: 1, maxBytes: 1, freeBytes: 1, files: 1, evictions: 1 },
  log: { isWritable: true, freeBytes: 1 },
  origin: QUEUE,
  processes: [{ ...PROCESS, worker: WORKER }],
  workerDeaths: 1,
  certificates: [
    {
      file: "www.crt",
      names: ["www.example.com"],
      startsAt: "2026-10-01T00:00:00Z",
      expiresAt: "2027-01-01T00:00:00Z",
    },
  ],
  inWords: [],
};

/** All that a server exposes, in its order. */
export function exposedMetrics(): readonly ExposedMetric[] {
  const ofMachine = new Set(machineMetrics(MACHINE).map(([name]) => name));
  const totals = { pops: { fra: COUNTS }, routes: { "/": COUNTS }, isolates: {}, metrics: machineMetrics(MACHINE) };
  const text = metricsText(totals as unknown as LedgerReading, false);
  return [...text.matchAll(/^# HELP (\S+) Stats: (.+)\n# TYPE \S+ (\S+)\n(.*)/gm)].map(
    ([, name, path, type, sample]) => ({
      name: name!,
      type: type!,
      labels: [...sample!.matchAll(/(\w+)="/g)].map(([, label]) => label!).filter((label) => label !== "le"),
      path: path!,
      isOfMachine: ofMachine.has(name!.replace(/^tidemark_/, "").replace(/_total$/, "")),
    }),
  );
}
