import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { configuredTokens } from "../../worker/control/tokens.ts";
import { REPORT_EVERY_MS } from "../../worker/insight/reports.ts";
import { compressionSettings } from "../../worker/site/compression-settings.ts";
import { compileSite, type Site } from "../../worker/site/site.ts";
import { nodeBodies } from "../bodies/node-bodies.ts";
import { NodeCompression } from "../compression/node-compression.ts";
import { CacheFolder } from "../disk/cache-folder.ts";
import { DiskTier } from "../disk/disk-tier.ts";
import { WriterThread } from "../disk/file-writer.ts";
import { janitorBehind } from "../disk/janitor-service.ts";
import { AccessLog } from "../listener/access-log.ts";
import type { Listener } from "../listener/listener.ts";
import { startListener } from "../listener/start-listener.ts";
import { UndiciOrigin } from "../origin/undici-origin.ts";
import type { RunningWorker, WorkerStart } from "../processes/worker-program.ts";
import { systemClock } from "../system-clock.ts";
import type { EdgeSettings } from "./edge-settings.ts";
import { memoryAlone } from "./memory-alone.ts";
import { startNodeIsolate } from "./node-isolate.ts";

/** The part of the time for ending that is left for the disk, the logs and the last report. */
const LEFT_AFTER_ANSWERS_MS = 1_000;

/** The program of each worker: the edge, with a listener in front of it and the origin behind it. */
export async function startWorker({ name, settings, log, line }: WorkerStart): Promise<RunningWorker> {
  const { site: input, overrides, origin: address, tokens, ...edge } = settings as EdgeSettings;
  const write = (line: string) => console.error(`${name}: ${line}`);
  const site = withMemory(compileSite(input, overrides), edge.memoryBytes);
  const origin = new UndiciOrigin({ address, timeoutMs: site.limits.originTimeoutMs, bodies: nodeBodies });
  const tier =
    edge.disk &&
    new DiskTier({
      folder: CacheFolder.open(edge.disk.folder),
      janitor: janitorBehind(line),
      now: () => systemClock.now(),
      say: write,
      writer: new WriterThread(),
    });
  const compresses = compressionSettings(input);
  const isolate = startNodeIsolate(site, {
    compression: compresses
      ? new NodeCompression({ settings: compresses, memoryBytes: edge.memoryBytes, files: tier })
      : undefined,
    clock: systemClock,
    random: Math.random,
    sharedTier: tier ?? memoryAlone,
    origin,
    log,
    timer: { now: () => performance.now(), runsInMemory: true },
    isolate: randomUUID(),
    pop: hostname(),
    tokens: configuredTokens(tokens, () => undefined), // the supervisor has said what is wrong with them
    write,
  });
  const accessLog = edge.accessLog && new AccessLog(edge.accessLog.path, edge.accessLog.format, write);
  let listener: Listener | undefined;
  const background = { run: (work: Promise<unknown>) => void work.catch((cause: unknown) => write(String(cause))) };
  const reports = setInterval(() => isolate.reportIfDue(background), REPORT_EVERY_MS);
  return {
    learn: (delta) => isolate.learn(delta, background),
    listen: async (sockets) => {
      const parts = {
        isolate,
        bodies: nodeBodies,
        warn: write,
        usesFastHits: edge.usesFastHits,
        trustedProxies: site.trustedProxies,
        usesProxyProtocol: edge.usesProxyProtocol,
        tls: edge.tls ?? undefined,
        toHttps: edge.toHttps ?? undefined,
        strictTransportSecurity: edge.strictTransportSecurity ?? undefined,
        ...(accessLog && { accessLog }),
      };
      listener = await startListener(
        parts,
        sockets.map(({ handle, scheme }) => ({ handle, scheme })),
      );
    },
    reopen: async () => accessLog?.reopen(),
    drain: async (withinMs) => {
      await listener?.close(Math.max(withinMs - LEFT_AFTER_ANSWERS_MS, 0));
      clearInterval(reports);
      await isolate.reportLast();
      await tier?.settled();
      await accessLog?.close();
      await origin.close();
    },
    hurry: (withinMs) => void listener?.close(Math.max(withinMs - LEFT_AFTER_ANSWERS_MS, 0)),
  };
}

function withMemory(site: Site, memoryBytes: number): Site {
  return { ...site, limits: { ...site.limits, memoryBytes } };
}
