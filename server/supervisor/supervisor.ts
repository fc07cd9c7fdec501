import type { ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { ownPackage } from "../../package/own-package.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import { AskedTogether } from "../asked-together.ts";
import type { Clocks } from "../log/clock-steps.ts";
import { FolderInUseError } from "../log/log-folder.ts";
import { StorageError } from "../log/storage-error.ts";
import { HANGS_AFTER_MS } from "../machine/pulse.ts";
import type { OriginNewsOffice } from "../origin/origin-news-office.ts";
import type { PermitOffice } from "../permits/permit-office.ts";
import { SharedLogError } from "../postgres/database-error.ts";
import { systemClock } from "../system-clock.ts";
import { handOver } from "./hand-over.ts";
import {
  advance,
  beginLifecycle,
  type EndsWithin,
  type Lifecycle,
  type LifecycleAction,
  type LifecycleEvent,
} from "./lifecycle.ts";
import { type HeldSocket, type ListenAddress, openSockets } from "./listening-sockets.ts";
import { expectLog } from "./open-log.ts";
import { type SiteGrants, SiteLogs, type SiteLogsOptions } from "./site-logs.ts";
import { type HandOver, type Predecessor, Successor } from "./upgrade.ts";
import { type Loaded, type PoolOptions, REPLACE_WITHIN_MS, type SurveyedWorkers, WorkerPool } from "./worker-pool.ts";

/** A log that cannot be used is tried again after this time. Milliseconds. */
const TRY_AGAIN_MS = 1_000;

/** How long a server that starts waits for a log that cannot be used, or one that takes it back for its folder. Milliseconds. */
const REACH_WITHIN_MS = 30_000;

const WAITS_FOR_PREDECESSOR = "the upgrade begins when the previous server has finished its answers";

/** One supervisor owns the folder. */
export interface SupervisorOptions extends Omit<SiteLogsOptions, "clock">, PoolOptions {
  readonly listen: readonly ListenAddress[];
  /** Sockets that are open already, beside those. */
  readonly sockets?: readonly HeldSocket[];
  /** The server that hands over to this one, with its sockets instead of all others. */
  readonly predecessor?: Predecessor | null;
  /** Starts a new server, which finds this one as its predecessor. Default: there can be none. */
  readonly startSuccessor?: () => ChildProcess;
  /** The permits for the origins, which a successor takes over. Default: there are none. */
  readonly permits?: PermitOffice;
  /** What the workers know of the origins. A successor takes its sessions over. Default: nothing. */
  readonly originNews?: OriginNewsOffice;
  /** A successor takes over: the service gives the workers nothing more. */
  readonly onHandOver?: () => void;
  /** A successor could not take over after all: the service is needed again, by workers that are about to start. */
  readonly onTakenBack?: () => void;
  /**
   * The answer to workers that ask for a survey of the machine: plain data. Never rejects. Default: what they have
   * said.
   */
  readonly describe?: (surveyed: SurveyedWorkers) => Promise<unknown>;
  /** Reads the configuration, at the start and at each reload. Rejects, with a message for the owner, if it is wrong. */
  readonly load: () => Promise<Loaded>;
  /** The number of workers. Default: one for each core that the process may use. */
  readonly workers?: number;
  /** How long workers may take to finish their answers when everything stops: milliseconds. Default: 10 s. */
  readonly stopWithinMs?: number;
  /** The next worker starts at once if the last one lived for this many milliseconds. Default: 10 s. */
  readonly soundAfterMs?: number;
  /** A worker that computes for so many milliseconds without coming to its messages is replaced. Default: 20 s. */
  readonly hangsAfterMs?: number;
  readonly clock?: Clock & Clocks;
}

/**
 * The process that owns the purge log and the listening sockets, and keeps the workers running. It takes no traffic
 * itself.
 */
export class Supervisor {
  /** Resolves when it has stopped. Rejects if it gave up, because workers died at their start again and again. */
  readonly ended: Promise<void>;
  readonly #options: SupervisorOptions;
  readonly #clock: Clock & Clocks;
  readonly #logs: SiteLogs;
  readonly #pool: WorkerPool;
  readonly #withinMs: Readonly<Record<EndsWithin, number>>;
  readonly #ended = Promise.withResolvers<void>();
  #lifecycle: Lifecycle;
  /** A survey shows what its callers did before they asked. */
  readonly #surveys = new AskedTogether<unknown, unknown>((lookedFor) => this.#survey(lookedFor));
  /** The callers who wait for the next load of the configuration, and for the end of an upgrade. */
  readonly #reloads: PromiseWithResolvers<boolean>[] = [];
  readonly #upgrades: PromiseWithResolvers<boolean>[] = [];
  #sockets: readonly HeldSocket[] = [];
  /** The grants of all configurations so far. */
  #grants: SiteGrants = new Map();
  /** A new server that has the log, or is about to. */
  #successor: Successor | null = null;
  /** Resolves when the server before this one has ended. Only it knows when its workers end. */
  #predecessorEnds: Promise<void> = Promise.resolve();
  #ending: Promise<void> | null = null;

  private constructor(options: SupervisorOptions, handOver: HandOver | null) {
    const { workers = availableParallelism(), clock = systemClock } = options;
    const { stopWithinMs = 10_000, soundAfterMs = 10_000, hangsAfterMs = HANGS_AFTER_MS } = options;
    this.#options = options;
    this.#clock = clock;
    this.#withinMs = { stop: stopWithinMs, replace: REPLACE_WITHIN_MS, now: 0 };
    this.#logs = new SiteLogs({ ...options, clock }, handOver?.lock ?? null);
    this.#pool = new WorkerPool(options, {
      clock,
      logs: this.#logs,
      size: workers,
      stopWithinMs,
      soundAfterMs,
      hangsAfterMs,
      onEnded: (reader) => this.#dismiss(reader),
      survey: (lookedFor) => this.#surveys.ask(lookedFor),
      onHopeless: (cause) => void this.#giveUp(cause),
    });
    this.#lifecycle = beginLifecycle(handOver !== null);
    this.ended = this.#ended.promise;
    this.ended.catch(() => undefined); // it is for those who wait
  }

  /** Resolves when workers accept connections. Rejects, and leaves nothing behind, if that cannot be. */
  static async start(options: SupervisorOptions): Promise<Supervisor> {
    if (options.predecessor) await expectLog(options);
    const handOver = (await options.predecessor?.takeOver()) ?? null;
    const supervisor = new Supervisor(options, handOver);
    try {
      await supervisor.#begin(handOver);
      return supervisor;
    } catch (cause) {
      await supervisor.#giveUp(cause);
      throw cause;
    }
  }

  /** Where it listens: `127.0.0.1:8080`, `https://127.0.0.1:8443` with TLS, or the path of a Unix socket. */
  get addresses(): string[] {
    return this.#sockets.map(({ address, scheme }) => (scheme === "https" ? `https://${address}` : address));
  }

  /** The processes that accept connections, by their names. */
  get workers(): ReadonlyMap<string, number> {
    return this.#pool.listening;
  }

  /**
   * Does as `loadChanges`, and lets workers that only finish their answers open their log files anew: these may have been
   * moved away. A successor that has taken over is told in the place of this server.
   */
  reload(): Promise<boolean> {
    void this.#reopenAll();
    return this.#ask(this.#reloads, { kind: "reload-asked" });
  }

  /**
   * Loads the configuration anew, starts workers with it, and then lets the old ones finish. If it is wrong, or they do
   * not start, the old ones stay. Resolves to whether the new configuration is in use.
   */
  loadChanges(): Promise<boolean> {
    return this.#ask(this.#reloads, { kind: "changes-seen" });
  }

  /**
   * Starts a new server, hands over sockets and log, lets the workers of this one finish, and ends. If the new one cannot
   * start, this one goes on. Resolves to whether the new one has taken over.
   */
  upgrade(): Promise<boolean> {
    return this.#ask(this.#upgrades, { kind: "upgrade-asked" });
  }

  /** Lets all workers open their log files anew, also those that only finish their answers, and those of a predecessor. */
  async reopen(): Promise<void> {
    this.#successor?.reopen();
    if (await this.#reopenAll()) this.#options.report({ kind: "reopened" });
  }

  /**
   * Stops accepting connections, lets the workers finish, and ends; with them those of a predecessor. A second call ends
   * them at once.
   */
  stop(): Promise<void> {
    this.#tell({ kind: "stop-asked" });
    return this.#ending!;
  }

  /** The workers of a predecessor report to the ledger as well, and only their own supervisor could ask them. */
  async #survey(lookedFor: readonly unknown[]): Promise<unknown> {
    const ofPool = await this.#pool.survey(lookedFor);
    const surveyed = { ...ofPool, areAll: ofPool.areAll && !this.#lifecycle.hasPredecessor };
    return this.#options.describe ? this.#options.describe(surveyed) : surveyed;
  }

  #ask(waiting: PromiseWithResolvers<boolean>[], event: LifecycleEvent): Promise<boolean> {
    const answer = Promise.withResolvers<boolean>();
    waiting.push(answer);
    this.#tell(event);
    return answer.promise;
  }

  #tell(event: LifecycleEvent): void {
    const { next, actions } = advance(this.#lifecycle, event);
    this.#lifecycle = next;
    for (const action of actions) this.#act(action);
  }

  #act(action: LifecycleAction): void {
    switch (action.kind) {
      case "load": {
        const loaded = this.#load().finally(() => this.#tell({ kind: "reload-ended" }));
        for (const { resolve } of this.#reloads.splice(0)) resolve(loaded);
        return;
      }
      case "refuse-reloads":
        for (const { resolve } of this.#reloads.splice(0)) resolve(false);
        return;
      case "close-unused-logs":
        this.#closeUnusedLogs();
        return;
      case "say-that-upgrade-waits":
        this.#options.report({ kind: "warning", line: WAITS_FOR_PREDECESSOR });
        return;
      case "hand-over":
        void this.#handOverTo().then((hasHandedOver) => this.#tell({ kind: "upgrade-ended", hasHandedOver }));
        return;
      case "answer-upgrades":
        for (const { resolve } of this.#upgrades.splice(0)) resolve(action.hasHandedOver);
        return;
      case "reload-successor":
        this.#successor?.reload();
        return;
      case "stop-predecessor":
        this.#options.predecessor?.stop(this.#withinMs[action.within]);
        return;
      case "end":
        if (action.because === "stopped") this.#options.report({ kind: "stopping" });
        this.#ending = this.#end(this.#withinMs[action.within]).then(() => {
          if (action.because === "handed-over") this.#successor?.leave();
          this.#ended.resolve(); // which changes nothing if it gave up
        });
        return;
      case "hurry":
        this.#pool.finishWithin(this.#withinMs[action.within]);
        return;
    }
  }

  async #begin(handOver: HandOver | null): Promise<void> {
    const { listen, load, report, sockets = [], predecessor } = this.#options;
    this.#sockets = handOver?.sockets ?? sockets;
    if (handOver?.permits) this.#followPermits(handOver.permits);
    if (handOver?.sessions) this.#options.originNews?.takeOver(handOver.sessions);
    const loaded = await load();
    await this.#openFirstLogs(loaded.sites, handOver);
    if (handOver !== null) this.#followPredecessor(handOver);
    predecessor?.tellLogIsOpen();
    if (handOver === null) {
      const opened = await openSockets(
        listen,
        this.#clock,
        () => this.#logs.hasOrphans(),
        () => this.#logs.orphans(),
      );
      this.#sockets = [...this.#sockets, ...opened];
    }
    const places = this.#pool.open(loaded, this.#sockets);
    await Promise.race([...places, this.ended]);
    if (predecessor) await Promise.race([Promise.all(places), this.ended]);
    this.#takeSites();
    this.#tell({ kind: "listening" });
    predecessor?.tellIsListening();
    report({
      kind: "listening",
      addresses: this.addresses,
      workers: places.length,
      version: ownPackage.version,
    });
  }

  /**
   * Opens the logs at the start. A log that cannot be used may be about to come up, as after a start of the machine or while
   * its database fails over. But workers of a predecessor would wait meanwhile.
   */
  async #openFirstLogs(sites: SiteGrants, handOver: HandOver | null): Promise<void> {
    const until = this.#clock.elapsed() + REACH_WITHIN_MS;
    for (let isSaid = false; ; isSaid = true) {
      try {
        await this.#openLogs(sites, () => handOver?.readers ?? []);
        return;
      } catch (cause) {
        if (handOver !== null || !mayPass(cause) || this.#clock.elapsed() + TRY_AGAIN_MS > until) throw cause;
        if (!isSaid) this.#options.report({ kind: "log-awaited", cause, withinMs: REACH_WITHIN_MS });
      }
      await this.#clock.wait(TRY_AGAIN_MS).over;
    }
  }

  /** Workers of the predecessor have so many requests at the origins, which count. */
  #followPermits(held: Readonly<Record<string, number>>): void {
    const { permits, predecessor } = this.#options;
    permits?.follow(held, (news) => predecessor!.tellOfPermits(news));
    predecessor!.followPermits((message) => permits?.takeOfPredecessor(message));
  }

  /** The workers of the predecessor answer visitors, and read this log until they have finished. */
  #followPredecessor({ readers, lock }: HandOver): void {
    const dismiss = (reader: string) => this.#logs.dismiss(reader);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#predecessorEnds = promise;
    this.#tell({ kind: "predecessor-followed" });
    this.#options.predecessor!.follow(dismiss, () => {
      this.#options.permits?.predecessorEnded();
      if (!this.#lifecycle.isEnding) {
        this.#logs.forget(lock); // first, so that workers that have not ended count as strangers
        for (const reader of readers) dismiss(reader);
      }
      resolve();
      this.#tell({ kind: "predecessor-ended" });
    });
  }

  /** Resolves to whether a new server has taken over. */
  async #handOverTo(): Promise<boolean> {
    const { startSuccessor, report } = this.#options;
    if (startSuccessor === undefined) return false;
    let successor: Successor;
    try {
      successor = new Successor(startSuccessor(), {
        reopen: () => this.#pool.reopen(),
        finishWithin: (ms) => this.#pool.finishWithin(ms),
        hearOfPermits: (news) => this.#options.permits?.hear(news),
      });
    } catch (cause) {
      report({ kind: "upgrade-failed", cause });
      return false;
    }
    this.#successor = successor;
    try {
      await handOver(successor, {
        clock: this.#clock,
        sockets: this.#sockets,
        logs: this.#logs,
        workers: () => this.#pool.alive,
        startNoMore: () => this.#startNoMore(),
        onHandOver: () => this.#options.onHandOver?.(),
        sessions: () => this.#options.originNews?.sessions,
        givePermits: () => this.#options.permits?.giveAway((message) => successor.tellOfPermits(message)),
      });
    } catch (cause) {
      if (!this.#lifecycle.isEnding) report({ kind: "upgrade-failed", cause });
      await this.#takeBack();
      return false;
    }
    report({ kind: "upgraded", pid: successor.pid });
    void successor.ended.then(() => this.#options.permits?.takeBack()); // requests may still wait in the workers
    return true;
  }

  #startNoMore(): void {
    if (this.#lifecycle.isEnding) throw new Error("the server stops");
    this.#pool.startNoMore();
  }

  /** The successor has failed. If it had the log, this server needs that again, and fresh workers. */
  async #takeBack(): Promise<void> {
    this.#successor = null;
    this.#options.permits?.takeBack();
    if (this.#lifecycle.isEnding) {
      this.#pool.resume(); // a worker that waits for the log could not end
      return;
    }
    if (!this.#logs.isOpen) {
      try {
        await this.#reopenLog();
      } catch (cause) {
        await this.#giveUp(cause);
        return;
      }
    }
    this.#pool.resume();
    if (this.#lifecycle.isEnding || this.#pool.isKept) return;
    this.#options.onTakenBack?.();
    this.#tell({ kind: "successor-failed" });
    await this.#pool.renew(this.ended.catch(() => undefined));
  }

  /**
   * Opens the log again. A shared one, which was usable just now, is tried until it is again: the workers go on by their
   * leases. Another server that was started on the folder meanwhile cannot listen, and leaves it soon.
   */
  async #reopenLog(): Promise<void> {
    const until = this.#clock.elapsed() + REACH_WITHIN_MS;
    const readersOf = (site: string) =>
      [...this.#pool.alive].filter(({ sites }) => sites.includes(site)).map(({ name }) => this.#logs.readerOf(name));
    for (let isSaid = false; !this.#lifecycle.isEnding; isSaid = true) {
      try {
        this.#logs.takeBack();
        const used = this.#pool.sitesInUse!;
        await this.#openLogs(new Map([...this.#grants].filter(([site]) => used.has(site))), readersOf);
        this.#takeSites();
        if (this.#lifecycle.isEnding) await this.#logs.close();
        return;
      } catch (cause) {
        const isTaken = cause instanceof FolderInUseError && this.#clock.elapsed() < until;
        if (!isTaken && !mayPass(cause)) throw cause;
        if (!isSaid) this.#options.report({ kind: "log-failed", cause });
      }
      this.#pool.resume(); // their calls fail, instead of waiting
      await this.#clock.wait(TRY_AGAIN_MS).over;
    }
  }

  async #openLogs(sites: SiteGrants, readersOf?: (site: string) => Iterable<string>): Promise<void> {
    this.#grants = new Map([...this.#grants, ...sites]);
    await this.#logs.open(sites, readersOf);
  }

  /** All workers that accept connections have the configuration in use, whatever has become of another one. */
  #takeSites(): void {
    if (this.#logs.isOpen && this.#pool.sites !== null) this.#logs.take(this.#pool.sites);
  }

  /** Closes the logs of sites that were removed, once no worker serves them. */
  #closeUnusedLogs(): void {
    const used = this.#pool.sitesInUse;
    if (this.#logs.isOpen && used !== null && !this.#lifecycle.isEnding) this.#logs.closeOthers(used);
  }

  /** A worker's process has ended. */
  #dismiss(reader: string): void {
    if (this.#logs.isOpen) this.#logs.dismiss(reader);
    else this.#successor?.tellEnded(reader);
    if (!this.#lifecycle.isLoading) this.#closeUnusedLogs();
  }

  async #load(): Promise<boolean> {
    try {
      const loaded = await this.#options.load();
      await this.#openLogs(loaded.sites);
      await this.#pool.replace(loaded);
      this.#takeSites();
      return true;
    } catch (cause) {
      if (!this.#lifecycle.isEnding) this.#options.report({ kind: "reload-failed", cause });
      this.#takeSitesBack();
      return false;
    }
  }

  /** A failed reload may have given hosts to other sites. */
  #takeSitesBack(): void {
    try {
      this.#takeSites();
    } catch (cause) {
      this.#options.report({ kind: "log-failed", cause });
    }
  }

  /** Resolves to whether no worker writes an old file any more. */
  async #reopenAll(): Promise<boolean> {
    const ofPredecessor = this.#lifecycle.hasPredecessor ? this.#options.predecessor?.reopen() : true;
    return !(await Promise.all([this.#pool.reopen(), ofPredecessor])).includes(false);
  }

  async #giveUp(cause: unknown): Promise<void> {
    this.#ended.reject(cause);
    this.#tell({ kind: "gave-up" });
    await this.#ending;
  }

  async #end(withinMs: number): Promise<void> {
    const { sharesSockets } = this.#lifecycle;
    for (const socket of this.#sockets) sharesSockets ? socket.leave() : socket.close();
    if (!sharesSockets) this.#successor?.kill();
    await this.#pool.close(withinMs);
    if (this.#lifecycle.isToldToStop) await this.#predecessorEnds; // its workers read the log
    if (this.#logs.isOpen || this.#successor === null) await this.#logs.close();
  }
}

/** Whether the log may be usable soon, without its owner. */
function mayPass(cause: unknown): boolean {
  if (cause instanceof StorageError) return cause.fault === "in-use";
  return cause instanceof SharedLogError && cause.kind !== "lasting";
}
