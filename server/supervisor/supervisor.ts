import type { ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { moduleBeside } from "../../package/own-package.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import { within } from "../../worker/within.ts";
import type { Clocks } from "../log/clock-steps.ts";
import { SharedLogError } from "../postgres/database-error.ts";
import { systemClock } from "../system-clock.ts";
import { BackOff } from "./back-off.ts";
import { handOver } from "./hand-over.ts";
import { type HeldSocket, type ListenAddress, openSockets } from "./listening-sockets.ts";
import { expectLog } from "./open-log.ts";
import type { WorkerService } from "./process-line.ts";
import { type SiteGrants, SiteLogs, type SiteLogsOptions } from "./site-logs.ts";
import { type HandOver, type Predecessor, Successor } from "./upgrade.ts";
import { START_WITHIN_MS, WorkerEndedError, WorkerProcess } from "./worker-process.ts";

const WORKER_MAIN = moduleBeside(import.meta.url, "worker-main");

/** After this many failed starts in a row, while no worker accepts connections, starting again will not help. */
const MAX_FAILED_STARTS = 5;

/** A log that is out of reach is tried again after this time. Milliseconds. */
const TRY_AGAIN_MS = 1_000;

/** How long a server that starts waits for a log that is out of reach. Milliseconds. */
const REACH_WITHIN_MS = 30_000;

const WAITS_FOR_PREDECESSOR = "the upgrade begins when the server before this one has finished its answers";

/** What a configuration gives once it has been read and compiled. */
export interface Loaded {
  /** For the workers' program: plain data, which is copied to their processes. */
  readonly settings: unknown;
  /** `ONLY_SITE`, or several by their names. */
  readonly sites: SiteGrants;
}

/** One supervisor owns the folder. */
export interface SupervisorOptions extends Omit<SiteLogsOptions, "clock"> {
  readonly listen: readonly ListenAddress[];
  /** Sockets that are open already, beside those. */
  readonly sockets?: readonly HeldSocket[];
  /** The server that hands over to this one, with its sockets instead of all others. */
  readonly predecessor?: Predecessor | null;
  /** Starts a new server, which finds this one as its predecessor. Default: there can be none. */
  readonly startSuccessor?: () => ChildProcess;
  /** A successor takes over: the service gives the workers nothing more. */
  readonly onHandOver?: () => void;
  /** A successor could not take over after all: the service is needed again, by workers that are about to start. */
  readonly onTakenBack?: () => void;
  /** The path of the module that is the workers' program: a `WorkerProgram`. */
  readonly program: string;
  /** Reads the configuration, at the start and at each reload. Rejects, with a message for the owner, if it is wrong. */
  readonly load: () => Promise<Loaded>;
  /** What it offers to its workers beside the log. */
  readonly service?: WorkerService;
  /** The number of workers. Default: one for each core that the process may use. */
  readonly workers?: number;
  /**
   * How long workers may take to finish their answers, in milliseconds: when everything stops (default 10 s), and after a
   * reload, when new workers already accept connections (default an hour).
   */
  readonly stopWithinMs?: number;
  readonly replaceWithinMs?: number;
  /** The next worker starts at once if the last one lived for this many milliseconds. Default: 10 s. */
  readonly soundAfterMs?: number;
  readonly clock?: Clock & Clocks;
  /** The main module of a worker's process. Default: the one beside this file. */
  readonly workerMain?: string;
}

/** The workers that run with one configuration. */
interface Generation {
  readonly loaded: Loaded;
  readonly workers: Set<WorkerProcess>;
  /** It is being replaced, or has failed. */
  isRetired: boolean;
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
  /** Those of all configurations so far. */
  #grants: SiteGrants = new Map();
  readonly #handOver: HandOver | null;
  readonly #ended = Promise.withResolvers<void>();
  #sockets: readonly HeldSocket[] = [];
  #generation!: Generation;
  /** Everybody who has not ended, in all generations. */
  readonly #alive = new Set<WorkerProcess>();
  #named = 0;
  #failedStarts = 0;
  #reload: Promise<boolean> | null = null;
  #nextReload: Promise<boolean> | null = null;
  /** It stops, or has handed over. */
  #stop: Promise<void> | null = null;
  #isToldToStop = false;
  #upgrade: Promise<boolean> | null = null;
  /** A new server that has the log, or is about to. */
  #successor: Successor | null = null;
  /** Resolves when the server before this one has ended; `null` if there is none. Only it knows when its workers end. */
  #predecessorEnds: Promise<void> | null = null;
  /** How many accept connections at a time. */
  readonly #workerCount: number;
  /** Another server has the sockets as well, and listens on them when this one ends. */
  #sharesSockets = false;

  private constructor(options: SupervisorOptions, handOver: HandOver | null) {
    this.#options = options;
    this.#workerCount = options.workers ?? availableParallelism();
    this.#handOver = handOver;
    this.#sharesSockets = handOver !== null;
    this.#clock = options.clock ?? systemClock;
    this.#logs = new SiteLogs({ ...options, clock: this.#clock }, handOver?.lock ?? null);
    this.ended = this.#ended.promise;
    this.ended.catch(() => undefined); // it is for those who wait
  }

  /** Resolves when workers accept connections. Rejects, and leaves nothing behind, if that cannot be. */
  static async start(options: SupervisorOptions): Promise<Supervisor> {
    if (options.predecessor) await expectLog({ ...options, clock: options.clock ?? systemClock });
    const handOver = (await options.predecessor?.takeOver()) ?? null;
    const supervisor = new Supervisor(options, handOver);
    try {
      await supervisor.#begin();
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
    const listening = [...this.#alive].filter(({ isListening, isDraining }) => isListening && !isDraining);
    return new Map(listening.map(({ name, pid }) => [name, pid!]));
  }

  /**
   * Does as `loadChanges`, and lets workers that only finish their answers open their log files anew: these may have been
   * moved away. A successor that has taken over is told in the place of this server.
   */
  reload(): Promise<boolean> {
    void this.#reopenAll();
    if (this.#successor === null || this.#upgrade !== null) return this.loadChanges();
    this.#successor.reload();
    return Promise.resolve(false);
  }

  /**
   * Loads the configuration anew, starts workers with it, and then lets the old ones finish. If it is wrong, or they do
   * not start, the old ones stay. Resolves to whether the new configuration is in use.
   */
  loadChanges(): Promise<boolean> {
    if (this.#successor !== null) return this.#loadAfterUpgrade(this.#successor);
    if (this.#reload !== null) {
      // The one under way may have read what has changed since.
      this.#nextReload ??= this.#reload.then(() => {
        this.#nextReload = null;
        return this.loadChanges();
      });
      return this.#nextReload;
    }
    this.#reload = this.#replace().finally(() => {
      this.#reload = null;
      this.#closeUnusedLogs();
    });
    return this.#reload;
  }

  /** A successor has read the configuration at its start, and perhaps not what has changed since. */
  #loadAfterUpgrade(successor: Successor): Promise<boolean> {
    if (this.#upgrade === null) return Promise.resolve(false);
    this.#nextReload ??= this.#upgrade.then((hasHandedOver) => {
      this.#nextReload = null;
      if (!hasHandedOver) return this.loadChanges();
      successor.reload();
      return false;
    });
    return this.#nextReload;
  }

  /**
   * Starts a new server, hands over sockets and log, lets the workers of this one finish, and ends. If the new one cannot
   * start, this one goes on. Resolves to whether the new one has taken over.
   */
  upgrade(): Promise<boolean> {
    this.#upgrade ??= this.#handOverTo().finally(() => {
      this.#upgrade = null;
    });
    return this.#upgrade;
  }

  /** Lets all workers open their log files anew, also those that only finish their answers, and those of a predecessor. */
  async reopen(): Promise<void> {
    this.#successor?.reopen();
    await this.#reopenAll();
    this.#options.report({ kind: "reopened" });
  }

  /**
   * Stops accepting connections, lets the workers finish, and ends; with them those of a predecessor. A second call ends
   * them at once.
   */
  stop(): Promise<void> {
    const withinMs = this.#isToldToStop ? 0 : this.#stopWithinMs;
    this.#isToldToStop = true;
    if (this.#predecessorEnds !== null) this.#options.predecessor?.stop(withinMs);
    if (this.#stop !== null) this.#finishWithin(withinMs);
    this.#stop ??= this.#finish();
    return this.#stop;
  }

  async #begin(): Promise<void> {
    const { listen, load, report, sockets = [], predecessor } = this.#options;
    this.#sockets = this.#handOver?.sockets ?? sockets;
    const loaded = await load();
    await this.#openFirstLogs(loaded.sites);
    this.#followPredecessor();
    predecessor?.tellLogIsOpen();
    if (this.#handOver === null) {
      const opened = await openSockets(listen, this.#clock, () => this.#logs.hasOrphans());
      this.#sockets = [...this.#sockets, ...opened];
    }
    this.#generation = { loaded, workers: new Set(), isRetired: false };
    const places = this.#openPlaces(this.#generation);
    await Promise.race([...places, this.ended]);
    if (predecessor) await Promise.race([Promise.all(places), this.ended]);
    this.#sharesSockets = false;
    predecessor?.tellIsListening();
    report({ kind: "listening", addresses: this.addresses, workers: this.#workerCount });
  }

  /**
   * Opens the logs at the start. A log that is out of reach may be about to come up, as after a start of the machine or while
   * its database fails over. But workers of a predecessor would wait meanwhile.
   */
  async #openFirstLogs(sites: SiteGrants): Promise<void> {
    const until = this.#clock.elapsed() + REACH_WITHIN_MS;
    for (let isSaid = false; ; isSaid = true) {
      try {
        await this.#openLogs(sites, () => this.#handOver?.readers ?? []);
        return;
      } catch (cause) {
        const mayComeUp = this.#handOver === null && isOutOfReach(cause);
        if (!mayComeUp || this.#clock.elapsed() + TRY_AGAIN_MS > until) throw cause;
        if (!isSaid) this.#options.report({ kind: "log-awaited", cause, withinMs: REACH_WITHIN_MS });
      }
      await this.#clock.wait(TRY_AGAIN_MS).over;
    }
  }

  /** The workers of the predecessor answer visitors, and read this log until they have finished. */
  #followPredecessor(): void {
    const { predecessor } = this.#options;
    if (!predecessor || this.#handOver === null) return;
    const { readers, lock } = this.#handOver;
    const dismiss = (reader: string) => this.#logs.dismiss(reader);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#predecessorEnds = promise;
    predecessor.follow(dismiss, () => {
      this.#predecessorEnds = null;
      resolve();
      if (this.#stop !== null) return;
      this.#logs.forget(lock); // first: what has not ended by now is a stranger
      for (const reader of readers) dismiss(reader);
    });
  }

  async #handOverTo(): Promise<boolean> {
    const { startSuccessor, report } = this.#options;
    if (this.#predecessorEnds !== null) {
      report({ kind: "warning", line: WAITS_FOR_PREDECESSOR });
      await this.#predecessorEnds; // a successor could not learn when its workers end
    }
    while (this.#reload !== null) await this.#reload;
    if (startSuccessor === undefined || this.#stop !== null) return false;
    let successor: Successor;
    try {
      successor = new Successor(startSuccessor(), {
        reopen: () => this.#reopenOwn(),
        finishWithin: (ms) => this.#finishWithin(ms),
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
        workers: this.#alive,
        startNoMore: () => this.#startNoMore(),
        onHandOver: () => this.#options.onHandOver?.(),
      });
    } catch (cause) {
      report({ kind: "upgrade-failed", cause });
      await this.#takeBack();
      return false;
    }
    report({ kind: "upgraded", pid: successor.pid });
    this.#sharesSockets = true;
    this.#stop ??= this.#end(this.#replaceWithinMs).then(() => {
      successor.leave();
      this.#ended.resolve();
    });
    return true;
  }

  #startNoMore(): void {
    if (this.#stop !== null) throw new Error("the server stops");
    this.#generation.isRetired = true;
    for (const worker of this.#alive) if (!worker.isListening) void this.#drain(worker, this.#stopWithinMs);
  }

  /** The successor has failed. If it had the log, this server needs that again, and fresh workers. */
  async #takeBack(): Promise<void> {
    this.#successor = null;
    if (this.#stop !== null) {
      for (const worker of this.#alive) worker.resume(); // one that waits for the log could not end
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
    for (const worker of this.#alive) worker.resume();
    if (this.#stop !== null || !this.#generation.isRetired) return;
    this.#options.onTakenBack?.();
    await this.#renew();
  }

  /** Opens the log again. One that is out of reach is tried until it is not: the workers go on by their leases. */
  async #reopenLog(): Promise<void> {
    this.#logs.takeBack();
    const readersOf = (site: string) =>
      [...this.#alive].filter(({ sites }) => sites.includes(site)).map(({ name }) => this.#logs.readerOf(name));
    for (let isSaid = false; this.#stop === null; isSaid = true) {
      try {
        const used = this.#sitesInUse();
        await this.#openLogs(new Map([...this.#grants].filter(([site]) => used.has(site))), readersOf);
        if (this.#stop !== null) await this.#logs.close();
        return;
      } catch (cause) {
        if (!isOutOfReach(cause)) throw cause;
        if (!isSaid) this.#options.report({ kind: "log-failed", cause });
      }
      for (const worker of this.#alive) worker.resume(); // their calls fail, instead of waiting
      await this.#clock.wait(TRY_AGAIN_MS).over;
    }
  }

  /** Starts workers anew with the settings that are in use, whatever has become of the configuration. */
  async #renew(): Promise<void> {
    const next: Generation = { loaded: this.#generation.loaded, workers: new Set(), isRetired: false };
    this.#generation = next;
    const accepting = Promise.all(this.#openPlaces(next)).then(() => this.#retireAllBut(next));
    const acceptingOrEnded = Promise.race([accepting, this.ended.catch(() => undefined)]);
    // If none starts, the old ones go on, and another upgrade may help.
    await within(this.#clock, START_WITHIN_MS, acceptingOrEnded, () => undefined);
  }

  /** Lets as many workers run as there should be. Each promise resolves once one accepts connections in its place. */
  #openPlaces(generation: Generation): Promise<void>[] {
    return Array.from({ length: this.#workerCount }, () => {
      const accepting = Promise.withResolvers<void>();
      void this.#keepPlace(generation, new BackOff(this.#soundAfterMs), accepting.resolve);
      return accepting.promise;
    });
  }

  async #openLogs(sites: SiteGrants, readersOf?: (site: string) => Iterable<string>): Promise<void> {
    this.#grants = new Map([...this.#grants, ...sites]);
    await this.#logs.open(sites, readersOf);
  }

  /** The sites of the configuration, and those that a worker of an earlier one still serves. */
  #sitesInUse(): ReadonlySet<string> {
    const served = [...this.#alive].flatMap(({ sites }) => sites);
    return new Set([...this.#generation.loaded.sites.keys(), ...served]);
  }

  /** Closes the logs of sites that were removed, once no worker serves them. */
  #closeUnusedLogs(): void {
    if (!this.#logs.isOpen || !this.#generation || this.#stop !== null || this.#reload !== null) return;
    this.#logs.closeOthers(this.#sitesInUse());
  }

  /** Keeps one worker of a generation running until the generation is retired. */
  async #keepPlace(generation: Generation, backOff: BackOff, onListening: () => void): Promise<void> {
    while (!generation.isRetired && this.#stop === null) {
      const startedAt = this.#clock.elapsed();
      const worker = this.#start(generation);
      try {
        await this.#bringUp(worker);
        onListening();
      } catch {
        // It may hang; its end says why. One that was just told to listen may answer visitors already.
        if (!generation.isRetired) worker.kill();
        if (!worker.isDraining) this.#failedStarts++;
      }
      const ending = await worker.ended;
      if (worker.isDraining || generation.isRetired || this.#stop !== null) return;
      const againInMs = backOff.pauseAfter(this.#clock.elapsed() - startedAt);
      this.#options.report({ kind: "worker-died", name: worker.name, ending, againInMs });
      if (this.#failedStarts >= MAX_FAILED_STARTS && this.workers.size === 0) {
        const last = new WorkerEndedError(worker.name, ending);
        await this.#giveUp(new Error(`No worker starts. The last one: ${last.message}`, { cause: last }));
        return;
      }
      if (againInMs > 0) await this.#clock.wait(againInMs).over;
    }
  }

  #start(generation: Generation): WorkerProcess {
    const { program, workerMain = WORKER_MAIN } = this.#options;
    if (this.#stop !== null) throw new Error("the server stops");
    const name = `worker-${++this.#named}`;
    const reader = this.#logs.readerOf(name);
    const { settings, sites } = generation.loaded;
    this.#logs.expect(reader, sites);
    const worker = new WorkerProcess(
      workerMain,
      {
        kind: "start",
        name,
        program,
        settings,
        logs: this.#logs.of(sites),
        reader,
        lock: this.#logs.workersLock,
        drainMs: this.#stopWithinMs,
      },
      this.#clock,
      this.#options.service?.connect() ?? null,
    );
    this.#alive.add(worker);
    generation.workers.add(worker);
    void worker.ended.then(() => {
      this.#alive.delete(worker);
      generation.workers.delete(worker);
      if (this.#logs.isOpen) this.#logs.dismiss(reader);
      else this.#successor?.tellEnded(reader);
      this.#closeUnusedLogs();
    });
    return worker;
  }

  /** Resolves when the worker accepts connections. Rejects if it ends, or takes too long. */
  async #bringUp(worker: WorkerProcess): Promise<void> {
    const tooLong = () => Promise.reject(new Error(`${worker.name} does not start`));
    const rejectsAtEnd = worker.ended.then((ending) => Promise.reject(new WorkerEndedError(worker.name, ending)));
    const up = (async () => {
      await worker.started;
      const late = (site: string) => worker.admit(site);
      const notAdmitted = await this.#logs.admit(this.#logs.readerOf(worker.name), worker.sites, late);
      await worker.listen(this.#sockets, this.#workerCount, [...notAdmitted]); // without those that were late a moment ago
    })();
    await within(this.#clock, START_WITHIN_MS, Promise.race([up, rejectsAtEnd]), tooLong);
    this.#failedStarts = 0;
    this.#options.report({ kind: "worker-listening", name: worker.name, pid: worker.pid! });
  }

  async #replace(): Promise<boolean> {
    const { load, report } = this.#options;
    if (this.#stop !== null) return false;
    const fresh: WorkerProcess[] = [];
    let next: Generation | null = null;
    try {
      const generation: Generation = { loaded: await load(), workers: new Set(), isRetired: false };
      next = generation;
      await this.#openLogs(generation.loaded.sites);
      // The first one alone: if the new settings do not work, little has been disturbed.
      for (const count of [1, this.#workerCount - 1]) {
        const more = Array.from({ length: count }, () => this.#start(generation));
        fresh.push(...more);
        await Promise.all(more.map((worker) => this.#bringUp(worker)));
      }
      if (this.#stop !== null) throw new Error("the server stops");
    } catch (cause) {
      if (next !== null) await this.#retire(next, 0);
      report({ kind: "reload-failed", cause });
      return false;
    }
    this.#generation.isRetired = true;
    this.#generation = next;
    for (const worker of fresh) void this.#keepAfter(next, worker);
    report({ kind: "reloaded" });
    this.#retireAllBut(next);
    return true;
  }

  /** Keeps the place of a worker that is already running. */
  async #keepAfter(generation: Generation, worker: WorkerProcess): Promise<void> {
    const startedAt = this.#clock.elapsed();
    const ending = await worker.ended;
    if (worker.isDraining || generation.isRetired || this.#stop !== null) return;
    const backOff = new BackOff(this.#soundAfterMs);
    const againInMs = backOff.pauseAfter(this.#clock.elapsed() - startedAt);
    this.#options.report({ kind: "worker-died", name: worker.name, ending, againInMs });
    await this.#keepPlace(generation, backOff, () => undefined);
  }

  async #retire(generation: Generation, withinMs: number): Promise<void> {
    generation.isRetired = true;
    await Promise.all([...generation.workers].map((worker) => this.#drain(worker, withinMs)));
  }

  /** Lets the workers of all other generations finish, unless another one has taken the place of this one. */
  #retireAllBut(generation: Generation): void {
    if (this.#generation !== generation) return;
    for (const worker of this.#alive) {
      if (!generation.workers.has(worker) && !worker.isDraining) void this.#drain(worker, this.#replaceWithinMs);
    }
  }

  #finishWithin(ms: number): void {
    for (const worker of this.#alive) ms === 0 ? worker.kill() : void this.#drain(worker, ms);
  }

  async #reopenAll(): Promise<void> {
    const ofPredecessor = this.#predecessorEnds !== null && this.#options.predecessor?.reopen();
    await Promise.all([this.#reopenOwn(), ofPredecessor]);
  }

  async #reopenOwn(): Promise<void> {
    await Promise.all([...this.#alive].map((worker) => worker.reopen()));
  }

  async #drain(worker: WorkerProcess, withinMs: number): Promise<void> {
    await worker.drain(withinMs);
    const { signal } = await worker.ended;
    if (signal === "SIGKILL" && withinMs > 0) this.#options.report({ kind: "worker-killed", name: worker.name });
  }

  async #finish(): Promise<void> {
    this.#options.report({ kind: "stopping" });
    await this.#end(this.#stopWithinMs);
    this.#ended.resolve();
  }

  async #giveUp(cause: unknown): Promise<void> {
    this.#ended.reject(cause);
    this.#stop ??= this.#end(0);
    await this.#stop;
  }

  async #end(withinMs: number): Promise<void> {
    for (const socket of this.#sockets) this.#sharesSockets ? socket.leave() : socket.close();
    if (!this.#sharesSockets) this.#successor?.kill();
    if (this.#generation) this.#generation.isRetired = true;
    // A reload may just have started more of them.
    while (this.#alive.size > 0) {
      await Promise.all([...this.#alive].map((worker) => this.#drain(worker, withinMs)));
    }
    if (this.#isToldToStop) await this.#predecessorEnds; // its workers read the log
    if (this.#logs.isOpen || this.#successor === null) await this.#logs.close();
  }

  get #replaceWithinMs(): number {
    return this.#options.replaceWithinMs ?? 3_600_000;
  }

  get #soundAfterMs(): number {
    return this.#options.soundAfterMs ?? 10_000;
  }

  get #stopWithinMs(): number {
    return this.#options.stopWithinMs ?? 10_000;
  }
}

function isOutOfReach(cause: unknown): boolean {
  return cause instanceof SharedLogError && cause.isOutOfReach;
}
