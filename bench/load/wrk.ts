import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { BenchFailure } from "../report/bench-failure.ts";
import type { Load, LoadSettings } from "./load.ts";
import { runMeasured } from "./measured-process.ts";

const REPORT_SCRIPT = fileURLToPath(new URL("./wrk-report.lua", import.meta.url));

export function hasWrk(): boolean {
  return spawnSync("wrk", ["-v"]).error === undefined;
}

/** Installs wrk from Debian's packages. */
export function installWrk(): void {
  if (process.getuid?.() !== 0) throw new BenchFailure("--install needs root: it runs apt-get install wrk.");
  const { error, status } = spawnSync("apt-get", ["install", "--yes", "wrk"], { stdio: ["ignore", 2, 2] });
  if (error || status !== 0) throw new BenchFailure("apt-get could not install wrk. Try apt-get update first.");
}

/** One thread is enough for a runtime that answers on one thread. */
export async function measureWithWrk(url: URL, { connections, seconds }: LoadSettings): Promise<Load> {
  const options = ["-t", "1", "-c", `${connections}`, "-d", `${seconds}s`, "-s", REPORT_SCRIPT];
  const { output, cpu } = await runMeasured("wrk", [...options, url.href]);
  const report = JSON.parse(output.slice(output.lastIndexOf("{"))) as {
    requests: number;
    durationUs: number;
    p50Us: number;
    p99Us: number;
    failures: number;
  };
  return {
    requestsPerSecond: report.requests / (report.durationUs / 1e6),
    p50Ms: report.p50Us / 1000,
    p99Ms: report.p99Us / 1000,
    failures: report.failures,
    generatorCpu: cpu,
  };
}
