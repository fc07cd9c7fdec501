import { BenchFailure } from "../frame/bench-failure.ts";
import type { Load } from "../frame/turns.ts";

/** The results of a run from a client's report. */
export type Report = Omit<Load, "clientCpu">;

/** Reads the report of ApacheBench. Its times are whole milliseconds. */
export function readAb(report: string): Report {
  const failures = numberIn(report, /^Failed requests:\s+(\d+)/m) + numberIn(report, /^Non-2xx responses:\s+(\d+)/m, 0);
  return {
    requests: numberIn(report, /^Complete requests:\s+(\d+)/m) - failures,
    requestsPerSecond: numberIn(report, /^Requests per second:\s+([\d.]+)/m),
    p50Ms: numberIn(report, /^ +50%\s+(\d+)/m),
    p99Ms: numberIn(report, /^ +99%\s+(\d+)/m),
    failures,
  };
}

/** Reads the report of hey. Its times have four places, so that 0.1 ms is the least. */
export function readHey(report: string): Report {
  const answers = [...report.matchAll(/^\s*\[(\d)\d\d\]\s+(\d+) responses/gm)];
  const errors = [...(report.split("Error distribution:")[1] ?? "").matchAll(/^\s*\[(\d+)\]/gm)];
  const right = answers.filter(([, kind]) => kind === "2").reduce((sum, [, , count]) => sum + Number(count), 0);
  const wrong = answers.filter(([, kind]) => kind !== "2").reduce((sum, [, , count]) => sum + Number(count), 0);
  return {
    requests: right,
    requestsPerSecond: numberIn(report, /Requests\/sec:\s*([\d.]+)/),
    p50Ms: numberIn(report, /\b50%+ in ([\d.]+) secs/) * 1000,
    p99Ms: numberIn(report, /\b99%+ in ([\d.]+) secs/) * 1000,
    failures: wrong + errors.reduce((sum, [, count]) => sum + Number(count), 0),
  };
}

/** The number that a pattern finds, or `absent`. */
function numberIn(report: string, pattern: RegExp, absent?: number): number {
  const found = pattern.exec(report)?.[1] ?? absent;
  if (found === undefined)
    throw new BenchFailure(`A client's report has no ${pattern.source}: ${report.slice(0, 300)}`);
  return Number(found);
}
