import type { Clock, Wait } from "../../worker/ports/clock.ts";
import { within } from "../../worker/within.ts";
import type { Clocks } from "../log/clock-steps.ts";
import { BEAT_MS } from "../machine/pulse.ts";
import { BackOff } from "./back-off.ts";
import type { HeldSocket } from "./listening-sockets.ts";
import type { WorkerService } from "./process-line.ts";
import type { SiteGrants, SiteLogs } from "./site-logs.ts";
import type { SupervisorEvent } from "./supervisor-events.ts";
import { forkWorker, WORKER_MAIN, type WorkerAhead } from "./worker-ahead.ts";
import {
  type Ending,
  endingInWords,
  NotUpError,
  NoWorkerStartsError,
  START_WITHIN_MS,
  WorkerEndedError,
  WorkerProcess,
} from "./worker-process.ts";

/** Why a worker ends before its answers. */
const STOPPED_TWICE = "the server was told a second time to stop";

/** How long workers may take to finish their answers when new ones already accept connections. Milliseconds. */
export const REPLACE_WITHIN_MS = 3_600_000;

/** After this many failed starts in a row, while no worker accepts connections, starting again will not help. */
const MAX_FAILED_STARTS = 5;

/**
 * So many configurations that were replaced may have workers that finish their answers: each keeps its memory, and reloads can
 * follow each other faster than downloads and event streams end.
 */
const MAX_DRAINING_GENERATIONS = 2;

/** What a configuration gives once it has been read and compiled. */
export interface Loaded {
  /** For the workers' program: plain data, which is copied to their processes. */
  readonly settings: unknown;
  /** `ONLY_SITE`, or several by their names. */
  readonly sites: SiteGrants;
  /** Called when its workers have taken over from those of another configuration. */
  readonly onTakenOver?: () => void;
}

/** The workers that run with one configuration. */
interface Generation {
  readonly loaded: Loaded;
  /** It is being replaced, or has failed. */
  isRetired: boolean;
  /** How often another generation has taken over since. */
  successors: number;
}

function generationOf(loaded: Loaded): Generation {
  return { loaded, isRetired: false, successors: 0 };
}

export interface PoolOptions {
  /** The path of the module that is the workers' program: a `WorkerProgram`. */
  readonly program: string;
  /** The main module of a worker's process. Default: the one beside this file. */
  readonly workerMain?: string;
  /** The first worker's process, with the same program. Default: it is started like those of the others. */
  readonly ahead?: WorkerAhead | null;
  /** What it offers to its workers beside the log. */
  readonly service?: WorkerService;
  readonly report: (event: SupervisorEvent) => void;
}

/** The workers that have answered in a survey, in the order of their starts, whether all have, and how many have died. */
export interface SurveyedWorkers {
  readonly workers: readonly { readonly name: string; readonly isDraining: boolean; readonly said: unknown }[];
  readonly areAll: boolean;
  readonly deaths: number;
}

/** What a pool gets from its supervisor. */
export interface PoolParts {
  readonly clock: Clock & Clocks;
  readonly logs: SiteLogs;
  /** How many workers accept connections at a time. */
  readonly size: number;
  readonly stopWithinMs: number;
  readonly soundAfterMs: number;
  readonly hangsAfterMs: number;
  /** A worker is gone, the reader of the logs by this name. */
  readonly onEnded: (reader: string) => void;
  /** Makes a survey of the machine, for a worker that wants one. Never rejects. */
  readonly survey: (lookedFor: unknown) => Promise<unknown>;
  /** Workers die at their start again and again. */
  readonly onHopeless: (cause: Error) => void;
}

/** The workers' processes: as many as there should be, which are replaced when they die, or by those of a new configuration. */
export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #parts: PoolParts;
  /** Everybody who has not ended, with the generation of each. */
  readonly #alive = new Map<WorkerProcess, Generation>();
  #sockets: readonly HeldSocket[] = [];
  #generation: Generation | null = null;
  #named = 0;
  #deaths = 0;
  #failedStarts = 0;
  /** A worker has come to answer visitors. */
  #hasBeenUp = false;
  /** Called when no worker accepts connections any more. */
  readonly #whenNoneListens = new Set<() => void>();
  #nextBeat: Wait | null = null;
  /** No worker starts any more. */
  #isClosed = false;

  constructor(options: PoolOptions, parts: PoolParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** What the workers say of themselves that answer visitors or finish their answers. */
  async survey(lookedFor: readonly unknown[]): Promise<SurveyedWorkers> {
    const asked = [...this.alive].filter(({ isListening }) => isListening);
    const all = await Promise.all(
      asked.map(async (worker) => {
        const { name, isDraining } = worker;
        return { name, isDraining, said: await worker.survey(lookedFor) };
      }),
    );
    const workers = all.filter(({ said }) => said !== null);
    return { workers, areAll: workers.length === all.length, deaths: this.#deaths };
  }

  /** The workers that have not ended. */
  get alive(): Iterable<WorkerProcess> {
    return this.#alive.keys();
  }

  /** The processes that accept connections, by their names. */
  get listening(): ReadonlyMap<string, number> {
    const listening = [...this.alive].filter(({ isListening, isDraining }) => isListening && !isDraining);
    return new Map(listening.map(({ name, pid }) => [name, pid!]));
  }

  /** The sites of the configuration; `null` before the first. */
  get sites(): SiteGrants | null {
    return this.#generation?.loaded.sites ?? null;
  }

  /** The sites of the configuration, and those that a worker of an earlier one still serves; `null` before the first. */
  get sitesInUse(): ReadonlySet<string> | null {
    if (this.#generation === null) return null;
    const served = [...this.alive].flatMap(({ sites }) => sites);
    return new Set([...this.#generation.loaded.sites.keys(), ...served]);
  }

  /** Whether workers start when others die. */
  get isKept(): boolean {
    return this.#generation?.isRetired === false;
  }

  /** Starts the first workers. Each promise resolves once one accepts connections in its place. */
  open(loaded: Loaded, sockets: readonly HeldSocket[]): Promise<void>[] {
    this.#sockets = sockets;
    this.#generation = generationOf(loaded);
    void this.#beat();
    return this.#openPlaces(this.#generation);
  }

  /**
   * Starts workers with this configuration, and then lets the others finish. If one does not start, it rejects, and the new
   * ones finish instead.
   */
  async replace(loaded: Loaded): Promise<void> {
    const next = generationOf(loaded);
    const fresh: WorkerProcess[] = [];
    try {
      // The first one alone: if the new settings do not work, little has been disturbed.
      for (const count of [1, this.#parts.size - 1]) {
        const more = Array.from({ length: count }, () => this.#start(next));
        fresh.push(...more);
        await Promise.all(more.map((worker) => this.#bringUp(worker)));
      }
      if (this.#isClosed) throw new Error("the server stops");
    } catch (cause) {
      next.isRetired = true;
      // Those that listen finish their answers, but soon: until then their settings bound the requests at the origins.
      for (const worker of fresh) {
        if (!worker.isDraining) void this.#drain(worker, worker.isListening ? this.#parts.stopWithinMs : 0);
      }
      throw cause;
    }
    this.#generation!.isRetired = true;
    this.#generation = next;
    for (const worker of fresh) void this.#keepAfter(next, worker);
    loaded.onTakenOver?.();
    this.#options.report({ kind: "reloaded" });
    this.#takeOver(next);
  }

  /**
   * Starts workers anew with the settings that are in use, whatever has become of the configuration. Resolves when they accept
   * connections, or those of `replace` do, or with `givenUp`; if they take too long, the old ones go on, and another upgrade
   * may help.
   */
  async renew(givenUp: Promise<unknown>): Promise<void> {
    const next = generationOf(this.#generation!.loaded);
    this.#generation = next;
    const accepting = Promise.all(this.#openPlaces(next)).then(() => this.#takeOver(next));
    await within(this.#parts.clock, START_WITHIN_MS, Promise.race([accepting, givenUp]), () => undefined);
  }

  /** From here on no worker starts in the place of another one, and those that do not accept connections yet end. */
  startNoMore(): void {
    this.#generation!.isRetired = true;
    for (const worker of this.alive) if (!worker.isListening) void this.#drain(worker, this.#parts.stopWithinMs);
  }

  /** Lets all workers finish their answers, and starts no more. Resolves when all are gone. */
  async close(withinMs: number): Promise<void> {
    this.#isClosed = true;
    if (this.#generation) this.#generation.isRetired = true;
    // A reload may just have started more of them.
    while (this.#alive.size > 0) {
      await Promise.all([...this.alive].map((worker) => this.#drain(worker, withinMs)));
    }
    this.#nextBeat?.cancel();
  }

  /** Gives the workers that are alive at most this time for their answers; none only at a second stop. */
  finishWithin(ms: number): void {
    for (const worker of this.alive) ms === 0 ? worker.kill(STOPPED_TWICE) : void this.#drain(worker, ms);
  }

  /** Lets them call the log again; if it cannot be reached, their calls fail instead of waiting. */
  resume(): void {
    for (const worker of this.alive) worker.resume();
  }

  /** Lets them open their log files anew. Resolves to whether none writes an old file any more. */
  async reopen(): Promise<boolean> {
    const reopened = await Promise.all([...this.alive].map((worker) => worker.reopen()));
    return !reopened.includes(false);
  }

  /**
   * Lets as many workers run as there should be. Each promise resolves once one accepts connections in its place, or none
   * starts there any more.
   */
  #openPlaces(generation: Generation): Promise<void>[] {
    return Array.from({ length: this.#parts.size }, () => {
      const accepting = Promise.withResolvers<void>();
      const kept = this.#keepPlace(generation, new BackOff(this.#parts.soundAfterMs), accepting.resolve);
      return Promise.race([accepting.promise, kept]);
    });
  }

  /** Finds workers that compute for ever, until the pool is closed. One that starts has its own time for that. */
  async #beat(): Promise<never> {
    for (;;) {
      this.#nextBeat = this.#parts.clock.wait(BEAT_MS);
      await this.#nextBeat.over;
      for (const worker of this.alive) if (worker.isListening) worker.beat();
    }
  }

  /** Keeps one worker of a generation running until the generation is retired. */
  async #keepPlace(generation: Generation, backOff: BackOff, onListening: () => void): Promise<void> {
    while (!generation.isRetired && !this.#isClosed) {
      const startedAt = this.#parts.clock.elapsed();
      const worker = this.#start(generation);
      try {
        await this.#bringUp(worker, this.#hasBeenUp ? () => this.#noneListens() : undefined);
        onListening();
      } catch (cause) {
        // It may hang; its end says why. One that was just told to listen may answer visitors already.
        if (!generation.isRetired) worker.kill(cause instanceof NotUpError ? cause.message : null);
        const mayPass = worker.isLockedOut || (cause instanceof NotUpError && cause.waitsForLog);
        if (!worker.isDraining && !(this.#hasBeenUp && mayPass)) this.#failedStarts++;
      }
      const ending = await worker.ended;
      if (worker.isDraining || generation.isRetired || this.#isClosed) return;
      const againInMs = backOff.pauseAfter(this.#parts.clock.elapsed() - startedAt);
      this.#noteDeath(worker, ending, againInMs);
      if (this.#failedStarts >= MAX_FAILED_STARTS && this.listening.size === 0) {
        this.#parts.onHopeless(new NoWorkerStartsError(worker.name, ending));
        return;
      }
      if (againInMs > 0) await this.#parts.clock.wait(againInMs).over;
    }
  }

  #start(generation: Generation): WorkerProcess {
    const { program, workerMain = WORKER_MAIN, ahead } = this.#options;
    if (this.#isClosed) throw new Error("the server stops");
    const name = `worker-${++this.#named}`;
    const reader = this.#parts.logs.readerOf(name);
    const { settings, sites } = generation.loaded;
    this.#parts.logs.expect(reader, sites);
    const worker = new WorkerProcess(
      () => ahead?.take() ?? forkWorker(workerMain, program),
      {
        kind: "start",
        name,
        settings,
        logs: this.#parts.logs.of(sites),
        reader,
        lock: this.#parts.logs.workersLock,
        drainMs: this.#parts.stopWithinMs,
      },
      {
        clock: this.#parts.clock,
        service: this.#options.service?.connect() ?? null,
        survey: this.#parts.survey,
        hangsAfterMs: this.#parts.hangsAfterMs,
      },
    );
    this.#alive.set(worker, generation);
    void worker.ended.then(() => {
      this.#alive.delete(worker);
      this.#parts.onEnded(reader);
      if (this.listening.size > 0) return;
      for (const resolve of this.#whenNoneListens) resolve();
      this.#whenNoneListens.clear();
    });
    return worker;
  }

  /** Resolves when no worker accepts connections. */
  async #noneListens(): Promise<void> {
    if (this.listening.size > 0) await new Promise<void>((resolve) => this.#whenNoneListens.add(resolve));
  }

  /**
   * Resolves when the worker accepts connections. Rejects if it ends, or takes too long. If its log lets it answer nobody,
   * it begins when `isNeeded` resolves: then visitors get 503, instead of waiting for nothing. Default: never, because others
   * answer them, or the server has not started.
   */
  async #bringUp(worker: WorkerProcess, isNeeded?: () => Promise<void>): Promise<void> {
    let waitsForLog = false;
    const tooLong = () => Promise.reject(new NotUpError(worker.name, waitsForLog));
    const rejectsAtEnd = worker.ended.then((ending) => Promise.reject(new WorkerEndedError(worker.name, ending)));
    const up = (async () => {
      await worker.started;
      const { logs } = this.#parts;
      const late = (site: string) => worker.admit(site);
      waitsForLog = true;
      const notAdmitted = await logs.admit(logs.readerOf(worker.name), worker.sites, late, isNeeded);
      waitsForLog = false;
      await worker.listen(this.#sockets, this.#parts.size, [...notAdmitted]); // without those that were late a moment ago
    })();
    await within(this.#parts.clock, START_WITHIN_MS, Promise.race([up, rejectsAtEnd]), tooLong);
    this.#failedStarts = 0;
    this.#hasBeenUp = true;
    this.#options.report({ kind: "worker-listening", name: worker.name, pid: worker.pid! });
  }

  /** Keeps the place of a worker that is already running. */
  async #keepAfter(generation: Generation, worker: WorkerProcess): Promise<void> {
    const startedAt = this.#parts.clock.elapsed();
    const ending = await worker.ended;
    if (worker.isDraining || generation.isRetired || this.#isClosed) return;
    const backOff = new BackOff(this.#parts.soundAfterMs);
    const againInMs = backOff.pauseAfter(this.#parts.clock.elapsed() - startedAt);
    this.#noteDeath(worker, ending, againInMs);
    await this.#keepPlace(generation, backOff, () => undefined);
  }

  #noteDeath({ name }: WorkerProcess, ending: Ending, againInMs: number): void {
    this.#deaths++;
    this.#options.report({ kind: "worker-died", name, ending, againInMs });
  }

  /**
   * Lets the workers of all retired generations finish, unless this one is retired as well. Those of the oldest have no more
   * time than at a stop.
   */
  #takeOver(generation: Generation): void {
    if (generation.isRetired) return;
    for (const retired of new Set(this.#alive.values())) if (retired.isRetired) retired.successors++;
    const { stopWithinMs } = this.#parts;
    for (const [worker, { isRetired, successors }] of this.#alive) {
      if (successors > MAX_DRAINING_GENERATIONS) void this.#drain(worker, stopWithinMs);
      else if (isRetired && !worker.isDraining) void this.#drain(worker, REPLACE_WITHIN_MS);
    }
  }

  async #drain(worker: WorkerProcess, withinMs: number): Promise<void> {
    const isFirst = !worker.isDraining;
    await worker.drain(withinMs);
    if (!isFirst) return; // it tells of the end
    const ending = await worker.ended;
    if (ending.signal === null || withinMs === 0) return;
    const because = !worker.isLate && { because: endingInWords(ending) };
    this.#options.report({ kind: "worker-killed", name: worker.name, ...because });
  }
}
