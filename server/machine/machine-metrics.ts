import type { MachineStats, OriginQueueStats, ProcessStats, WorkerStats } from "../../wire/machine-stats.ts";
import type { MetricFamily, Sample } from "../../worker/metrics/metric-family.ts";

/** The figures of each process: name, kind and path in the stats. A process without one has no sample. */
const OF_PROCESSES: readonly (readonly [...Head, figure: (process: ProcessStats) => number | null])[] = [
  ["process_resident_memory_bytes", "gauge", "residentBytes", ({ residentBytes }) => residentBytes],
  ["process_open_files", "gauge", "openFiles", ({ openFiles }) => openFiles],
  ["process_open_files_limit", "gauge", "maxOpenFiles", ({ maxOpenFiles }) => maxOpenFiles],
  ofWorker("process_connections", "gauge", "connections", ({ connections }) => connections),
  ofWorker("process_connections_limit", "gauge", "maxConnections", ({ maxConnections }) => maxConnections),
  ofWorker("process_page_bytes", "gauge", "memory.bytes", ({ memory }) => memory.bytes),
  ofWorker("process_pages", "gauge", "memory.entries", ({ memory }) => memory.entries),
  ofWorker("process_evictions", "counter", "memory.evictions", ({ memory }) => memory.evictions),
  ofQueue("process_origin_running", "running", ({ running }) => running),
  ofQueue("process_origin_waiting", "waiting", ({ waiting }) => waiting),
  ofQueue("process_origin_waiting_limit", "maxWaiting", ({ maxWaiting }) => maxWaiting),
  ofQueue("process_origin_longest_wait_seconds", "longestWaitMs", ({ longestWaitMs }) => longestWaitMs / 1000),
];

type Head = [name: string, type: "counter" | "gauge", path: string];

function ofWorker(...[name, type, path, figure]: [...Head, (worker: WorkerStats) => number | null]) {
  const ofProcess = ({ worker }: ProcessStats) => worker && figure(worker);
  return [name, type, `worker.${path}`, ofProcess] as const;
}

function ofQueue(name: string, path: string, figure: (queue: OriginQueueStats) => number) {
  return ofWorker(name, "gauge", `origin.${path}`, ({ origin }) => origin && figure(origin));
}

/** A machine for monitors. Labels have bounded values: its processes, and the files of its certificates. */
export function machineMetrics(machine: MachineStats): MetricFamily[] {
  const { memory, disk, log, origin, processes, workerDeaths, certificates } = machine;
  const one = (...[name, type, path, value]: [...Head, number | null | undefined]): MetricFamily => {
    return [name, type, `machine.${path}`, typeof value === "number" ? [[{}, value]] : []];
  };
  return [
    ...OF_PROCESSES.map(([name, type, path, figure]): MetricFamily => {
      const samples = processes.flatMap((each): Sample[] => {
        const value = figure(each);
        return value === null ? [] : [[{ process: each.name }, value]];
      });
      return [name, type, `machine.processes.${path}`, samples];
    }),
    one("worker_deaths", "counter", "workerDeaths", workerDeaths),
    one("machine_page_bytes", "gauge", "memory.bytes", memory.bytes),
    one("machine_page_limit_bytes", "gauge", "memory.maxBytes", memory.maxBytes),
    one("origin_concurrency", "gauge", "origin.concurrency", origin?.concurrency),
    one("log_writable", "gauge", "log.isWritable", +log.isWritable),
    one("disk_used_bytes", "gauge", "disk.usedBytes", disk?.usedBytes),
    one("disk_limit_bytes", "gauge", "disk.maxBytes", disk?.maxBytes),
    one("disk_free_bytes", "gauge", "log.freeBytes", log.freeBytes),
    one("disk_files", "gauge", "disk.files", disk?.files),
    one("disk_evictions", "counter", "disk.evictions", disk?.evictions),
    [
      "certificate_start_timestamp_seconds",
      "gauge",
      "machine.certificates.startsAt",
      certificates.flatMap(({ file, startsAt }): Sample[] =>
        startsAt ? [[{ file }, Date.parse(startsAt) / 1000]] : [],
      ),
    ],
    [
      "certificate_expiry_timestamp_seconds",
      "gauge",
      "machine.certificates.expiresAt",
      certificates.map(({ file, expiresAt }) => [{ file }, Date.parse(expiresAt) / 1000]),
    ],
  ];
}
