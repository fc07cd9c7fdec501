import type { MachineStats, ProcessStats } from "../machine-stats.ts";
import { memorySize, size, whole } from "./numbers.ts";
import { printable } from "./printable.ts";

/** A machine in words, a line for its pages, for each process and for each certificate. */
export function machineLines({ name, memory, disk, processes, certificates }: Omit<MachineStats, "inWords">): string[] {
  const pages = `pages take ${memorySize(memory.bytes)} of the ${memorySize(memory.maxBytes)} of --memory`;
  const files =
    disk === null
      ? "no disk"
      : `${size(disk.usedBytes)} of the ${size(disk.maxBytes)} of --disk that are for pages` +
        (disk.freeBytes === null ? "" : `, where ${size(disk.freeBytes)} are free`);
  return [
    `On ${printable(name)}, ${pages}, and ${files}.`,
    ...processes.map(processLine),
    ...certificates.map(({ file, expiresAt }) => `${printable(file)} expires at ${expiresAt}.`),
  ];
}

function processLine({ name, isDraining, residentBytes, openFiles, maxOpenFiles, worker }: ProcessStats): string {
  const files = openFiles === null ? "" : `, ${whole(openFiles)}${ofMost(maxOpenFiles)} files open`;
  const ofWorker =
    worker === null
      ? ""
      : `, ${whole(worker.connections)}${ofMost(worker.maxConnections)} connections, ` +
        `${whole(worker.memory.entries)} pages, ${whole(worker.memory.evictions)} evicted`;
  return `${name}${isDraining ? " (ends)" : ""}: ${size(residentBytes)} resident${files}${ofWorker}.`;
}

function ofMost(most: number | null): string {
  return most === null ? "" : ` of ${whole(most)}`;
}
