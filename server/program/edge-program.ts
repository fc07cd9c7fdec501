import type { OriginQueueStats } from "../../wire/machine-stats.ts";
import { counted } from "../../wire/text/numbers.ts";
import { FillBudget, type RunningIsolate } from "../../worker/isolate.ts";
import type { Refusal } from "../../worker/metrics/last-refusals.ts";
import { REPORT_EVERY_MS, type ReadLedger } from "../../worker/metrics/reports.ts";
import type { BackgroundWork } from "../../worker/ports/background-work.ts";
import type { ViewDelta } from "../../worker/purges/log/log-contract.ts";
import { compileSite } from "../../worker/site/site.ts";
import { ChallengeAnswers } from "../acme/challenge-answers.ts";
import { nodeBodies, nodeBodiesHeldIn } from "../bodies/node-bodies.ts";
import { placesForLocks } from "../cache-lock/lock-folder.ts";
import { MachineFetches } from "../cache-lock/machine-fetches.ts";
import { DictionaryMemory } from "../compression/dictionary-memory.ts";
import { MakingQueue } from "../compression/making-queue.ts";
import { AccessLog } from "../connections/access-log.ts";
import type { Listener, ListenerParts } from "../connections/listener.ts";
import { type ServedSite, SitesByHost } from "../connections/sites-by-host.ts";
import { startListener } from "../connections/start-listener.ts";
import { CacheFolder } from "../disk/cache-folder.ts";
import { DiskTier } from "../disk/disk-tier.ts";
import { largestBodyBytes } from "../disk/eviction/janitor.ts";
import { janitorBehind } from "../disk/eviction/janitor-service.ts";
import { WriterThread } from "../disk/file-writer.ts";
import { ownAnswer } from "../http1/own-answer.ts";
import type { KeptReading, LogCalls } from "../log/log-messages.ts";
import { machineMetrics } from "../machine/machine-metrics.ts";
import {
  type LookedFor,
  type LookingSite,
  MACHINE,
  type MachineSurvey,
  seenBySite,
  type WorkerReply,
  withoutDead,
} from "../machine/machine-survey.ts";
import { processFigures } from "../machine/process-figures.ts";
import { type AskedPage, newestRefusal, refusalsOf } from "../machine/surveyed-refusals.ts";
import { OriginTalks } from "../origin/origin-talks.ts";
import { sayToOperator } from "../own-lines.ts";
import { PermitLeases } from "../permits/leased-permits.ts";
import { partOfEach } from "../startup/connection-limit.ts";
import type { EdgeSettings, SiteSettings } from "../startup/edge-settings.ts";
import { type SiteParts, type StartedSite, startSite } from "../startup/started-site.ts";
import type { ProcessLine } from "../supervisor/process-line.ts";
import { ONLY_SITE } from "../supervisor/site-logs.ts";
import { systemClock } from "../system-clock.ts";
import { Children } from "../tiers/children.ts";
import { withRoomForTiers } from "../tiers/room-for-tiers.ts";
import { OnlyMemory, type PageMemory } from "./page-memory.ts";
import { SharedMemory } from "./shared-memory.ts";
import type { ListeningSocket, RunningWorker, WorkerStart } from "./worker-program.ts";

/** The part of the time for ending that is left for the disk, the logs and the last report. */
const LEFT_AFTER_ANSWERS_MS = 1_000;

type Edge = Omit<EdgeSettings, "sites">;
type Say = (line: string) => void;
type Survey = NonNullable<WorkerStart["survey"]>;

/** The program of each worker: the edge of each site, with a listener in front of all and the origins behind them. */
export async function startWorker({ name, settings, logs, line, survey }: WorkerStart): Promise<RunningWorker> {
  const { sites: given, ...edge } = settings as EdgeSettings;
  const say: Say = (text) => sayToOperator(`${name}: ${text}`);
  const isAlone = given[0]!.name === ONLY_SITE;
  const tier = openDisk(edge, line, say);
  const fetches = await shareFetches(edge, say);
  const challenges = edge.usesAcme ? await ChallengeAnswers.hear(line) : undefined;
  const worker = edge.workers > 1 ? `${name}, one of ${edge.workers}` : undefined;
  const permits = new PermitLeases(line);
  const originTalks = new OriginTalks(line, edge.sessionSecret);
  const memory = isAlone ? new OnlyMemory(edge.memoryBytes) : new SharedMemory(edge.memoryBytes);
  const closed = new Set(given.map((site) => site.name));
  const parts = { logs, tier, fetches, permits, originTalks, memory, worker, survey, closed, say };
  const sites = startSites(given, edge, parts);
  const accessLog =
    edge.accessLog && new AccessLog(edge.accessLog.path, edge.accessLog.format, say, undefined, !isAlone);
  return new EdgeWorker({ edge, sites, closed, fetches, permits, memory, accessLog, challenges, isAlone, say });
}

/** The disk tier; `null` if there is none. */
function openDisk({ disk, maxOpenPages }: Edge, line: ProcessLine, say: Say): DiskTier | null {
  if (disk === null) return null;
  const folder = CacheFolder.at(disk.folder);
  const writer = new WriterThread(folder);
  const janitor = janitorBehind(line);
  return new DiskTier({ folder, janitor, now: () => systemClock.now(), say, writer, mostOpen: maxOpenPages });
}

/** The fetches of all workers of the machine. They share them if they have a disk tier in common. */
async function shareFetches({ disk, workers }: Edge, say: Say): Promise<MachineFetches | undefined> {
  if (disk === null || workers === 1) return undefined;
  return MachineFetches.start({ places: placesForLocks(disk.folder), clock: systemClock, say });
}

interface PartsOfSites extends Pick<WorkerStart, "logs"> {
  readonly survey: WorkerStart["survey"] | undefined;
  readonly tier: DiskTier | null;
  readonly fetches: MachineFetches | undefined;
  readonly permits: PermitLeases;
  readonly originTalks: OriginTalks;
  readonly memory: OnlyMemory | SharedMemory;
  /** The name of this worker in an explanation, if there are several. */
  readonly worker: string | undefined;
  /** The sites that are not served yet. */
  readonly closed: ReadonlySet<string>;
  readonly say: Say;
}

/** All sites by their names. Several of them share the memory, the budget for bodies on their way, and the disk. */
function startSites(
  given: readonly SiteSettings[],
  { memoryBytes, disk, roomForBodies, maxOriginConnections, workers }: Edge,
  { logs, tier, fetches, permits, originTalks, memory, worker, survey, closed, say }: PartsOfSites,
): ReadonlyMap<string, StartedSite> {
  const common = {
    memoryBytes,
    bodies: nodeBodiesHeldIn(roomForBodies),
    largestBodyBytes: disk && largestBodyBytes(disk.maxBytes),
    fetches,
    permits,
    originTalks,
    workers,
    compressing: new MakingQueue(),
    dictionaries: DictionaryMemory.besidePages(memoryBytes),
    maxOriginConnections: ofEachOrigin(maxOriginConnections, given),
  };
  const fills = budgetOfAll(given);
  const started = new Map<string, StartedSite>();
  const partsOf = ({ name }: SiteSettings): SiteParts => {
    const log = logs.get(name)!;
    const readLedger = survey && ledgerOnMachine(log, survey, () => lookingSite(name, started));
    const own = (url: string) => started.get(name)!.isolate.lastRefusal(url);
    const lastRefusal = survey && ((url: string) => refusalOnMachine({ site: name, url }, survey, own(url)));
    const isServed = () => !closed.has(name);
    const alone = {
      ...common,
      worker,
      log,
      readLedger,
      ...(lastRefusal && { lastRefusal }),
      tier,
      isServed,
      write: say,
    };
    if (memory instanceof OnlyMemory) return { ...alone, memory: memory.entries };
    return {
      ...alone,
      memory: memory.of(name),
      fills,
      tier: tier?.ofSite(name) ?? null,
      write: (line) => say(`site ${name}: ${line}`),
    };
  };
  for (const each of given) started.set(each.name, startSite(each, partsOf(each)));
  return started;
}

/** A site alone sees all of the machine. */
function lookingSite(name: string, all: ReadonlyMap<string, StartedSite>): LookingSite {
  const hosts = all.size === 1 ? null : all.get(name)!.site.hosts;
  const others = [...all.values()].filter(({ settings }) => settings.name !== name);
  return { name, hosts, hostsOfOthers: others.flatMap(({ site }) => site.hosts ?? []) };
}

/** The ledger of a site, once all workers have reported to it, with the machine as the owner of the site may see it. */
function ledgerOnMachine(log: LogCalls, survey: Survey, looking: () => LookingSite): ReadLedger {
  return async (...asked) => {
    // Without a supervisor that answers there is no log to read either, and the error of that one is told.
    const found = await surveyFor(MACHINE, survey);
    const text = await log.readLedger(...asked);
    if (found === null) return text;
    const { isWritable, ...reading } = JSON.parse(text) as KeptReading;
    const machine = seenBySite(found.machine, looking(), isWritable);
    const isCurrent = found.isCurrent && isWritable;
    const current = isCurrent && { isCurrent, isolates: withoutDead(reading.isolates, machine) };
    return JSON.stringify({ ...reading, ...current, machine, metrics: machineMetrics(machine) });
  };
}

/** Why the last answer of a page was not stored that any worker has seen. `own`: as far as this one knows. */
async function refusalOnMachine(
  page: AskedPage,
  survey: Survey,
  own: Refusal | undefined,
): Promise<Refusal | undefined> {
  const found = await surveyFor(page, survey);
  return newestRefusal(page, found?.refusals ?? [], own);
}

/** `null` if the supervisor has died or hangs. */
function surveyFor(lookedFor: LookedFor, survey: Survey): Promise<MachineSurvey | null> {
  return survey(lookedFor).catch(() => null) as Promise<MachineSurvey | null>;
}

interface WorkerParts {
  readonly edge: Edge;
  readonly sites: ReadonlyMap<string, StartedSite>;
  /** Sites whose views have not reached the heads of their logs: at first all. */
  readonly closed: Set<string>;
  readonly fetches: MachineFetches | undefined;
  readonly permits: PermitLeases;
  readonly memory: PageMemory;
  readonly accessLog: AccessLog | null;
  readonly challenges: ChallengeAnswers | undefined;
  readonly isAlone: boolean;
  readonly say: Say;
}

/** The sites behind one listener. */
class EdgeWorker implements RunningWorker {
  readonly #parts: WorkerParts;
  readonly #background: BackgroundWork;
  readonly #reports: NodeJS.Timeout;
  #listener: Listener | undefined;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    this.#background = { run: (work) => void work.catch((cause: unknown) => parts.say(String(cause))) };
    this.#reports = setInterval(() => {
      for (const { isolate } of parts.sites.values()) isolate.reportIfDue(this.#background);
    }, REPORT_EVERY_MS / 4); // for others may have asked for a report since
  }

  async learn(delta: ViewDelta, site: string): Promise<boolean> {
    return this.#parts.sites.get(site)!.isolate.learn(delta, this.#background);
  }

  async listen(sockets: readonly ListeningSocket[], notAdmitted: readonly string[]): Promise<void> {
    const { closed, isAlone, say } = this.#parts;
    closed.clear();
    for (const site of notAdmitted) {
      closed.add(site);
      say(
        isAlone
          ? "the purge log does not answer, so this worker answers 503 until it does."
          : `site ${site}: its purge log does not answer, so the server answers 503 for this site until it does.`,
      );
    }
    this.#listener = await startListener(this.#listenerParts(), sockets);
  }

  admit(site: string): void {
    this.#parts.closed.delete(site);
  }

  async reopen(): Promise<boolean> {
    return (await this.#parts.accessLog?.reopen()) ?? true;
  }

  /** It reports to the ledgers of its sites for those who look at the machine. An older supervisor says nothing else. */
  async survey(lookedFor: readonly LookedFor[] = [MACHINE]): Promise<WorkerReply> {
    const { edge, sites, memory } = this.#parts;
    if (lookedFor.includes(MACHINE)) {
      await Promise.all([...sites.values()].map(({ isolate }) => isolate.reportNow()));
    }
    const pages = lookedFor.filter((each) => each !== MACHINE);
    const refusals = refusalsOf(pages, ({ site, url }) => sites.get(site)?.isolate.lastRefusal(url));
    const figures = await processFigures({
      connections: this.#listener?.connections ?? 0,
      maxConnections: edge.maxConnections,
      memory: {
        entries: memory.size,
        bytes: memory.heldBytes,
        maxBytes: edge.memoryBytes,
        evictions: memory.evictions,
      },
      origins: Object.fromEntries([...sites].flatMap(([name, site]) => queueOf(site).map((queue) => [name, queue]))),
    });
    return { ...figures, refusals };
  }

  async drain(withinMs: number): Promise<void> {
    const { fetches, permits, sites, memory, accessLog } = this.#parts;
    fetches?.retire();
    permits.retire();
    const closed = this.#closeListener(withinMs);
    // After a reload the last answers may take an hour, and the next worker fills a memory of its own.
    memory.empty();
    await closed;
    clearInterval(this.#reports);
    await Promise.all([...sites.values()].map((site) => site.end()));
    await fetches?.close();
    await accessLog?.close();
  }

  hurry(withinMs: number): void {
    void this.#closeListener(withinMs);
  }

  async #closeListener(withinMs: number): Promise<void> {
    const answersMs = forAnswersMs(withinMs);
    const { cutOff } = (await this.#listener?.close(answersMs)) ?? { cutOff: 0 };
    if (cutOff === 0) return;
    const cut = counted(cutOff, "connection was", "connections were");
    this.#parts.say(`${cut} cut off, because answers had not ended within ${answersMs / 1000} s.`);
  }

  #listenerParts(): ListenerParts {
    const { edge, sites, accessLog, challenges, isAlone, say } = this.#parts;
    const [first] = sites.values();
    // Machines with several sites share no log, so they have no children.
    const children = isAlone ? childrenOf(first!, say) : undefined;
    return {
      isolate: this.#openOne(first!),
      sites: isAlone ? undefined : new SitesByHost([...sites.values()].map((site) => this.#served(site))),
      bodies: nodeBodies,
      warn: say,
      usesFastAnswers: edge.usesFastAnswers,
      settings: { maxConnections: edge.maxConnections },
      trustedProxies: first!.site.trustedProxies,
      usesProxyProtocol: edge.usesProxyProtocol,
      tls: edge.tls ?? undefined,
      challenges,
      toHttps: first!.settings.toHttps ?? undefined,
      strictTransportSecurity: edge.strictTransportSecurity ?? undefined,
      ...(accessLog && { accessLog }),
      children: children && this.#openToChildren(first!, children),
    };
  }

  #isOpen({ settings }: StartedSite): boolean {
    return !this.#parts.closed.has(settings.name);
  }

  #openOne(started: StartedSite): RunningIsolate {
    return this.#isOpen(started) ? started.isolate : onceOpen(started.isolate, () => this.#isOpen(started));
  }

  /** Until the site is served, a child takes this server for a parent that fails. */
  #openToChildren(started: StartedSite, children: Children): Pick<Children, "answer"> {
    if (this.#isOpen(started)) return children;
    return { answer: (...asked) => (this.#isOpen(started) ? children.answer(...asked) : null) };
  }

  #served(started: StartedSite): ServedSite {
    const { site, settings } = started;
    const { name, toHttps } = settings;
    return {
      name,
      hosts: site.hosts,
      isolate: this.#openOne(started),
      trustedProxies: site.trustedProxies,
      toHttps: toHttps ?? undefined,
    };
  }
}

/** The queue for a site's origin: none where nothing bounds the requests there. */
function queueOf({ isolate, site: { capacity } }: StartedSite): OriginQueueStats[] {
  const { atOrigin } = isolate;
  if (capacity === null || atOrigin === null) return [];
  return [{ ...atOrigin, concurrency: capacity.concurrency }];
}

/** The part of the time for ending that answers may take. */
function forAnswersMs(withinMs: number): number {
  return Math.max(withinMs - LEFT_AFTER_ANSWERS_MS, 0);
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

/**
 * The room for bodies on their way of all sites of a process: as many bytes as the site has that may hold most, and places for
 * the bodies of each, so that no site takes another's by bodies that are slow.
 */
function budgetOfAll(sites: readonly SiteSettings[]): FillBudget {
  const limits = sites.map(({ site, overrides }) => compileSite(site, overrides).limits);
  return new FillBudget(
    Math.max(...limits.map(({ fillBytes }) => fillBytes)),
    limits.reduce((sum, { fills }) => sum + fills, 0),
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
