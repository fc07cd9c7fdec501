import { DEFAULT_QUEUE } from "#tidemark/internal";
import { DEFAULT_SETTINGS, TrafficAnalysis } from "../counting/traffic-analysis.ts";
import type { ReadCounts } from "../logs/log-file.ts";
import { readLogs } from "../logs/read-logs.ts";
import type { AccessReport } from "./access-report.ts";
import { makeReport } from "./make-report.ts";

export interface ReportOptions {
  readonly files: readonly string[];
  /** Default: an hour. */
  readonly lifetimeSeconds?: number | undefined;
  /**
   * The most requests at a time at the origin, with the default queue of a site, and how long each takes in
   * milliseconds (default: as the log says). Default: no limit is simulated.
   */
  readonly limit?: { readonly concurrency: number; readonly originMs?: number | undefined } | undefined;
  /** Stops reading; the report covers the lines read so far. */
  readonly signal?: AbortSignal;
  readonly progress?: (counts: ReadCounts, allBytes: number) => void;
}

/** Reads logs and reports what a cache would have done. Throws `LogFileError` if one cannot be read. */
export async function analyseLogs({
  files,
  lifetimeSeconds,
  limit,
  signal,
  progress,
}: ReportOptions): Promise<AccessReport> {
  const analysis = new TrafficAnalysis({
    ...DEFAULT_SETTINGS,
    ...(lifetimeSeconds !== undefined && { lifetimeSeconds }),
    ...(limit && { budget: { ...limit, originMs: limit.originMs ?? null, queue: DEFAULT_QUEUE } }),
  });
  const counts = await readLogs({
    files,
    take: (request) => analysis.take(request),
    ...(signal && { signal }),
    ...(progress && { progress }),
  });
  return makeReport(analysis, { files, counts, interrupted: signal?.aborted ?? false });
}
