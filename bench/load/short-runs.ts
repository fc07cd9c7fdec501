import { median } from "../frame/median.ts";
import type { Load } from "../frame/turns.ts";
import { runMeasured } from "../processes/measured-process.ts";
import { type Report, readAb, readHey } from "./reports.ts";

/** 500 connections send 5,000 requests, over and over until the seconds are over: `ab -k -c 500 -n 5000`. */
export function loadByAb(url: URL, seconds: number): Promise<Load> {
  return repeat("ab", ["-q", "-k", "-c", "500", "-n", "5000", url.href], readAb, seconds);
}

/** The fields of a request of hey. Its `Content-Type` makes a GET another page for a cache that sends it to the origin. */
export const HEY_FIELDS = { "user-agent": "hey/0.0.1", "content-type": "text/html", "accept-encoding": "gzip" };

/** 10 connections send 10,000 requests, over and over until the seconds are over: `hey -c 10 -n 10000`. */
export function loadByHey(hey: string, url: URL, seconds: number): Promise<Load> {
  return repeat(hey, ["-c", "10", "-n", "10000", url.href], readHey, seconds);
}

/** Each run opens its connections anew. The percentiles are medians of those of the runs. */
async function repeat(
  program: string,
  parameters: readonly string[],
  read: (report: string) => Report,
  seconds: number,
): Promise<Load> {
  const runs: (Report & { readonly cpu: number })[] = [];
  const endsAt = performance.now() + seconds * 1000;
  do {
    const { output, cpu } = await runMeasured(program, parameters);
    runs.push({ ...read(output), cpu });
  } while (performance.now() < endsAt);
  const sum = (value: (run: Report) => number) => runs.reduce((total, run) => total + value(run), 0);
  const requests = sum((run) => run.requests);
  return {
    requests,
    requestsPerSecond: requests / sum((run) => run.requests / run.requestsPerSecond),
    p50Ms: median(runs.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(runs.map(({ p99Ms }) => p99Ms)),
    failures: sum((run) => run.failures),
    clientCpu: median(runs.map(({ cpu }) => cpu)),
  };
}
