import { FillBudget, type RunningIsolate } from "../../worker/isolate.ts";
import { REPORT_EVERY_MS } from "../../worker/metrics/reports.ts";
import { compileSite } from "../../worker/site/site.ts";
import { nodeBodies } from "../bodies/node-bodies.ts";
import { placesForLocks } from "../cache-lock/lock-folder.ts";
import { MachineFetches } from "../cache-lock/machine-fetches.ts";
import { MakingQueue } from "../compression/making-queue.ts";
import { AccessLog } from "../connections/access-log.ts";
import { SitesByHost } from "../connections/sites-by-host.ts";
import { startListener } from "../connections/start-listener.ts";
import { CacheFolder } from "../disk/cache-folder.ts";
import { DiskTier } from "../disk/disk-tier.ts";
import { largestBodyBytes } from "../disk/eviction/janitor.ts";
import { janitorBehind } from "../disk/eviction/janitor-service.ts";
import { WriterThread } from "../disk/file-writer.ts";
import type { Listener } from "../http1/listener.ts";
import { ownAnswer } from "../http1/own-answer.ts";
import { partOfEach } from "../startup/connection-limit.ts";
import type { EdgeSettings, SiteSettings } from "../startup/edge-settings.ts";
import { type StartedSite, startSite } from "../startup/started-site.ts";
import { ONLY_SITE } from "../supervisor/site-logs.ts";
import { systemClock } from "../system-clock.ts";
import { Children } from "../tiers/children.ts";
import { withRoomForTiers } from "../tiers/room-for-tiers.ts";
import { SharedMemory } from "./shared-memory.ts";
import type { RunningWorker, WorkerStart } from "./worker-program.ts";

/** The part of the time for ending that is left for the disk, the logs and the last report. */
const LEFT_AFTER_ANSWERS_MS = 1_000;

/** The program of each worker: the edge of each site, with a listener in front of all and the origins behind them. */
export async function startWorker({ name, settings, logs, line }: WorkerStart): Promise<RunningWorker> {
  const { sites: given, ...edge } = settings as EdgeSettings;
  const write = (line: string) => console.error(`${name}: ${line}`);
  const folder = edge.disk && CacheFolder.at(edge.disk.folder);
  const tier =
    folder &&
    new DiskTier({
      folder,
      janitor: janitorBehind(line),
      now: () => systemClock.now(),
      say: write,
      writer: new WriterThread(folder),
    });
  const fetches =
    edge.disk && edge.sharesFetches
      ? await MachineFetches.start({
          places: placesForLocks(edge.disk.folder),
          clock: systemClock,
          say: write,
        })
      : undefined;
  const isAlone = given[0]!.name === ONLY_SITE;
  const memory = new SharedMemory(edge.memoryBytes);
  const fills = budgetOfAll(given);
  const compressing = new MakingQueue();
  const maxOriginConnections = ofEachOrigin(edge.maxOriginConnections, given);
  const sites = new Map(
    given.map((each) => {
      const bounds = {
        memoryBytes: edge.memoryBytes,
        largestBodyBytes: edge.disk && largestBodyBytes(edge.disk.maxBytes),
      };
      const common = { tier, fetches, write, compressing, maxOriginConnections };
      const alone = { log: logs.get(each.name)!, ...bounds, ...common };
      const shared = {
        memory: memory.of(each.name),
        fills,
        tier: tier?.ofSite(each.name) ?? null,
        write: (line: string) => write(`site ${each.name}: ${line}`),
      };
      return [each.name, startSite(each, isAlone ? alone : { ...alone, ...shared })] as const;
    }),
  );
  const accessLog =
    edge.accessLog && new AccessLog(edge.accessLog.path, edge.accessLog.format, write, undefined, !isAlone);
  let listener: Listener | undefined;
  const background = { run: (work: Promise<unknown>) => void work.catch((cause: unknown) => write(String(cause))) };
  const reports = setInterval(() => {
    for (const { isolate } of sites.values()) isolate.reportIfDue(background);
  }, REPORT_EVERY_MS);
  /** Sites whose views have not reached the heads of their logs. */
  const closed = new Set<string>();
  return {
    learn: async (delta, site) => sites.get(site)!.isolate.learn(delta, background),
    listen: async (sockets, notAdmitted) => {
      for (const site of notAdmitted) {
        closed.add(site);
        write(`site ${site}: its purge log does not answer, so the site is answered by 503 until it does.`);
      }
      const served = [...sites.values()].map(({ settings, site, isolate }) => ({
        name: settings.name,
        hosts: site.hosts,
        isolate: closed.has(settings.name) ? onceOpen(isolate, () => !closed.has(settings.name)) : isolate,
        trustedProxies: site.trustedProxies,
        toHttps: settings.toHttps ?? undefined,
      }));
      const [first] = sites.values();
      const parts = {
        isolate: first!.isolate,
        sites: isAlone ? undefined : new SitesByHost(served),
        bodies: nodeBodies,
        warn: write,
        usesFastAnswers: edge.usesFastAnswers,
        settings: { maxConnections: edge.maxConnections },
        trustedProxies: first!.site.trustedProxies,
        usesProxyProtocol: edge.usesProxyProtocol,
        tls: edge.tls ?? undefined,
        toHttps: first!.settings.toHttps ?? undefined,
        strictTransportSecurity: edge.strictTransportSecurity ?? undefined,
        ...(accessLog && { accessLog }),
        // Machines with several sites share no log, so they have no children.
        children: isAlone ? childrenOf(first!, write) : undefined,
      };
      listener = await startListener(parts, sockets);
    },
    admit: (site) => void closed.delete(site),
    reopen: async () => accessLog?.reopen(),
    drain: async (withinMs) => {
      fetches?.retire();
      await listener?.close(Math.max(withinMs - LEFT_AFTER_ANSWERS_MS, 0));
      clearInterval(reports);
      await Promise.all([...sites.values()].map((site) => site.end()));
      await fetches?.close();
      await accessLog?.close();
    },
    hurry: (withinMs) => void listener?.close(Math.max(withinMs - LEFT_AFTER_ANSWERS_MS, 0)),
  };
}

/** The caches that ask a site of this process in place of its origin. */
function childrenOf({ settings, site, isolate, rules }: StartedSite, say: (line: string) => void): Children {
  const { hiddenFields, limits } = withRoomForTiers(site);
  const { node } = settings;
  const parts = { isolate, node, rules, hiddenFields, maxFieldBytes: limits.responseFieldBytes };
  return new Children({ ...parts, clock: systemClock, say });
}

/** The connections to each origin, and to each parent, of those to all together. */
function ofEachOrigin(most: number | null, sites: readonly SiteSettings[]): number | null {
  const origins = sites.flatMap(({ origin, parent }) => [origin, parent]).filter((each) => each !== null);
  return most && partOfEach(most, origins.length);
}

/** What all sites of a process may hold of bodies on their way: as much as the one that may hold most. */
function budgetOfAll(sites: readonly SiteSettings[]): FillBudget {
  const limits = sites.map(({ site, overrides }) => compileSite(site, overrides).limits);
  return new FillBudget(
    Math.max(...limits.map(({ fillBytes }) => fillBytes)),
    Math.max(...limits.map(({ fills }) => fills)),
  );
}

/** An isolate that may not answer yet: it could serve what was purged (R24). */
function onceOpen(isolate: RunningIsolate, isOpen: () => boolean): RunningIsolate {
  return {
    fetch: (incoming) => {
      if (isOpen()) return isolate.fetch(incoming);
      const answer = ownAnswer(503, "log-silent", "the purge log of this site does not answer yet");
      answer.fields.append("retry-after", "1");
      return answer;
    },
  };
}
