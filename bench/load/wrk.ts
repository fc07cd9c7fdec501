import { fileURLToPath } from "node:url";
import type { Load } from "../frame/turns.ts";
import { runMeasured } from "../processes/measured-process.ts";

const PAGES = fileURLToPath(new URL("./wrk-pages.lua", import.meta.url));

export interface LoadSettings {
  readonly connections: number;
  readonly seconds: number;
  /** Sends each request on a connection of its own. Default: connections are kept. */
  readonly newConnections?: boolean;
  /** Ends the load early, which then rejects. */
  readonly signal?: AbortSignal;
}

/** Requests one URL over and over. */
export async function loadPage(url: URL, settings: LoadSettings): Promise<Load> {
  return runWrk(url, settings, ["page"]);
}

/** Requests `/files/00000.html` and on, as many as there are, in random order. */
export async function loadFiles(site: URL, files: number, settings: LoadSettings): Promise<Load> {
  return runWrk(site, settings, ["files", `${files}`]);
}

/** Requests one page in every fifth request, and in all others a page that was never requested under this prefix. */
export async function loadMisses(page: URL, missesPrefix: string, settings: LoadSettings): Promise<Load> {
  return runWrk(page, settings, ["misses", missesPrefix]);
}

/** Requests a page most of the time, and in between files, pages below a prefix, and a page that must not be stored. */
export async function loadMix(page: URL, files: number, newPages: string, settings: LoadSettings): Promise<Load> {
  return runWrk(page, settings, ["mixed", `${files}`, newPages]);
}

/** One thread is enough for a server that answers on one thread. */
async function runWrk(
  url: URL,
  { connections, seconds, newConnections = false, signal }: LoadSettings,
  pages: readonly string[],
): Promise<Load> {
  const options = ["-t", "1", "-c", `${connections}`, "-d", `${seconds}s`, "-s", PAGES];
  if (newConnections) options.push("-H", "Connection: close");
  const { output, cpu } = await runMeasured("wrk", [...options, url.href, "--", ...pages], signal);
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
    clientCpu: cpu,
  };
}
