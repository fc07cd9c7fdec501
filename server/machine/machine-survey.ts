import { statfs } from "node:fs/promises";
import { hostname } from "node:os";
import type { CertificateStats, DiskStats, MachineStats, ProcessStats } from "../../wire/machine-stats.ts";
import { machineLines } from "../../wire/text/machine-text.ts";
import type { Certificate } from "../connections/certificates.ts";
import type { SurveyedWorkers } from "../supervisor/worker-pool.ts";
import { type ProcessFigures, processFigures } from "./process-figures.ts";

/** What the supervisor has found out of its machine, for a worker that asks. Plain data. */
export interface MachineSurvey {
  /** Whether all workers have reported to their ledgers. */
  readonly isCurrent: boolean;
  readonly machine: SurveyedMachine;
}

export type SurveyedMachine = Omit<MachineStats, "inWords">;

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
export async function surveyMachine({ workers, areAll }: SurveyedWorkers, parts: MachineParts): Promise<MachineSurvey> {
  const { memoryBytes, certificates, disk, folder } = parts;
  const ofWorkers = workers.map(({ name, isDraining, said }): ProcessStats => {
    return { name, isDraining, ...(said as ProcessFigures) };
  });
  const pages = ofWorkers.reduce((sum, { worker }) => sum + (worker?.memory.bytes ?? 0), 0);
  const supervisor: ProcessStats = { name: "supervisor", isDraining: false, ...(await processFigures()) };
  const machine = {
    name: hostname(),
    memory: { bytes: pages, maxBytes: memoryBytes },
    disk: disk && (await diskStats(disk, folder)),
    processes: [supervisor, ...ofWorkers],
    certificates: certificates.map(certificateStats),
  };
  return { isCurrent: areAll, machine };
}

async function diskStats(
  { usedBytes, maxBytes, heldFiles: files, evictions }: DiskFigures,
  folder: string,
): Promise<DiskStats> {
  const freeBytes = await statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => null,
  );
  return { usedBytes, maxBytes, freeBytes, files, evictions };
}

function certificateStats({ file, names, validUntil }: Certificate): CertificateStats {
  return { file, names: [...names], expiresAt: new Date(validUntil).toISOString() };
}

/** As one site may see it: without certificates for hosts of others. `hosts`: `null` for a site alone, which sees all. */
export function seenBySite(surveyed: SurveyedMachine, hosts: readonly string[] | null): MachineStats {
  const seen = hosts === null ? surveyed : { ...surveyed, certificates: certificatesFor(surveyed, hosts) };
  return { ...seen, inWords: machineLines(seen) };
}

function certificatesFor({ certificates }: SurveyedMachine, hosts: readonly string[]): CertificateStats[] {
  // RFC 6125 §6.4.3: a wildcard is for one label.
  const ofHosts = new Set(hosts.flatMap((host) => [host, host.replace(/^[^.]+/, "*")]));
  return certificates.filter(({ names }) => names.some((name) => ofHosts.has(name)));
}
