import { fileURLToPath } from "node:url";
import type { DebianProgram } from "../debian-programs.ts";
import type { Load, LoadSettings } from "./load.ts";
import { runMeasured } from "./measured-process.ts";

export const WRK: DebianProgram = { program: "wrk", package: "wrk" };

const REPORT_SCRIPT = fileURLToPath(new URL("./wrk-report.lua", import.meta.url));
const PAGES_SCRIPT = fileURLToPath(new URL("./wrk-pages.lua", import.meta.url));

/** Requests one URL over and over. */
export async function measureWithWrk(url: URL, settings: LoadSettings): Promise<Load> {
  return runWrk(url, settings, REPORT_SCRIPT, []);
}

/** Requests `/files/00000.html` and on, as many as there are, in random order. */
export async function measureFilesWithWrk(site: URL, files: number, settings: LoadSettings): Promise<Load> {
  return runWrk(site, settings, PAGES_SCRIPT, ["files", `${files}`]);
}

/** Requests one page in every fifth request, and in all others a page that was never requested under this prefix. */
export async function measureMissesWithWrk(page: URL, missesPrefix: string, settings: LoadSettings): Promise<Load> {
  return runWrk(page, settings, PAGES_SCRIPT, ["misses", missesPrefix]);
}

interface MixedLoad extends LoadSettings {
  readonly files: number;
  /** The prefix of pages that were never requested. */
  readonly newPages: string;
}

/** Requests a page most of the time, and files, new pages, and a page that must not be stored in between. */
export async function measureMixWithWrk(page: URL, { files, newPages, ...settings }: MixedLoad): Promise<Load> {
  return runWrk(page, settings, PAGES_SCRIPT, ["mixed", `${files}`, newPages]);
}

/** One thread is enough for a server that answers on one thread. */
async function runWrk(
  url: URL,
  { connections, seconds, fields = [] }: LoadSettings,
  script: string,
  parameters: readonly string[],
): Promise<Load> {
  const options = ["-t", "1", "-c", `${connections}`, "-d", `${seconds}s`, "-s", script];
  for (const field of fields) options.push("-H", field);
  const { output, cpu } = await runMeasured("wrk", [...options, url.href, "--", ...parameters]);
  const report = JSON.parse(output.slice(output.lastIndexOf("{"))) as {
    requests: number;
    durationUs: number;
    p50Us: number;
    p99Us: number;
    failures: number;
  };
  return {
    requests: report.requests,
    requestsPerSecond: report.requests / (report.durationUs / 1e6),
    p50Ms: report.p50Us / 1000,
    p99Ms: report.p99Us / 1000,
    failures: report.failures,
    generatorCpu: cpu,
  };
}
