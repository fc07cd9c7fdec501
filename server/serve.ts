import { resolve } from "node:path";
import { ASKS_FOR_CHALLENGES, ChallengeOffice } from "./acme/challenge-office.ts";
import { KeptCertificates } from "./acme/kept-certificates.ts";
import type { AcmeOptions } from "./acme/prepared-acme.ts";
import { CacheFolder } from "./disk/cache-folder.ts";
import { Janitor } from "./disk/eviction/janitor.ts";
import { janitorService } from "./disk/eviction/janitor-service.ts";
import { replacedOrigins } from "./disk/last-origins.ts";
import { openInTime } from "./disk/open-in-time.ts";
import { refusesWrites } from "./log/storage-error.ts";
import { surveyMachine } from "./machine/machine-survey.ts";
import { addressText } from "./origin/origin-address.ts";
import { ASKS_FOR_ORIGIN_NEWS, isOriginMessage, OriginNewsOffice } from "./origin/origin-news-office.ts";
import { ASKS_FOR_PERMITS, isPermitMessage } from "./permits/permit-messages.ts";
import { PermitOffice } from "./permits/permit-office.ts";
import { EDGE_PROGRAM } from "./program/worker-program.ts";
import { keptFiles, keptForLogs } from "./startup/disk-room.ts";
import { logFoldersOf, type Prepared, prepare, type ServeOptions } from "./startup/prepare-server.ts";
import { hostsOf, logFolderOf } from "./startup/prepared-sites.ts";
import { ServerError } from "./startup/server-error.ts";
import { isOfSite } from "./startup/sites-folder.ts";
import {
  type FileStates,
  statesOf,
  type WatchedPaths,
  type WatchedStates,
  type Watching,
  watchFiles,
} from "./startup/watched-files.ts";
import type { ServedWorker, WorkerService } from "./supervisor/process-line.ts";
import { ONLY_SITE } from "./supervisor/site-logs.ts";
import { startSuccessor } from "./supervisor/start-successor.ts";
import { Supervisor } from "./supervisor/supervisor.ts";
import type { SurveyedWorkers } from "./supervisor/worker-pool.ts";
import { systemClock } from "./system-clock.ts";

/** Starts the server. Rejects, and leaves nothing behind, if it cannot start. `before`: from `statesBefore`. */
export async function serve(options: ServeOptions, prepared: Prepared, before: WatchedStates): Promise<RunningServer> {
  const server = new RunningServer(options, prepared, before);
  await server.start();
  return server;
}

/** How the files are that say which sites there are. Call it before `prepare`, so that what changes meanwhile is noticed. */
export function statesBefore(options: ServeOptions): WatchedStates {
  return statesOf(pathsToWatch(options, { sites: new Map(), config: options.config }, new Map()));
}

/** The server of this process: a supervisor, and what belongs to it. */
export class RunningServer {
  readonly #options: ServeOptions;
  readonly #folder: CacheFolder | null;
  /** False if its disk took no writes. */
  readonly #hasOpenFolder: boolean;
  readonly #originNews = new OriginNewsOffice();
  readonly #challenges = new ChallengeOffice(systemClock);
  readonly #certificates: KeptCertificates | null;
  readonly #started = Promise.withResolvers<void>();
  /** What the workers run with. */
  #prepared: Prepared;
  readonly #watching: Watching;
  /** The files that the last reload read. */
  #lastRead: FileStates = new Map();
  /** The next reload reads all sites, and not only those whose files have changed. */
  #readsAll = false;
  #janitor: Janitor | null = null;
  #supervisor!: Supervisor;
  #hasLoaded = false;
  #hasEnded = false;

  constructor(options: ServeOptions, prepared: Prepared, before: WatchedStates) {
    this.#options = options;
    this.#prepared = prepared;
    const { disk } = prepared.settings;
    this.#hasOpenFolder = disk !== null && opensFolder(disk.folder); // while nothing has changed hands
    this.#folder = disk && CacheFolder.at(disk.folder);
    this.#certificates = options.acme && this.#keepCertificates(options.acme);
    // Before the start, which may wait for the log.
    this.#watching = watchFiles(pathsToWatch(options, prepared, filesOf(prepared)), before, () => {
      void this.#started.promise.then(() => this.#supervisor.loadChanges());
    });
  }

  get addresses(): readonly string[] {
    return this.#supervisor.addresses;
  }

  get prepared(): Prepared {
    return this.#prepared;
  }

  /** Resolves when the server has stopped; rejects if it gave up. */
  get ended(): Promise<void> {
    return this.#supervisor.ended;
  }

  async start(): Promise<void> {
    try {
      this.#supervisor = await this.#startSupervisor();
    } catch (cause) {
      this.#watching.stop();
      await this.#janitor?.close();
      throw cause;
    }
    this.#tellOfOrigins();
    this.#started.resolve();
    this.#certificates?.begin();
    const end = () => this.#end();
    this.#supervisor.ended.then(end, end);
  }

  reload(): Promise<boolean> {
    this.#certificates?.tryAgain();
    this.#readsAll = true;
    return this.#supervisor.reload();
  }

  reopen(): Promise<void> {
    return this.#supervisor.reopen();
  }

  upgrade(): Promise<boolean> {
    return this.#supervisor.upgrade();
  }

  stop(): Promise<void> {
    return this.#supervisor.stop();
  }

  #startSupervisor(): Promise<Supervisor> {
    const { cache, listen, sockets, predecessor, ahead, workers, log, report } = this.#options;
    const { disk } = this.#prepared.settings;
    const permits = new PermitOffice();
    const originNews = this.#originNews;
    return Supervisor.start({
      folder: resolve(cache, "log"),
      folderOf: (site) => logFolderOf(cache, site),
      ...{ listen, sockets, predecessor, ahead, workers, report, permits, originNews },
      startSuccessor: () => startSuccessor(this.addresses),
      // From here on the successor's janitor alone gives out room on the disk.
      onHandOver: () => {
        this.#certificates?.end();
        void this.#janitor?.close();
      },
      onTakenBack: () => {
        this.#janitor = this.#openDisk();
        this.#certificates?.begin();
      },
      program: EDGE_PROGRAM,
      load: () => this.#load(),
      describe: (surveyed) => this.#describe(surveyed),
      ...(log !== null && { sharedLog: log }),
      service: servicesOf(
        permits,
        originNews,
        this.#challenges,
        disk && { connect: () => janitorService(this.#janitor!).connect() },
      ),
    });
  }

  /** What the workers run with. The first call takes what was prepared; each later one reads all settings again. */
  async #load() {
    const prepared = this.#hasLoaded ? await this.#readChanges() : this.#prepared;
    // Not before: until now another server may own the folder, and delete and count its files.
    if (!this.#hasLoaded) this.#janitor = this.#openDisk();
    this.#hasLoaded = true;
    const { settings, sites } = prepared;
    return {
      settings: { ...settings, sessionSecret: this.#originNews.secret },
      sites: new Map([...sites].map(([name, each]) => [name, { ...each.site.purge, hosts: hostsOf(each) }])),
      onTakenOver: () => {
        this.#prepared = prepared;
        this.#tellOfOrigins();
        this.#certificates?.look();
      },
    };
  }

  async #readChanges(): Promise<Prepared> {
    const read = new Map<string, string>();
    const keepsUnchanged = !this.#readsAll;
    this.#readsAll = false;
    let prepared = this.#prepared;
    try {
      prepared = await prepare(this.#options, prepared, read, this.#lastRead, keepsUnchanged);
    } finally {
      this.#lastRead = read;
      if (!this.#hasEnded) this.#watching.change(pathsToWatch(this.#options, prepared, read));
    }
    if (this.#hasEnded) throw new ServerError("the server stops.");
    for (const line of prepared.warnings) this.#options.report({ kind: "warning", line });
    return prepared;
  }

  #keepCertificates(options: AcmeOptions): KeptCertificates {
    return new KeptCertificates({
      options,
      prepared: () => this.#prepared.acme!,
      challenged: this.#challenges,
      reload: () => this.#supervisor.loadChanges(),
      say: (line) => this.#options.report({ kind: "warning", line }),
    });
  }

  #openDisk(): Janitor | null {
    const { settings, sites } = this.#prepared;
    const { disk } = settings;
    if (this.#folder === null || disk === null) return null;
    const say = (line: string) => this.#options.report({ kind: "warning", line });
    const janitor = new Janitor(this.#folder, disk.maxBytes, {
      keptFreeBytes: keptForLogs(disk.folder, logFoldersOf(this.#options, sites)),
      keptFreeFiles: keptFiles(disk.folder),
      say,
    });
    void this.#readDisk(janitor, disk.folder, say);
    void janitor.keepRoom();
    return janitor;
  }

  /** The disk is read in the background: its pages can be used before that has ended. */
  async #readDisk(janitor: Janitor, folder: string, say: (line: string) => void): Promise<void> {
    if (!this.#hasOpenFolder) {
      const isMade = CacheFolder.isAt(folder);
      if (!(await openInTime(folder, { say, isOver: () => janitor.isClosed }))) return;
      if (!isMade) this.#tellOfOrigins();
    }
    await janitor.scanUntilRead(); // a disk that cannot be read is reported by those who read pages
  }

  /** Another site in the folder of the last one would serve its pages. */
  #tellOfOrigins(): void {
    const { settings } = this.#prepared;
    if (settings.disk === null) return;
    const named = settings.sites.flatMap(({ name, origin }) => (origin ? [[name, addressText(origin)] as const] : []));
    const origins = new Map(named);
    for (const [name, before] of replacedOrigins(settings.disk.folder, origins)) {
      const site = name === ONLY_SITE ? "" : `site ${name}: `;
      const line =
        `${site}pages that were fetched from ${before} are kept, though the origin is now ${origins.get(name)}. ` +
        "If this is another site, purge them: tidemark purge --everything";
      this.#options.report({ kind: "warning", line });
    }
  }

  #describe(surveyed: SurveyedWorkers) {
    const { memoryBytes, cache } = this.#options;
    const certificates = this.#prepared.settings.tls?.certificates ?? [];
    return surveyMachine(surveyed, { memoryBytes, certificates, disk: this.#janitor, folder: cache });
  }

  #end(): void {
    this.#hasEnded = true;
    this.#certificates?.end();
    this.#watching.stop();
    void this.#janitor?.close();
  }
}

/**
 * What the supervisor offers to its workers: permits for the origins, news of them, challenges of an authority and, with a
 * disk, room on that.
 */
function servicesOf(
  permits: WorkerService,
  news: WorkerService,
  challenges: WorkerService,
  disk: WorkerService | null,
): WorkerService {
  return {
    connect: () => {
      const office = permits.connect();
      const others = news.connect();
      const pending = challenges.connect();
      const janitor = disk?.connect();
      const asked = new Map<unknown, ServedWorker>([
        [ASKS_FOR_PERMITS, office],
        [ASKS_FOR_ORIGIN_NEWS, others],
        [ASKS_FOR_CHALLENGES, pending],
      ]);
      return {
        ask: (question) => (asked.get(question) ?? janitor)?.ask(question) ?? Promise.resolve(),
        tell: (message) => {
          if (isPermitMessage(message)) office.tell(message);
          else if (isOriginMessage(message)) others.tell(message);
          else janitor?.tell(message);
        },
        close: () => {
          for (const each of [office, others, pending, janitor]) each?.close();
        },
      };
    },
  };
}

/** Opens the folder of the pages; a disk that takes no writes must not keep the server from starting, and is tried again. */
function opensFolder(path: string): boolean {
  try {
    CacheFolder.open(path);
    return true;
  } catch (cause) {
    if (!refusesWrites(path)) throw cause;
    return false;
  }
}

function filesOf({ sites }: Pick<Prepared, "sites">): FileStates {
  return new Map([...sites.values()].flatMap(({ loaded }) => [...loaded.files]));
}

/**
 * The files of the sites in use, those that were read last, which may have mistakes, as certificates may, and the folder
 * where one of several sites may be added or removed.
 */
function pathsToWatch(
  { sites, defaultConfig }: ServeOptions,
  prepared: Pick<Prepared, "sites" | "config">,
  read: FileStates,
): WatchedPaths {
  const folder = sites === null ? null : resolve(sites);
  const files = new Set([...filesOf(prepared).keys(), ...read.keys()]);
  if (folder === null && prepared.config === null && defaultConfig !== null) files.add(resolve(defaultConfig));
  if (folder !== null) for (const name of prepared.sites.keys()) files.add(resolve(folder, `${name}.env`));
  return { files: [...files], folder, isOfFolder: isOfSite, read };
}
