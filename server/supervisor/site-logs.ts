import { randomUUID } from "node:crypto";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { INVALIDATION } from "../../worker/purges/invalidations.ts";
import type { AppendRequest } from "../../worker/purges/log/log-contract.ts";
import { EVERYTHING_PURGE_KEY } from "../../worker/rules/key/purge-key.ts";
import { within } from "../../worker/within.ts";
import {
  HostsFile,
  type HostsOfSites,
  lastOwners,
  type OwnersOfHosts,
  ownersOf,
  type SitesOfHosts,
  sharersOf,
  type TakenHosts,
  takeHosts,
  UnwrittenHostsError,
} from "../log/hosts-of-sites.ts";
import type { GrantAtStart } from "../log/log-file.ts";
import { LogFolder } from "../log/log-folder.ts";
import type { ServedLog } from "../log/log-keeper.ts";
import { LogServer } from "../log/log-server.ts";
import { refusesWrites, storageErrorOf } from "../log/storage-error.ts";
import { LogChangedError } from "../postgres/machine-note.ts";
import { type LogOptions, openLog } from "./open-log.ts";
import type { LogOfSite } from "./process-messages.ts";

/** The name of the site of a server that serves no other. Its log is in the server's own folder. */
export const ONLY_SITE = "";

/** What is granted to a site's readers. */
export interface SiteGrant extends GrantAtStart {
  /** As `HostsOfSites` has them. Default: none. */
  readonly hosts?: readonly string[];
}

/** The sites of one configuration by their names. */
export type SiteGrants = ReadonlyMap<string, SiteGrant>;

/** Beside the server's own lock: which site has answered for which hosts. */
const HOSTS_FILE = "hosts.json";

export interface SiteLogsOptions extends LogOptions {
  /** The server's own folder, which no other server may use meanwhile. An only site has its log there. */
  readonly folder: string;
  /** The folder of the log of one of several sites. Default: there is one site alone. */
  readonly folderOf?: (site: string) => string;
  /** How long a worker waits for the logs of all sites before it serves those whose logs answer. Default: 5 s. */
  readonly admitWithinMs?: number;
}

interface OpenLog {
  readonly folder: LogFolder;
  readonly keeper: ServedLog;
  readonly server: LogServer;
}

/**
 * The purge logs that a supervisor keeps: one for each site, each in a folder of its own, with its own lock, socket and
 * readers. So a site's purges, receipts and counts are seen by nobody else, and a log that fails takes no other with it.
 */
export class SiteLogs {
  readonly #options: SiteLogsOptions;
  readonly #id = randomUUID();
  readonly #logs = new Map<string, OpenLog>();
  /** Of each worker that this supervisor has started. Others answer for hosts as they did before it. */
  readonly #owners = new Map<string, OwnersOfHosts>();
  readonly #ownersBefore: OwnersOfHosts;
  /** What the file of hosts has to say; `null` if that is not known. */
  #hosts: SitesOfHosts | null = null;
  /** What it says: the same object, unless the disk has not taken that. */
  #writtenHosts: SitesOfHosts | null = null;
  /** Why it has not, which the owner was told; `null` if it was not tried. */
  #whyUnwritten: unknown = null;
  /** Of the configurations by which workers accept connections. */
  #answering: readonly OwnersOfHosts[];
  #folder: LogFolder;
  #ownsFolder = true;
  /** The lock of workers of another supervisor, who are no strangers. */
  #known: string | null;
  /** Resolves when no log is being closed. */
  #closing: Promise<void> = Promise.resolve();
  /** The same for those that are being opened. */
  #opening: Promise<unknown> = Promise.resolve();
  /** All logs are being closed, or are closed. */
  #isLeft = false;

  /** `known`: as in `LogFolder.own`. Throws as that does, or if the file of hosts cannot be read. */
  constructor(options: SiteLogsOptions, known: string | null) {
    this.#options = options;
    this.#known = known;
    this.#folder = this.#own();
    this.#ownersBefore = lastOwners(this.#hosts ?? new Map());
    this.#answering = [this.#ownersBefore];
  }

  get isOpen(): boolean {
    return this.#logs.size > 0;
  }

  /** The file that all workers of this supervisor lock, whichever sites they serve. */
  get workersLock(): string {
    return this.#folder.workersLock;
  }

  /** Whether a worker of an earlier supervisor is still alive. */
  hasOrphans(): boolean {
    return this.#folder.hasOrphans();
  }

  /** The processes of those workers, as far as the system tells. */
  orphans(): number[] {
    return this.#folder.orphans();
  }

  /** The name by which the logs expect a worker. One that outlives its supervisor must not pass for one of the next. */
  readerOf(worker: string): string {
    return `${worker} of ${this.#id}`;
  }

  /**
   * Opens the logs of these sites that are not open yet, and serves them. `readersOf`: those who are readers of a site
   * already when its log is open. Where one of several cannot be used, another one stands in for it until it can. Rejects if
   * one cannot be opened all the same, and leaves the others open. Rejects after `close` and `giveAway`: another process may
   * have the folder by then.
   */
  async open(sites: SiteGrants, readersOf: (site: string) => Iterable<string> = () => []): Promise<void> {
    await this.#closing; // one of them may be there again
    if (this.#options.sharedLog !== undefined) this.#expectNoHostBack(sites);
    for (const [site, grant] of sites) {
      if (this.#isLeft) throw new Error("the server stops");
      if (this.#logs.has(site)) continue;
      const opening = this.#open(site, grant, () => readersOf(site)).then((log) => void this.#logs.set(site, log));
      this.#opening = opening.catch(() => undefined);
      await opening;
    }
    this.#takeHosts(sites);
    this.#answering = [...this.#answering, ownersOf(hostsIn(sites))];
  }

  /** From now on workers accept connections for these sites alone, whose logs are open. */
  take(sites: SiteGrants): void {
    if (this.#isLeft) return;
    this.#takeHosts(sites);
    this.#answering = [ownersOf(hostsIn(sites))];
  }

  /** Owns the folder again, after `giveAway`. Throws as the constructor does. */
  takeBack(): void {
    if (this.#ownsFolder) return;
    this.#known = null;
    this.#folder = this.#own();
    this.#ownsFolder = true;
    this.#isLeft = false;
  }

  /** What a worker needs that serves these sites. */
  of(sites: SiteGrants): LogOfSite[] {
    return [...sites.keys()].map((site) => {
      const { socketPath, workersLock } = this.#logs.get(site)!.folder;
      return { site, socket: socketPath, lock: workersLock };
    });
  }

  /** A worker is about to start that serves these sites. */
  expect(reader: string, sites: SiteGrants): void {
    this.#owners.set(reader, ownersOf(hostsIn(sites)));
    for (const site of sites.keys()) this.#logs.get(site)!.keeper.readers.expect(reader);
  }

  /**
   * Resolves once the reader may answer visitors of these sites, to those of which it may not yet, because their logs
   * do not answer: `late` is called for each as soon as it may, and is then removed from them. Rejects if it has ended.
   * `isNeeded` resolves if visitors need it though it can serve no site. Default: they never do.
   */
  async admit(
    reader: string,
    sites: readonly string[],
    late: (site: string) => void,
    isNeeded: () => Promise<void> = () => new Promise(() => undefined),
  ): Promise<ReadonlySet<string>> {
    const waiting = new Set(sites);
    let isOver = false;
    const admissions = sites.map(async (site) => {
      await this.#logs.get(site)!.keeper.readers.admit(reader);
      waiting.delete(site);
      if (isOver) late(site);
    });
    for (const admission of admissions) admission.catch(() => undefined); // those who wait for all of them hear of it
    const { clock, admitWithinMs = 5_000 } = this.#options;
    const enough = () =>
      waiting.size < sites.length ? undefined : Promise.race([Promise.any(admissions), isNeeded()]);
    await within(clock, admitWithinMs, Promise.all(admissions), enough);
    isOver = true;
    return waiting;
  }

  /** The reader's process has ended. */
  dismiss(reader: string): void {
    this.#owners.delete(reader);
    for (const { keeper } of this.#logs.values()) keeper.readers.dismiss(reader);
  }

  /** Workers that hold this lock count as strangers from now on. */
  forget(lock: string): void {
    this.#known = null;
    this.#folder.forget(lock);
    for (const { folder } of this.#logs.values()) if (folder !== this.#folder) folder.forget(lock);
  }

  /** Closes the logs of all sites but these, whose workers have ended. */
  closeOthers(used: ReadonlySet<string>): void {
    for (const site of this.#logs.keys()) if (!used.has(site)) this.#leave(site, (keeper) => keeper.close());
  }

  /** Closes the logs and leaves the folder to the next supervisor. To be called when the workers have ended. */
  close(): Promise<void> {
    return this.#leaveAll((keeper) => keeper.close());
  }

  /** The same for a supervisor whose readers the workers are from then on. */
  giveAway(): Promise<void> {
    return this.#leaveAll((keeper) => keeper.giveAway());
  }

  /** Owns the folder, and reads the file of hosts: from then on no other process writes it. */
  #own(): LogFolder {
    const { folder } = this.#options;
    const owned = LogFolder.own(folder, this.#id, this.#known);
    try {
      if (this.#writtenHosts === this.#hosts) this.#hosts = this.#writtenHosts = this.#hostsFile.read();
    } catch (cause) {
      this.#hosts = this.#writtenHosts = null;
      if (!refusesWrites(folder)) {
        owned.release(); // the supervisor may try again
        throw cause;
      }
    }
    return owned;
  }

  async #open(site: string, grant: GrantAtStart, readers: () => Iterable<string>): Promise<OpenLog> {
    const folder = site === ONLY_SITE ? this.#folder : this.#ownFolderOf(site);
    let keeper: ServedLog | undefined;
    try {
      keeper = await openLog(folder, grant, site === ONLY_SITE ? null : this.#folder, this.#options);
      for (const reader of readers()) keeper.readers.adopt(reader);
      const { report } = this.#options;
      const server = new LogServer(keeper, keeper.readers, {
        brokenPeer: (cause) => report({ kind: "broken-peer", cause }),
        purgesRefused: (cause) => report({ kind: "purges-refused", cause }),
        purgesTaken: () => report({ kind: "purges-taken", site: site === ONLY_SITE ? null : site }),
        purged: (...purge) => this.#passOn(site, ...purge),
      });
      await server.listen(folder.socketPath).catch((cause) => Promise.reject(storageErrorOf(folder.path, cause)));
      return { folder, keeper, server };
    } catch (cause) {
      await keeper?.close();
      if (folder !== this.#folder) folder.release();
      throw cause;
    }
  }

  /** Lets another log begin for each site that has a host back which another site had meanwhile, with a log of its own. */
  #takeHosts(sites: SiteGrants): void {
    const { before, now, back } = this.#takenHosts(sites);
    for (const site of before === null ? sites.keys() : back.keys()) {
      const why = before === null ? `${HOSTS_FILE} cannot be read` : `another site had ${back.get(site)} meanwhile`;
      this.#logs.get(site)?.keeper.replace?.(why);
    }
    if (!isDeepStrictEqual(now, before)) this.#hosts = now;
    this.#writeHosts();
  }

  /** Whether a log still has to begin anew. As long as the file of hosts stays as it was, a restart finds out again. */
  get #hasLogToReplace(): boolean {
    return [...this.#logs.values()].some(({ keeper }) => keeper.isToBeReplaced);
  }

  /** Writes what is not in the file yet. It is tried again with each purge, which could be undone otherwise. */
  #writeHosts(): void {
    const [hosts, written] = [this.#hosts, this.#writtenHosts];
    if (hosts === written || hosts === null || !this.#ownsFolder || this.#hasLogToReplace) return;
    try {
      this.#folder.claim(); // another server may have it since this one has started without
      this.#hostsFile.write(hosts);
      this.#writtenHosts = hosts;
      this.#whyUnwritten = null;
    } catch (cause) {
      // A disk that takes no writes must not keep pages from visitors.
      const isSaid = this.#whyUnwritten !== null;
      this.#whyUnwritten = cause;
      if (!isSaid) this.#options.report({ kind: "log-failed", cause: this.#unwrittenError() });
    }
  }

  /**
   * Whether a site has a host of another one, and the file does not say so: if the other has it back after a restart, its log
   * lacks the purges of this one, and no other log begins.
   */
  #mayBeUndone(site: string): boolean {
    const [hosts, written] = [this.#hosts, this.#writtenHosts];
    if (hosts === written || hosts === null) return false;
    const isUnwritten = (host: string) => !isDeepStrictEqual(hosts.get(host), written?.get(host));
    return [...hosts].some(([host, all]) => all.length > 1 && all.at(-1) === site && isUnwritten(host));
  }

  #unwrittenError(): UnwrittenHostsError {
    return new UnwrittenHostsError(join(this.#options.folder, HOSTS_FILE), this.#whyUnwritten);
  }

  /**
   * While a host moves, workers answer for it as two sites, with two logs, and those that finish their answers still take
   * purges of its pages. The keys follow from the rules of one site, so the purge reaches the other as one of everything.
   * Resolves to the time in which that settles, in milliseconds.
   */
  async #passOn(site: string, reader: string, purge: AppendRequest): Promise<number> {
    this.#writeHosts();
    if (this.#mayBeUndone(site)) throw this.#unwrittenError();
    const owners = this.#owners.get(reader) ?? this.#ownersBefore;
    const sites = new Set(this.#answering.flatMap((each) => sharersOf(site, owners, each)));
    const logs = [...sites].flatMap((each) => this.#logs.get(each) ?? []);
    const { mode = "hard", repeatAfterMs, leaseMs, skewMs } = purge;
    const asked = { ...INVALIDATION, mode, repeatAfterMs, leaseMs, skewMs, since: null };
    const everything = { ...asked, purgeKeys: [EVERYTHING_PURGE_KEY], reason: "a host was another site's" };
    const results = await Promise.all(logs.map(({ keeper }) => keeper.append(everything)));
    return Math.max(0, ...results.map((result) => (result.kind === "appended" ? result.settlesInMs : 0)));
  }

  /** No other log can begin where several machines share one. */
  #expectNoHostBack(sites: SiteGrants): void {
    const { before, back } = this.#takenHosts(sites);
    const [host] = back.values();
    if (before !== null && host === undefined) return;
    const had =
      before === null ? `wrote ${HOSTS_FILE}, which cannot be read` : `served ${host} as another site meanwhile`;
    throw new LogChangedError(this.#options.folder, had);
  }

  /** `before`: `null` if that is not known. */
  #takenHosts(sites: SiteGrants): TakenHosts & { readonly before: SitesOfHosts | null } {
    const before = this.#hosts;
    return { before, ...takeHosts(before ?? new Map(), hostsIn(sites)) };
  }

  get #hostsFile(): HostsFile {
    return new HostsFile(join(this.#options.folder, HOSTS_FILE));
  }

  #ownFolderOf(site: string): LogFolder {
    const path = this.#options.folderOf!(site);
    return LogFolder.own(path, this.#id, this.#known && join(path, basename(this.#known)), true);
  }

  async #leaveAll(end: EndLog): Promise<void> {
    this.#isLeft = true;
    await this.#opening;
    const isToBeKept = this.#hasLogToReplace;
    for (const site of this.#logs.keys()) this.#leave(site, end);
    await this.#closing;
    if (!isToBeKept) this.#writeHosts();
    if (this.#ownsFolder) this.#folder.release();
    this.#ownsFolder = false;
  }

  #leave(site: string, end: EndLog): void {
    const log = this.#logs.get(site)!;
    this.#logs.delete(site);
    const leave = async () => {
      await log.server.close();
      await end(log.keeper);
    };
    const left = leave()
      .catch((cause: unknown) => this.#options.report({ kind: "log-failed", cause }))
      .finally(() => {
        if (log.folder !== this.#folder) log.folder.release();
      });
    this.#closing = Promise.all([this.#closing, left]).then(() => undefined);
  }
}

function hostsIn(sites: SiteGrants): HostsOfSites {
  return new Map([...sites].map(([site, { hosts = [] }]) => [site, hosts]));
}

type EndLog = (keeper: ServedLog) => void | Promise<void>;
