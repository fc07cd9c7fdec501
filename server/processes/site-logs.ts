import { basename, join } from "node:path";
import type { Clock } from "../../worker/ports.ts";
import type { GrantAtStart } from "../log/log-file.ts";
import { LogFolder } from "../log/log-folder.ts";
import type { ServedLog } from "../log/log-keeper.ts";
import { LogServer } from "../log/log-server.ts";

/** The name of the site of a server that serves no other. Its log is in the server's own folder. */
export const ONLY_SITE = "";

/** The sites of one configuration by their names, with what is granted to their readers. */
export type SiteGrants = ReadonlyMap<string, GrantAtStart>;

/** What a worker needs to reach the log of a site. */
export interface LogOfSite {
  readonly site: string;
  /** Where it reaches the log. */
  readonly socket: string;
  /** The worker holds a shared lock on this file for as long as it lives. */
  readonly lock: string;
}

export interface SiteLogsOptions {
  /** The server's own folder, which no other server may use meanwhile. */
  readonly folder: string;
  /** The folder of a site's log; not called for the only site. */
  readonly folderOf: (site: string) => string;
  /** Names this supervisor among all that ever use the folders. */
  readonly id: string;
  /** Opens a log in its folder. */
  readonly open: (folder: LogFolder, grant: GrantAtStart) => ServedLog | Promise<ServedLog>;
  readonly onBrokenPeer: (cause: unknown) => void;
  readonly clock: Clock;
}

/** How long a worker waits for the logs of all sites before it serves those whose logs answer. Milliseconds. */
const ADMIT_WITHIN_MS = 5_000;

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
  readonly #logs = new Map<string, OpenLog>();
  #folder: LogFolder;
  /** The lock of workers of another supervisor, who are no strangers. */
  #known: string | null;
  #isOpen = false;
  #isOwned = true;
  /** Resolves when no log is being closed. */
  #closing: Promise<unknown> = Promise.resolve();

  /** `known`: as in `LogFolder.own`. Throws as that does. */
  constructor(options: SiteLogsOptions, known: string | null) {
    this.#options = options;
    this.#known = known;
    this.#folder = LogFolder.own(options.folder, options.id, known);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The file that all workers of this supervisor lock, whichever sites they serve. */
  get workersLock(): string {
    return this.#folder.workersLock;
  }

  hasOrphans(): boolean {
    return this.#folder.hasOrphans();
  }

  /** Opens the logs of these sites that are not open yet. Rejects if one cannot be, and leaves the others open. */
  async open(sites: SiteGrants): Promise<void> {
    this.#isOpen = true;
    await this.#closing; // one of them may be there again
    for (const [site, grant] of sites)
      if (!this.#logs.has(site)) this.#logs.set(site, await this.#openLog(site, grant));
  }

  /** Owns the folder again, after `close`. */
  ownAgain(): void {
    this.#known = null;
    this.#folder = LogFolder.own(this.#options.folder, this.#options.id);
    this.#isOwned = true;
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
    for (const site of sites.keys()) this.#logs.get(site)!.keeper.readers.expect(reader);
  }

  /** The reader answers visitors of these sites already. Without names, it may serve any of them. */
  adopt(reader: string, sites: Iterable<string> = this.#logs.keys()): void {
    for (const site of sites) this.#logs.get(site)!.keeper.readers.adopt(reader);
  }

  /**
   * Resolves once the reader may answer visitors of these sites, to those of which it may not yet, because their logs do
   * not answer: `late` is called for each as soon as it may. Rejects if it has ended.
   */
  async admit(reader: string, sites: SiteGrants, late: (site: string) => void): Promise<readonly string[]> {
    const waiting = new Set(sites.keys());
    let isOver = false;
    const admissions = [...sites.keys()].map(async (site) => {
      await this.#logs.get(site)!.keeper.readers.admit(reader);
      waiting.delete(site);
      if (isOver) late(site);
    });
    for (const admission of admissions) admission.catch(() => undefined); // those who wait for all of them hear of it
    const all = Promise.all(admissions);
    const wait = this.#options.clock.wait(ADMIT_WITHIN_MS);
    // With one site, or while no site could be served, there is nothing to begin with.
    const mayBegin = wait.over.then(() => (waiting.size < sites.size ? undefined : Promise.any(admissions)));
    mayBegin.catch(() => undefined);
    try {
      await Promise.race([all, mayBegin]);
    } finally {
      wait.cancel();
    }
    isOver = true;
    return [...waiting];
  }

  /** The reader's process has ended. */
  dismiss(reader: string): void {
    for (const { keeper } of this.#logs.values()) keeper.readers.dismiss(reader);
  }

  /** The workers that hold this lock are strangers from now on. */
  forget(lock: string): void {
    this.#known = null;
    this.#folder.forget(lock);
    for (const { folder } of this.#logs.values()) if (folder !== this.#folder) folder.forget(lock);
  }

  /** Closes the logs of all sites but these. */
  closeOthers(used: SiteGrants): void {
    for (const [site, log] of [...this.#logs]) {
      if (used.has(site)) continue;
      this.#logs.delete(site);
      this.#closing = Promise.all([this.#closing, this.#closeLog(log)]);
    }
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.closeOthers(new Map());
    await this.#closing;
    this.release();
  }

  /** Gives the folder up, whose logs are closed. */
  release(): void {
    if (this.#isOwned) this.#folder.release();
    this.#isOwned = false;
  }

  async #openLog(site: string, grant: GrantAtStart): Promise<OpenLog> {
    const { folderOf, id, open, onBrokenPeer } = this.#options;
    const folder = site === ONLY_SITE ? this.#folder : this.#ownFolder(folderOf(site), id);
    try {
      const keeper = await open(folder, grant);
      try {
        const server = new LogServer(keeper, keeper.readers, onBrokenPeer);
        await server.listen(folder.socketPath);
        return { folder, keeper, server };
      } catch (cause) {
        await keeper.close();
        throw cause;
      }
    } catch (cause) {
      if (folder !== this.#folder) folder.release();
      throw cause;
    }
  }

  #ownFolder(path: string, id: string): LogFolder {
    return LogFolder.own(path, id, this.#known && join(path, basename(this.#known)));
  }

  async #closeLog({ folder, keeper, server }: OpenLog): Promise<void> {
    await server.close();
    await keeper.close();
    if (folder !== this.#folder) folder.release();
  }
}
