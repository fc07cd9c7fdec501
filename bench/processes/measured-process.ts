import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { BenchFailure } from "../frame/bench-failure.ts";
import { atExit } from "./at-exit.ts";
import { killTree } from "./process-tree.ts";

/**
 * Runs a program to its end, or kills it when the signal aborts. `cpu` is its CPU time divided by the wall time: 1 is one
 * core. Rejects unless it exits with 0.
 */
export async function runMeasured(
  program: string,
  parameters: readonly string[],
  signal?: AbortSignal,
): Promise<{ readonly output: string; readonly cpu: number }> {
  const startedAt = performance.now();
  // The shell's `times` reports the CPU time of its children on any POSIX system. It is written to descriptor 3.
  const child = spawn("sh", ["-c", '"$@" && times >&3', "sh", program, ...parameters], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const end = () => killTree(child.pid);
  const forgetExit = atExit(end);
  signal?.addEventListener("abort", end);
  const [, stdout, stderr, times] = child.stdio;
  const ended = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  const [output, complaint, cpuTimes, exit] = await Promise.all([
    text(stdout!),
    text(stderr!),
    text(times as NodeJS.ReadableStream),
    ended,
  ]).finally(() => {
    forgetExit();
    signal?.removeEventListener("abort", end);
  });
  const wallSeconds = (performance.now() - startedAt) / 1000;
  if (exit !== 0) throw new BenchFailure(`${program} ended with ${exit}: ${complaint.trim() || output.trim()}`);
  return { output, cpu: childrenSeconds(cpuTimes) / wallSeconds };
}

/** The second line of POSIX `times`: user and system time of the children, each like `0m1.23s`. */
function childrenSeconds(times: string): number {
  const parts = times.split("\n")[1]?.match(/\d+m[\d.]+s/g) ?? [];
  return parts.map((part) => part.split("m")).reduce((sum, [m, s]) => sum + Number(m) * 60 + Number.parseFloat(s!), 0);
}
