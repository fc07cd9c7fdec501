import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { configuredTokens } from "../../worker/control/tokens.ts";
import { REPORT_EVERY_MS } from "../../worker/insight/reports.ts";
import type { Origin } from "../../worker/ports.ts";
import { compileSite, type Site } from "../../worker/site/site.ts";
import { nodeBodies } from "../bodies/node-bodies.ts";
import { CacheFolder } from "../disk/cache-folder.ts";
import { DiskTier } from "../disk/disk-tier.ts";
import { WriterThread } from "../disk/file-writer.ts";
import { janitorBehind } from "../disk/janitor-service.ts";
import { AccessLog } from "../listener/access-log.ts";
import type { Listener } from "../listener/listener.ts";
import { startListener } from "../listener/start-listener.ts";
import { UndiciOrigin } from "../origin/undici-origin.ts";
import { Children } from "../parent/children.ts";
import { ParentOrigin } from "../parent/parent-origin.ts";
import { rulesFingerprint } from "../parent/rules-fingerprint.ts";
import type { RunningWorker, WorkerStart } from "../processes/worker-program.ts";
import { systemClock } from "../system-clock.ts";
import type { EdgeSettings } from "./edge-settings.ts";
import { memoryAlone } from "./memory-alone.ts";
import { startNodeIsolate } from "./node-isolate.ts";

/** The part of the time for ending that is left for the disk, the logs and the last report. */
const LEFT_AFTER_ANSWERS_MS = 1_000;

/** The program of each worker: the edge, with a listener in front of it and the origin behind it. */
export async function startWorker({ name, settings, log, line }: WorkerStart): Promise<RunningWorker> {
  const { site: input, overrides, tokens, ...edge } = settings as EdgeSettings;
  const write = (line: string) => console.error(`${name}: ${line}`);
  const site = withMemory(compileSite(input, overrides), edge.memoryBytes);
  const rules = rulesFingerprint(site);
  const { origin, close } = originOf(edge, site, rules, write);
  const tier =
    edge.disk &&
    new DiskTier({
      folder: CacheFolder.open(edge.disk.folder),
      janitor: janitorBehind(line),
      now: () => systemClock.now(),
      say: write,
      writer: new WriterThread(),
    });
  const isolate = startNodeIsolate(site, {
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
        children: new Children({
          isolate,
          rules,
          node: edge.node,
          hiddenFields: site.hiddenFields,
          maxFieldBytes: site.limits.responseFieldBytes,
          now: () => systemClock.now(),
          say: write,
        }),
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
      await close();
    },
    hurry: (withinMs) => void listener?.close(Math.max(withinMs - LEFT_AFTER_ANSWERS_MS, 0)),
  };
}

/** The origin, or a parent in its place, and what ends their connections. */
function originOf(
  { origin: address, parent, node }: Pick<EdgeSettings, "origin" | "parent" | "node">,
  site: Site,
  rules: string,
  say: (line: string) => void,
): { readonly origin: Origin; close(): Promise<unknown> } {
  const common = { timeoutMs: site.limits.originTimeoutMs, bodies: nodeBodies };
  const itself = address && new UndiciOrigin({ address, ...common });
  if (parent === null) return { origin: itself!, close: () => itself!.close() };
  const connection = new UndiciOrigin({ address: parent.address, ...common, ...TO_A_PARENT });
  const origin = new ParentOrigin({
    parent: connection,
    origin: itself,
    token: parent.token,
    node,
    rules,
    originFields: site.originFields.map(([name]) => name.toLowerCase()),
    now: () => systemClock.now(),
    say,
  });
  return { origin, close: () => Promise.all([connection.close(), itself?.close()]) };
}

/** A parent keeps idle connections for longer than origins do, and one that is off should not be waited for. */
const TO_A_PARENT = { keepAliveMs: 30_000, connectTimeoutMs: 3_000 };

function withMemory(site: Site, memoryBytes: number): Site {
  return { ...site, limits: { ...site.limits, memoryBytes } };
}
