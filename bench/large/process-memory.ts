import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { BenchFailure } from "../report/bench-failure.ts";

/** Resident memory of one process over a stretch of time, in bytes. */
export interface ProcessMemory {
  readonly beforeBytes: number;
  readonly peakBytes: number;
  readonly afterBytes: number;
}

/** The child processes of this process that run a program of that name. Only Linux has `/proc`. */
export function childrenNamed(name: string): readonly number[] {
  const processes = readdirSync("/proc").filter((each) => /^\d+$/.test(each));
  return processes.map(Number).filter((pid) => {
    const status = statusOf(pid);
    return status !== undefined && field(status, "Name") === name && Number(field(status, "PPid")) === process.pid;
  });
}

/** Measures while `work` runs. The kernel records the peak, so none is missed. */
export async function measureMemory<T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly memory: ProcessMemory }> {
  const beforeBytes = bytesOf(pid, "VmRSS");
  writeFileSync(`/proc/${pid}/clear_refs`, "5"); // resets the peak
  const result = await work();
  const memory = { beforeBytes, peakBytes: bytesOf(pid, "VmHWM"), afterBytes: bytesOf(pid, "VmRSS") };
  return { result, memory };
}

/** Resident memory of a process, now and at most so far, in bytes. */
export function residentMemory(pid: number): { readonly bytes: number; readonly peakBytes: number } {
  return { bytes: bytesOf(pid, "VmRSS"), peakBytes: bytesOf(pid, "VmHWM") };
}

function bytesOf(pid: number, name: string): number {
  const status = statusOf(pid);
  if (status === undefined) throw new BenchFailure(`The process ${pid} has ended.`);
  return Number.parseInt(field(status, name), 10) * 1024;
}

function statusOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return undefined; // the process has ended in the meantime
  }
}

function field(status: string, name: string): string {
  return new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1] ?? "";
}
