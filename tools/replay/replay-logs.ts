import { compileSite, loadSite, type Site } from "../../internal.ts";
import type { ReadCounts } from "../logs/log-file.ts";
import type { LoggedRequest } from "../logs/logged-request.ts";
import { readLogs } from "../logs/read-logs.ts";
import type { ReplayedRequest } from "./logged-origin.ts";
import { type ReplayCounts, ReplayedEdge } from "./replayed-edge.ts";

export interface ReplayOptions {
  readonly files: readonly string[];
  /** Paths of configs; empty for an edge without rules of its own. */
  readonly configs: readonly string[];
  readonly cacheControl: string | null;
  readonly memoryBytes: number | null;
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
    /** Lines that are older than one before them, and those of them that came too late to be put in order. */
    readonly outOfOrder: number;
    readonly late: number;
    readonly cutOff: readonly string[];
  };
  /** Lines that tell of something else than HTTP. They are not replayed. */
  readonly notHttp: number;
  readonly interrupted: boolean;
  readonly edges: readonly (ReplayCounts & { readonly config: string | null })[];
}

/** The origin of an edge without a config. It is never asked. */
const ORIGIN = "http://origin.example.com";

/**
 * Replays logs through the edge, once for each config, at the time of the log. Throws `LogFileError` or
 * `ConfigFileError`.
 */
export async function replayLogs(options: ReplayOptions): Promise<ReplayReport> {
  const { files, configs, cacheControl, memoryBytes, signal, progress } = options;
  const sites: { readonly config: string | null; readonly site: Site }[] = [];
  for (const config of configs.length === 0 ? [null] : configs) {
    // Any host is answered: the log says which the site has.
    const overrides = { ...(config === null && { origin: ORIGIN }), hosts: null };
    const { site } = await loadSite(config, overrides);
    sites.push({ config, site: compileSite(site, overrides) });
  }
  let edges: readonly { readonly config: string | null; readonly edge: ReplayedEdge }[] = [];
  let batch: ReplayedRequest[] = [];
  let notHttp = 0;
  const play = async () => {
    const requests = batch;
    batch = [];
    if (edges.length === 0 && requests.length > 0) {
      const startAt = requests[0]!.at;
      edges = sites.map(({ config, site }) => ({
        config,
        edge: new ReplayedEdge({ site, startAt, cacheControl, memoryBytes }),
      }));
    }
    for (const request of requests) for (const { edge } of edges) await edge.play(request);
  };
  const counts = await readLogs({
    files,
    take: (request) => {
      if (request.method === "") notHttp++;
      else batch.push(copyOf(request));
    },
    between: play,
    ...(signal && { signal }),
    ...(progress && { progress }),
  });
  const { lines, broken, outOfOrder, late, cutOff } = counts;
  return {
    version: 1,
    logs: { files, lines, broken, outOfOrder, late, cutOff },
    notHttp,
    interrupted: signal?.aborted ?? false,
    edges: edges.map(({ config, edge }) => ({ config, ...edge.counts })),
  };
}

function copyOf({ at, method, host, target, status, bytes, userAgent }: LoggedRequest): ReplayedRequest {
  return { at, method, host, target, status, bytes, userAgent };
}
