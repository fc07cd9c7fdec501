import { compileSite, loadSite, type Site } from "#tidemark/internal";
import { bytesOf, type ReadCounts } from "../logs/log-file.ts";
import { isPurge, type LoggedRequest } from "../logs/logged-request.ts";
import { readLogs } from "../logs/read-logs.ts";
import type { ReplayedRequest } from "./logged-origin.ts";
import { oneInFor, PageSample, type SampledMisses } from "./page-sample.ts";
import { type ReplayCounts, ReplayedEdge } from "./replayed-edge.ts";

export interface ReplayOptions {
  readonly files: readonly string[];
  /** Paths of configs; empty for an edge without rules of its own. */
  readonly configs: readonly string[];
  readonly cacheControl: string | null;
  readonly memoryBytes: number | null;
  /** Replays one path in this many; `null`: as `oneInFor` chooses. */
  readonly oneIn: number | null;
  readonly signal?: AbortSignal;
  readonly progress?: (counts: ReadCounts, allBytes: number) => void;
}

/** A log under several configs. */
export interface ReplayReport {
  readonly version: 1;
  readonly logs: {
    readonly files: readonly string[];
    readonly lines: number;
    readonly broken: number;
    /** The broken lines that are requests at an impossible time. */
    readonly misdated: number;
    /** Answers of the edge that wrote the log, to requests that are none of the site's. They are not replayed. */
    readonly own: number;
    /** Lines that are older than an earlier one, and how many of these came too late to be sorted. */
    readonly outOfOrder: number;
    readonly late: number;
    readonly cutOff: readonly string[];
  };
  /** The simulated origin's `Cache-Control`; `null` for none. */
  readonly cacheControl: string | null;
  /** Lines that are not about HTTP requests. They are not replayed. */
  readonly notHttp: number;
  /** Calls of PURGE or BAN. Each edge purges their pages, and does not count them as requests. */
  readonly purges: number;
  readonly interrupted: boolean;
  /** The size of the memory cache; `null` if there was room for every page. */
  readonly memoryBytes: number | null;
  /** One path in this many was replayed, and each popular one if there was room for every page. */
  readonly oneIn: number;
  /** Requests that were not replayed. */
  readonly left: number;
  /**
   * For a sample, the hit ratio is an estimate for all requests, and the counts cover only the replayed ones. `margin`:
   * how far the hit ratio may be off, in 95 of 100 samples. 0 if all were replayed.
   */
  readonly edges: readonly (ReplayCounts & { readonly config: string | null; readonly margin: number })[];
}

interface PlayedEdge {
  readonly config: string | null;
  readonly edge: ReplayedEdge;
  readonly misses: SampledMisses;
}

/** The origin of an edge without a config. It is never asked. */
const ORIGIN = "http://origin.example.com";

/**
 * Replays logs through the edge, once for each config, at the time of the log. Throws `LogFileError` or
 * `ConfigFileError`.
 */
export async function replayLogs(options: ReplayOptions): Promise<ReplayReport> {
  const { files, configs, cacheControl, signal, progress } = options;
  const isBounded = options.memoryBytes !== null;
  // The share of the pages gets that share of the memory. All popular pages would be more than the share.
  const taken = new PageSample(options.oneIn ?? oneInFor(await bytesOf(files)), isBounded ? Infinity : undefined);
  const memoryBytes = isBounded ? Math.ceil(options.memoryBytes / taken.oneIn) : null;
  const sites: { readonly config: string | null; readonly site: Site }[] = [];
  for (const config of configs.length === 0 ? [null] : configs) {
    // Every host gets an answer, because the log names the site's hosts.
    const overrides = { ...(config === null && { origin: ORIGIN }), hosts: null };
    const { site } = await loadSite(config, overrides);
    sites.push({ config, site: compileSite(site, overrides) });
  }
  let edges: readonly PlayedEdge[] = [];
  let batch: ReplayedRequest[] = [];
  let notHttp = 0;
  let purges = 0;
  const play = async () => {
    const requests = batch;
    batch = [];
    if (edges.length === 0 && requests.length > 0) {
      const startAt = requests[0]!.at;
      edges = sites.map(({ config, site }) => ({
        config,
        edge: new ReplayedEdge({ site, startAt, cacheControl, memoryBytes }),
        misses: taken.counted(),
      }));
    }
    for (const request of requests) {
      for (const { edge, misses } of edges) {
        if (isPurge(request)) await edge.purge(request);
        else misses.count(request, await edge.play(request));
      }
    }
  };
  const counts = await readLogs({
    files,
    take: (request) => {
      if (request.method === "") notHttp++;
      else if (isPurge(request)) {
        purges++;
        batch.push(copyOf(request));
      } else if (taken.takes(request)) batch.push(copyOf(request));
    },
    between: play,
    ...(signal && { signal }),
    ...(progress && { progress }),
  });
  const { lines, broken, misdated, own, outOfOrder, late, cutOff } = counts;
  return {
    version: 1,
    logs: { files, lines, broken, misdated, own, outOfOrder, late, cutOff },
    cacheControl,
    notHttp,
    purges,
    interrupted: signal?.aborted ?? false,
    memoryBytes: options.memoryBytes,
    oneIn: taken.oneIn,
    left: taken.left,
    edges: edges.map(({ config, edge, misses }) => ({ config, margin: 0, ...edge.counts, ...misses.estimate })),
  };
}

function copyOf({ at, method, host, target, status, bytes, userAgent }: LoggedRequest): ReplayedRequest {
  return { at, method, host, target, status, bytes, userAgent };
}
