import { statfs } from "node:fs/promises";
import { hostname } from "node:os";
import type {
  CertificateStats,
  DiskStats,
  LogStats,
  MachineStats,
  OriginQueueStats,
  ProcessStats,
  WorkerStats,
} from "../../wire/machine-stats.ts";
import { machineLines } from "../../wire/text/machine-text.ts";
import type { LedgerIsolates } from "../../worker/metrics/ledger-reading.ts";
import { withoutPort } from "../../worker/rules/key/unknown-host.ts";
import { namesFitting } from "../connections/certificate-choice.ts";
import type { Certificate } from "../connections/certificates.ts";
import type { SurveyedWorkers } from "../supervisor/worker-pool.ts";
import { type ProcessFigures, processFigures, type WorkerFigures } from "./process-figures.ts";
import type { AskedPage, RefusedPage } from "./surveyed-refusals.ts";

/** What the supervisor has found out of its machine, for a worker that asks. Plain data. */
export interface MachineSurvey {
  /** Whether all workers have reported to their ledgers. */
  readonly isCurrent: boolean;
  readonly machine: SurveyedMachine;
  /** What the workers know of the pages that somebody asks about. */
  readonly refusals: readonly RefusedPage[];
}

/** What somebody wants to know who looks at the machine: how it is, or why a page was not stored. Plain data. */
export type LookedFor = typeof MACHINE | AskedPage;

export const MACHINE = "machine";

/** What a worker says of itself. */
export interface WorkerReply extends ProcessFigures {
  readonly refusals: readonly RefusedPage[];
}

export interface SurveyedMachine extends Omit<MachineStats, "inWords" | "log" | "origin" | "processes"> {
  /** The same for all sites. */
  readonly log: Pick<LogStats, "freeBytes">;
  readonly processes: readonly SurveyedProcess[];
}

type SurveyedProcess = ProcessFigures & Pick<ProcessStats, "name" | "isDraining">;

/** What is known of a machine without asking its workers. */
export interface MachineParts {
  /** `--memory`: of all workers together. */
  readonly memoryBytes: number;
  readonly certificates: readonly Certificate[];
  /** The index of the disk; `null` without one. */
  readonly disk: DiskFigures | null;
  readonly folder: string;
}

/** What a `Janitor` knows. */
export interface DiskFigures {
  readonly usedBytes: number;
  readonly maxBytes: number;
  readonly heldFiles: number;
  readonly evictions: number;
}

/** What the workers have said, with what the machine says itself. Never rejects. */
export async function surveyMachine(surveyed: SurveyedWorkers, parts: MachineParts): Promise<MachineSurvey> {
  const { workers, areAll, deaths } = surveyed;
  const { memoryBytes, certificates, disk, folder } = parts;
  const replies = workers.map(({ said }) => said as WorkerReply);
  const ofWorkers = workers.map(({ name, isDraining }, index): SurveyedProcess => {
    const { refusals: _, ...figures } = replies[index]!;
    return { name, isDraining, ...figures };
  });
  const pages = ofWorkers.reduce((sum, { worker }) => sum + (worker?.memory.bytes ?? 0), 0);
  const supervisor: SurveyedProcess = { name: "supervisor", isDraining: false, ...(await processFigures()) };
  const freeBytes = await freeBytesOf(folder);
  const machine = {
    name: hostname(),
    memory: { bytes: pages, maxBytes: memoryBytes },
    disk: disk && diskStats(disk, freeBytes),
    log: { freeBytes },
    processes: [supervisor, ...ofWorkers],
    workerDeaths: deaths,
    certificates: certificates.map(certificateStats),
  };
  return { isCurrent: areAll, machine, refusals: replies.flatMap(({ refusals }) => refusals) };
}

function freeBytesOf(folder: string): Promise<number | null> {
  return statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => null,
  );
}

function diskStats(disk: DiskFigures, freeBytes: number | null): DiskStats {
  const { usedBytes, maxBytes, heldFiles: files, evictions } = disk;
  return { usedBytes, maxBytes, freeBytes, files, evictions };
}

function certificateStats({ file, names, validFrom, validUntil }: Certificate): CertificateStats {
  const [startsAt, expiresAt] = [validFrom, validUntil].map((at) => new Date(at).toISOString());
  return { file, names: [...names], startsAt, expiresAt: expiresAt! };
}

/** The site for which a machine is looked at. */
export interface LookingSite {
  readonly name: string;
  /** Its hosts; `null` for any that no other site names. */
  readonly hosts: readonly string[] | null;
  readonly hostsOfOthers: readonly string[];
}

/** The survey as one site may see it: with its log, and without other sites' certificates and queues for their origins. */
export function seenBySite(surveyed: SurveyedMachine, looking: LookingSite, isWritable: boolean): MachineStats {
  const processes = surveyed.processes.map((each) => ({
    ...each,
    worker: each.worker && workerStats(each.worker, looking.name),
  }));
  const certificates = certificatesFor(surveyed, looking);
  const queues = processes.flatMap(({ worker }) => worker?.origin ?? []);
  const origin = queues.length === 0 ? null : queues.reduce(together);
  const seen = { ...surveyed, log: { ...surveyed.log, isWritable }, certificates, origin, processes };
  return { ...seen, inWords: machineLines(seen) };
}

function workerStats({ origins, ...worker }: WorkerFigures, site: string): WorkerStats {
  return { ...worker, origin: origins[site] ?? null };
}

/**
 * The isolates, where all workers have just reported: whoever else the ledger takes for alive has died without a report. All
 * workers have memories of one size, and the dead ones count with as many bytes as the others have on average.
 */
export function withoutDead(isolates: LedgerIsolates, { processes }: Pick<MachineStats, "processes">): LedgerIsolates {
  const dead = Math.max(0, isolates.alive - processes.filter(({ worker }) => worker).length);
  const part = (all: number) => Math.round(all * (1 - dead / Math.max(1, isolates.alive)));
  return {
    ...isolates,
    alive: isolates.alive - dead,
    silent: isolates.silent + dead,
    memoryBytes: part(isolates.memoryBytes),
    memoryMaxBytes: part(isolates.memoryMaxBytes),
  };
}

/** The workers share one number of requests, and each has a queue of its own. */
function together(one: OriginQueueStats, other: OriginQueueStats): OriginQueueStats {
  return {
    running: one.running + other.running,
    concurrency: Math.max(one.concurrency, other.concurrency),
    waiting: one.waiting + other.waiting,
    maxWaiting: one.maxWaiting + other.maxWaiting,
    longestWaitMs: Math.max(one.longestWaitMs, other.longestWaitMs),
  };
}

function certificatesFor({ certificates }: SurveyedMachine, { hosts, hostsOfOthers }: LookingSite): CertificateStats[] {
  return certificates.filter(({ names }) => (hosts === null ? !isFor(names, hostsOfOthers) : isFor(names, hosts)));
}

function isFor(names: readonly string[], hosts: readonly string[]): boolean {
  const found = new Set(hosts.flatMap((host) => namesFitting(withoutPort(host))));
  return names.some((name) => found.has(name));
}
