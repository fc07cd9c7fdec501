import { setTimeout as wait } from "node:timers/promises";
import { BenchFailure } from "../frame/bench-failure.ts";
import { loadMix, loadPage } from "../load/wrk.ts";
import { Crowd, type Manner } from "./crowd.ts";
import { type CrowdCounts, faultsOf } from "./crowd-counts.ts";
import { EnduranceServer, LARGE_BYTES, MEDIUM_BYTES, SMALL_BYTES } from "./endurance-server.ts";
import { growth, type MemorySample, peak, sampleMemory, takeSample } from "./memory-samples.ts";
import { type Visit, visitUntil } from "./visitor.ts";

/** The load on a server. */
export interface EnduranceSettings {
  /** How to start the server, with placeholders. */
  readonly tidemark: string;
  readonly workers: number;
  readonly mixedSeconds: number;
  readonly crowdSeconds: number;
  readonly idleConnections: number;
  readonly slowReaders: number;
  readonly silentPipelines: number;
}

export interface EnduranceResult {
  readonly name: string;
  readonly beforeBytes: number;
  readonly peakBytes: number;
  /** After the load, while the server still runs. */
  readonly afterBytes: number;
  /**
   * The value that must stay below the limit: growth over time under lasting load, or the peak above the start under a
   * crowd.
   */
  readonly growthBytes: number;
  /** The part that the open connections themselves may take. */
  readonly allowedBytes: number;
  readonly descriptorGrowth: number;
  readonly requests: number;
  readonly remarks: string;
  readonly samples: readonly MemorySample[];
}

/** One kind of load for a server. */
export interface EnduranceRow {
  readonly name: string;
  /** Loads the server, and checks its answers meanwhile. Rejects with `BenchFailure` if one is wrong. */
  readonly measure: (settings: EnduranceSettings) => Promise<EnduranceResult>;
}

const FILES = 2000;
const FILE_BYTES = 100_000;
const SAMPLE_EVERY_MS = 1000;
/** Enough for a garbage collection or two, and for connections to close. */
const RECOVERS_AFTER_MS = 3000;
/** Node's memory for an open connection and its parser. */
const CONNECTION_BYTES = 16 * 1024;
/** The server ends a connection that was idle for 75 s. */
const IDLE_AT_MOST_MS = 70_000;
const ENDS_WITHIN_MS = 500;

export const ENDURANCE_ROWS: readonly EnduranceRow[] = [
  { name: "mixed load alone", measure: mixedLoad },
  crowdRow("idle", "idle connections", "idleConnections", SMALL_BYTES),
  crowdRow("slow", "slow readers of 20 MB", "slowReaders", LARGE_BYTES),
  crowdRow("silent", "pipelines of 1,000 × 10 KB, never read", "silentPipelines", MEDIUM_BYTES),
];

function crowdRow(
  manner: Manner,
  name: string,
  connections: "idleConnections" | "slowReaders" | "silentPipelines",
  bytes: number,
): EnduranceRow {
  return { name, measure: (settings) => crowd(manner, name, settings[connections], bytes, settings) };
}

/** Hits, files, new pages and uncached pages, with a visitor who checks answers and purges. */
async function mixedLoad({ tidemark, workers, mixedSeconds }: EnduranceSettings): Promise<EnduranceResult> {
  await using server = await EnduranceServer.start(tidemark, workers);
  await server.origin.writeFiles(FILES, FILE_BYTES);
  const everyMs = Math.max(100, Math.min(SAMPLE_EVERY_MS, (mixedSeconds * 1000) / 20));
  const { result, samples } = await endure(server, everyMs, () => {
    const over = new AbortController(); // the end of one is that of the other
    const settings = { connections: 20, seconds: mixedSeconds, signal: over.signal };
    const load = loadMix(server.pageOf(SMALL_BYTES), FILES, "/new/", settings);
    const visit = visitUntil(() => over.signal.aborted, server);
    return Promise.all([load.finally(() => over.abort()), visit.finally(() => over.abort())]);
  });
  const [mix, visit] = result;
  if (mix.failures > 0) throw new BenchFailure(`${mix.failures} requests failed.`);
  await wait(RECOVERS_AFTER_MS);
  const perSecond = Math.round(mix.requestsPerSecond).toLocaleString("en");
  return {
    ...resultOf(`mixed load alone, ${mixedSeconds} s`, samples, server),
    growthBytes: growth(samples, ({ memoryBytes }) => memoryBytes),
    allowedBytes: 0,
    descriptorGrowth: growth(samples, ({ descriptors }) => descriptors),
    requests: mix.requests + visit.requests,
    remarks: `${perSecond} requests/s, p99 ${mix.p99Ms.toFixed(1)} ms; ${remarksOf(visit)}`,
  };
}

/** Connections that stay, while other visitors get their answers. */
async function crowd(
  manner: Manner,
  name: string,
  connections: number,
  bytes: number,
  { tidemark, workers, crowdSeconds }: EnduranceSettings,
): Promise<EnduranceResult> {
  await using server = await EnduranceServer.start(tidemark, workers);
  const page = server.pageOf(bytes);
  await loadPage(page, { connections: 10, seconds: 2 }); // the page is stored, and the server is warm
  await wait(RECOVERS_AFTER_MS);
  const { result, samples } = await endure(server, SAMPLE_EVERY_MS / 4, async () => {
    const beginsAt = performance.now();
    await using present = await Crowd.gather(manner, page, connections, bytes);
    const endsAt = Math.min(performance.now() + crowdSeconds * 1000, beginsAt + IDLE_AT_MOST_MS);
    const [visit] = await Promise.allSettled([visitUntil(() => performance.now() > endsAt, server)]);
    const counts = await present.leave();
    // A client that never reads may be cut off.
    const faults = manner === "silent" ? [] : faultsOf(counts, connections);
    if (visit.status === "rejected") {
      if (!(visit.reason instanceof BenchFailure)) throw visit.reason;
      faults.push(`the visitor beside them: ${visit.reason.message}`);
    }
    if (visit.status === "rejected" || faults.length > 0) throw new BenchFailure(faults.join("; "));
    return { visit: visit.value, counts };
  });
  await wait(RECOVERS_AFTER_MS);
  const rest = resultOf(`${connections.toLocaleString("en")} ${name}`, samples, server);
  const growthBytes = rest.peakBytes - rest.beforeBytes;
  const each = `${(growthBytes / connections / 1024).toFixed(1)} KiB a connection`;
  return {
    ...rest,
    growthBytes,
    allowedBytes: connections * CONNECTION_BYTES,
    requests: result.visit.requests,
    remarks: `${remarksOfCrowd(manner, result.counts)}, ${each}; ${remarksOf(result.visit)}`,
  };
}

function resultOf(
  name: string,
  samples: readonly MemorySample[],
  server: EnduranceServer,
): Omit<EnduranceResult, "growthBytes" | "allowedBytes" | "requests" | "remarks"> {
  const before = samples[0]!;
  const after = takeSample(server.pid);
  return {
    name,
    beforeBytes: before.memoryBytes,
    peakBytes: peak(samples, ({ memoryBytes }) => memoryBytes),
    afterBytes: after.memoryBytes,
    descriptorGrowth: after.descriptors - before.descriptors,
    samples,
  };
}

/** Samples memory while work runs. Fails if the server ends, or breaks a connection off. */
async function endure<T>(
  server: EnduranceServer,
  everyMs: number,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly samples: readonly MemorySample[] }> {
  try {
    return await sampleMemory(() => server.pid, everyMs, work);
  } catch (cause) {
    await wait(ENDS_WITHIN_MS); // its connections may have ended before the process
    if (server.ending !== null) throw new BenchFailure(`The server ended under load: ${server.ending}`);
    if (cause instanceof Error && "code" in cause)
      throw new BenchFailure(`The visitor got no answer: ${cause.message}`);
    throw cause;
  }
}

function remarksOfCrowd(manner: Manner, { open, answered, refused, readBytes }: CrowdCounts): string {
  const kept = `${open.toLocaleString("en")} open at the end`;
  if (manner === "idle") return `${answered.toLocaleString("en")} answered, ${kept}, ${refused} refused`;
  return manner === "slow" ? `${kept}, ${refused} refused, ${Math.round(readBytes / 1e6)} MB read` : kept;
}

function remarksOf({ requests, p99Ms, purges }: Visit): string {
  return `visitor: ${requests} requests, p99 ${p99Ms.toFixed(1)} ms, ${purges === 0 ? "no purges" : `${purges} purges`}`;
}
