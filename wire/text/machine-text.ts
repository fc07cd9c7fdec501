import type { MachineStats, ProcessStats } from "../machine-stats.ts";
import { memorySize, ms, whole } from "./numbers.ts";
import { printable } from "./printable.ts";

/** A machine in words: a line for its pages, for the origin's queue, for each process and for each certificate. */
export function machineLines(machine: Omit<MachineStats, "inWords">): string[] {
  const { name, memory, disk, origin, processes, certificates } = machine;
  const pages = `pages take ${inSettingsUnit(memory.bytes)} of the ${inSettingsUnit(memory.maxBytes)} of --memory`;
  const files =
    disk === null
      ? "no disk"
      : `${inSettingsUnit(disk.usedBytes)} of the ${inSettingsUnit(disk.maxBytes)} of --disk for pages` +
        (disk.freeBytes === null ? "" : `, where ${inSettingsUnit(disk.freeBytes)} are free`);
  const atOrigin =
    origin &&
    `${whole(origin.running)} of ${whole(origin.concurrency)} requests are at the origin; ` +
      `${whole(origin.waiting)} of ${whole(origin.maxWaiting)} wait for their turn` +
      `${origin.waiting > 0 ? `, the longest for ${ms(origin.longestWaitMs)}` : ""}.`;
  return [
    `On ${printable(name)}, ${pages}, and ${files}.`,
    ...(atOrigin === null ? [] : [atOrigin]),
    ...processes.map(processLine),
    ...certificates.map(({ file, expiresAt }) => `${printable(file)} expires at ${expiresAt}.`),
  ];
}

/** All sizes of a machine, so that each can be compared with the setting that bounds it. */
function inSettingsUnit(bytes: number): string {
  const gibibytes = bytes / 1024 ** 3;
  return gibibytes < 1 ? memorySize(bytes) : `${Number(gibibytes.toPrecision(3))} GiB`;
}

function processLine({ name, isDraining, residentBytes, openFiles, maxOpenFiles, worker }: ProcessStats): string {
  const files = openFiles === null ? "" : `, ${whole(openFiles)}${ofMost(maxOpenFiles)} files open`;
  const ofWorker =
    worker === null
      ? ""
      : `, ${whole(worker.connections)}${ofMost(worker.maxConnections)} connections, ` +
        `${whole(worker.memory.entries)} pages, ${whole(worker.memory.evictions)} evicted`;
  return `${name}${isDraining ? " (ends)" : ""}: ${inSettingsUnit(residentBytes)} resident${files}${ofWorker}.`;
}

function ofMost(most: number | null): string {
  return most === null ? "" : ` of ${whole(most)}`;
}
