import type { Conditions, Losses } from "./runtime/harness-protocol.ts";
import { durationMs, type SimulatedDuration } from "./duration.ts";
import { SimulatedIsolate } from "./runtime/simulated-isolate.ts";
import type { RoundTrips } from "./latency.ts";
import { startWorkerGroup, type WorkerGroup, type WorkerGroupOptions } from "./runtime/miniflare.ts";

export interface PopOptions {
  readonly name: string;
  /** How many isolates share its cache. */
  readonly isolates: number;
  readonly runtime: Omit<WorkerGroupOptions, "workers">;
  /** The CDN's time: epoch milliseconds. */
  readonly now: number;
  readonly roundTrips: RoundTrips;
  readonly isOriginOnRealTime: boolean;
}

/** A point of presence: one runtime with a cache of its own, its isolates sharing it, and what can happen to it. */
export class Pop {
  /** The region's name. */
  readonly name: string;
  /** Its name where Cloudflare tells one: upper case. */
  readonly colo: string;
  readonly #group: WorkerGroup;
  readonly #isolates: readonly SimulatedIsolate[];
  readonly #isOriginOnRealTime: boolean;
  #conditions: Omit<Conditions, "now" | "originNow">;
  #cdnNow: number;
  #skewMs = 0;

  private constructor(
    { name, now, roundTrips, isOriginOnRealTime }: PopOptions,
    group: WorkerGroup,
    isolates: readonly SimulatedIsolate[],
  ) {
    this.name = name;
    this.colo = name.toUpperCase();
    this.#group = group;
    this.#isolates = isolates;
    this.#isOriginOnRealTime = isOriginOnRealTime;
    this.#conditions = { ...roundTrips, isLogReachable: true };
    this.#cdnNow = now;
  }

  static async start(options: PopOptions): Promise<Pop> {
    const { name, runtime } = options;
    const workers = Array.from({ length: options.isolates }, (_, index) => `${name}-${index}`);
    const group = await startWorkerGroup({ ...runtime, workers });
    const isolates = await Promise.all(workers.map((each) => SimulatedIsolate.of(group, each)));
    const pop = new Pop(options, group, isolates);
    try {
      await pop.#setConditions();
      await pop.heal();
      return pop;
    } catch (error) {
      await pop.stop();
      throw error;
    }
  }

  /** How many isolates it has. */
  get isolates(): number {
    return this.#isolates.length;
  }

  /** The time of this PoP's clock: epoch milliseconds. */
  get now(): number {
    return this.#cdnNow + this.#skewMs;
  }

  /** One of its isolates; the first without a number. Throws a `RangeError` at one that it does not have. */
  isolate(number = 0): SimulatedIsolate {
    const isolate = this.#isolates[number];
    if (!isolate) throw new RangeError(`${this.name} has no isolate ${number}: it has ${this.isolates}, from 0`);
    return isolate;
  }

  /** Where visitors reach one of its isolates. */
  url(isolate = 0): URL {
    return this.isolate(isolate).front.url;
  }

  /** Sets the CDN's time; this PoP's own is that with its skew. */
  async setTime(now: number): Promise<void> {
    this.#cdnNow = now;
    await this.#setConditions();
  }

  /** Puts this PoP's clock ahead of the CDN's time by so much; behind it by less than 0. */
  async skew(by: SimulatedDuration): Promise<void> {
    this.#skewMs = durationMs(by);
    await this.#setConditions();
  }

  /** Refuses all connections of visitors. What it holds, and its way to origin and log, stay. */
  async partition(): Promise<void> {
    await Promise.all(this.#isolates.map(({ front }) => front.shut()));
  }

  /** Accepts connections again, on the same ports. */
  async heal(): Promise<void> {
    await Promise.all(this.#isolates.map(({ front }) => front.open()));
  }

  /** From now on no call of this PoP to the purge log gets through. */
  async cutFromLog(): Promise<void> {
    this.#conditions = { ...this.#conditions, isLogReachable: false };
    await this.#setConditions();
  }

  async reconnectToLog(): Promise<void> {
    this.#conditions = { ...this.#conditions, isLogReachable: true };
    await this.#setConditions();
  }

  /**
   * Loses the next so many answers of the origin or the log to each isolate: what was asked has been done, and nobody
   * here learns of it.
   */
  async lose({ origin = 0, log = 0 }: Partial<Losses>): Promise<void> {
    await Promise.all(this.#isolates.map((isolate) => isolate.lose({ origin, log })));
  }

  /** The isolate loses its memory: stored responses, view, lease, flights, counters. The PoP's cache stays. */
  async killIsolate(number = 0): Promise<void> {
    await this.finishWrites();
    await this.isolate(number).kill();
  }

  /** Empties the cache that the isolates share. Their memory stays. */
  async emptyCache(): Promise<void> {
    await this.finishWrites();
    await this.#group.emptyCache();
  }

  /** Ends the whole runtime and starts it again: the memory of all isolates is lost, the cache stays. */
  async restart(): Promise<void> {
    await this.finishWrites();
    const hasLog = await this.isolate().reachesLog();
    await this.#group.restart();
    await Promise.all(this.#isolates.map((isolate) => isolate.follow(this.#group)));
    await this.#setConditions();
    if (hasLog) await this.findLog();
  }

  /** Resolves once all that was fetched lies in the cache, where the other isolates find it. */
  async finishWrites(): Promise<void> {
    await Promise.all(this.#isolates.map((isolate) => isolate.finishWrites()));
  }

  /** Resolves once nothing goes on behind its answers: refreshes of stale pages, and writes to the cache. */
  async finishWork(): Promise<void> {
    await Promise.all(this.#isolates.map((isolate) => isolate.finishWork()));
  }

  /** Resolves once its isolates reach the purge log, which a runtime finds a little after it has started. */
  async findLog(): Promise<void> {
    await Promise.all(this.#isolates.map(reachLog));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#isolates.map(({ front }) => front.shut()));
    await this.#group.stop();
  }

  async #setConditions(): Promise<void> {
    const originNow = this.#isOriginOnRealTime ? this.#cdnNow : null;
    const conditions = { ...this.#conditions, now: this.now, originNow };
    await Promise.all(this.#isolates.map((isolate) => isolate.setConditions(conditions)));
  }
}

/** The longest that a runtime may take to find the purge log, in real milliseconds. */
const FIND_LOG_MS = 10_000;

async function reachLog(isolate: SimulatedIsolate): Promise<void> {
  const startedAt = performance.now();
  while (!(await isolate.reachesLog())) {
    if (performance.now() - startedAt > FIND_LOG_MS) throw new Error(`${isolate.name} does not find the purge log`);
  }
}
