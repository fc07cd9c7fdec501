import type { ClockAndNetwork, LogConnections } from "../runtime/harness-protocol.ts";
import type { LogAddress } from "../runtime/log-address.ts";
import { startWorkerGroup, type WorkerGroup, type WorkerGroupOptions } from "../runtime/miniflare.ts";
import { SimulatedIsolate } from "../runtime/simulated-isolate.ts";
import { checkStart, endsWithin } from "./check-timers.ts";
import { durationMs, type SimulatedDuration } from "./duration.ts";
import type { RoundTrips } from "./latency.ts";
import type { Lifecycle } from "./lifecycle.ts";

export interface PopOptions {
  readonly name: string;
  /** How many isolates share its cache. */
  readonly isolates: number;
  readonly runtime: Omit<WorkerGroupOptions, "workers">;
  /** The CDN's time: epoch milliseconds. */
  readonly now: number;
  readonly roundTrips: RoundTrips;
  readonly isOriginOnRealTime: boolean;
  readonly logAddress: LogAddress;
  readonly lifecycle: Lifecycle;
}

/** A point of presence: a runtime with a cache that its isolates share, and the faults that it can have. */
export class Pop {
  /** The region's name. */
  readonly name: string;
  /** Its name in Cloudflare's form, in upper case. */
  readonly colo: string;
  readonly #group: WorkerGroup;
  readonly #isolates: readonly SimulatedIsolate[];
  readonly #isOriginOnRealTime: boolean;
  readonly #logAddress: LogAddress;
  readonly #lifecycle: Lifecycle;
  #network: Omit<ClockAndNetwork, "now" | "originNow">;
  #cdnNow: number;
  #skewMs = 0;

  private constructor(
    { name, now, roundTrips, isOriginOnRealTime, logAddress, lifecycle }: PopOptions,
    group: WorkerGroup,
    isolates: readonly SimulatedIsolate[],
  ) {
    this.name = name;
    this.colo = name.toUpperCase();
    this.#group = group;
    this.#isolates = isolates;
    this.#isOriginOnRealTime = isOriginOnRealTime;
    this.#logAddress = logAddress;
    this.#lifecycle = lifecycle;
    this.#network = { ...roundTrips, isLogReachable: true };
    this.#cdnNow = now;
  }

  /** @internal */
  static async start(options: PopOptions): Promise<Pop> {
    const { name, runtime } = options;
    const workers = Array.from({ length: options.isolates }, (_, index) => `${name}-${index}`);
    const group = await startWorkerGroup({ ...runtime, workers });
    const isolates = await Promise.all(workers.map((each) => SimulatedIsolate.of(group, each)));
    const pop = new Pop(options, group, isolates);
    try {
      await pop.#applyClockAndNetwork();
      await pop.#acceptVisitors();
      return pop;
    } catch (error) {
      await pop.stop();
      throw error;
    }
  }

  /** The number of its isolates. */
  get isolates(): number {
    return this.#isolates.length;
  }

  /** The time of this PoP's clock: epoch milliseconds. */
  get now(): number {
    return this.#cdnNow + this.#skewMs;
  }

  /**
   * One of its isolates. Default: the first. Throws a `RangeError` for a number that it does not have.
   * @internal
   */
  isolate(number = 0): SimulatedIsolate {
    const isolate = this.#isolates[number];
    if (!isolate)
      throw new RangeError(`${this.name} has no isolate ${number}: it has ${this.isolates}, numbered from 0`);
    return isolate;
  }

  /** The address at which visitors reach one of its isolates. Default: the first. */
  url(isolate = 0): URL {
    return this.isolate(isolate).proxy.url;
  }

  /**
   * Sets the CDN's time. This PoP's clock differs from it by its skew.
   * @internal
   */
  async setTime(now: number): Promise<void> {
    this.#cdnNow = now;
    await this.#applyClockAndNetwork();
  }

  /** Sets this PoP's clock ahead of the CDN's time, or behind it: `"2s"`, `"-1h"`. `"0s"` corrects it. */
  async skew(by: SimulatedDuration): Promise<void> {
    const skewMs = durationMs(by);
    await this.#lifecycle.change("pop.skew", () => {
      this.#skewMs = skewMs;
      return this.#applyClockAndNetwork();
    });
  }

  /**
   * Refuses all visitors' connections. The PoP keeps its cache and memory, and still reaches the origin and the log.
   */
  async partition(): Promise<void> {
    await Promise.all(this.#isolates.map(({ proxy }) => proxy.close()));
  }

  /** Accepts the connections of visitors again, on the same ports. */
  async heal(): Promise<void> {
    await this.#lifecycle.change("pop.heal", () => this.#acceptVisitors());
  }

  /** From now on, every call of this PoP to the purge log fails. */
  async cutFromLog(): Promise<void> {
    await this.#lifecycle.change("pop.cutFromLog", () => this.#reachLog(false));
  }

  /** Calls of this PoP reach the purge log again. */
  async reconnectToLog(): Promise<void> {
    await this.#lifecycle.change("pop.reconnectToLog", () => this.#reachLog(true));
  }

  /**
   * Each isolate loses this many of the next answers of the origin or the log: the request is carried out, but the
   * isolate does not get the answer. `loseAnswers({})` stops this.
   */
  async loseAnswers({ origin = 0, log = 0 }: { readonly origin?: number; readonly log?: number }): Promise<void> {
    await Promise.all(this.#isolates.map((isolate) => isolate.loseAnswers({ origin, log })));
  }

  /** The isolate loses its memory: stored responses, view, lease, fetches under way, counters. The PoP's cache stays. */
  async killIsolate(number = 0): Promise<void> {
    await this.finishWrites();
    await this.isolate(number).kill();
  }

  /** Empties the cache that the isolates share. The isolates keep their memory. */
  async emptyCache(): Promise<void> {
    await this.finishWrites();
    await this.#group.emptyCache();
  }

  /** Ends the whole runtime and starts it again. The memory of all isolates is lost; the cache stays. */
  async restart(): Promise<void> {
    await this.#lifecycle.change("pop.restart", async () => {
      await checkStart("pop.restart");
      await this.finishWrites();
      const reachedLog = await this.isolate().reachesLog();
      await this.#restartRuntime();
      if (reachedLog) await this.waitForLog(true);
    });
  }

  /**
   * Repairs every fault, and empties its cache and the memory of its isolates: a part of `cdn.reset()`.
   * @internal
   */
  async reset(): Promise<void> {
    await this.#acceptVisitors();
    this.#skewMs = 0;
    await this.#reachLog(true);
    await this.loseAnswers({});
    await this.#endWork();
    await this.#group.emptyCache();
  }

  /** Resolves once every storable response that was fetched is in the cache, where the other isolates find it. */
  async finishWrites(): Promise<void> {
    await Promise.all(this.#isolates.map((isolate) => isolate.finishWrites()));
  }

  /** Resolves once all background work has ended: refreshes of stale pages, and writes to the cache. */
  async finishWork(): Promise<void> {
    await Promise.all(this.#isolates.map((isolate) => isolate.finishWork()));
  }

  /**
   * The connections of one isolate to the purge log, if the site sets `purge.push`: how many are open, how many were
   * opened and lost since the isolate started, and how many pushes have reached it.
   */
  logConnections(isolate = 0): Promise<LogConnections> {
    return this.isolate(isolate).logConnections();
  }

  /** Every isolate loses its connections to the purge log, without notice to the log. Later requests open new ones. */
  async loseLogConnections(): Promise<void> {
    await Promise.all(this.#isolates.map((isolate) => isolate.loseLogConnections()));
  }

  /**
   * Whether a message between it and the purge log takes no time.
   * @internal
   */
  get isBesideLog(): boolean {
    return this.#network.logMs === 0;
  }

  /**
   * Resolves once its isolates reach the purge log, or none does: a runtime takes up the log's address a little after it
   * was told.
   * @internal
   */
  async waitForLog(isReached: boolean): Promise<void> {
    await Promise.all(this.#isolates.map((isolate) => this.#waitForLog(isolate, isReached)));
  }

  /** @internal */
  async stop(): Promise<void> {
    await Promise.all(this.#isolates.map(({ proxy }) => proxy.close()));
    await this.#group.stop();
  }

  /** The isolates lose their memory once their work has ended. An origin by URL may keep it from ending. */
  async #endWork(): Promise<void> {
    const finished = this.#lifecycle.untilClosed(this.finishWork());
    if (!(await endsWithin(WORK_ENDS_WITHIN_S, finished))) return this.#restartRuntime();
    await finished;
    await Promise.all(this.#isolates.map((isolate) => isolate.kill()));
  }

  async #waitForLog(isolate: SimulatedIsolate, isReached: boolean): Promise<void> {
    const giveUpAt = process.uptime() + TAKE_UP_LOG_WITHIN_S; // fake timers fake the other clocks
    while ((await isolate.reachesLog()) !== isReached) {
      if (process.uptime() > giveUpAt) {
        const { name } = isolate;
        const did = isReached ? `the isolate ${name} did not reach` : `the isolate ${name} did not stop reaching`;
        throw new Error(`${did} the purge log within ${TAKE_UP_LOG_WITHIN_S} s`);
      }
      this.#logAddress.repeat();
    }
  }

  async #restartRuntime(): Promise<void> {
    await this.#group.restart();
    await Promise.all(this.#isolates.map((isolate) => isolate.reconnect(this.#group)));
    await this.#applyClockAndNetwork();
  }

  async #reachLog(isLogReachable: boolean): Promise<void> {
    this.#network = { ...this.#network, isLogReachable };
    await this.#applyClockAndNetwork();
  }

  async #acceptVisitors(): Promise<void> {
    await Promise.all(this.#isolates.map(({ proxy }) => proxy.open()));
  }

  async #applyClockAndNetwork(): Promise<void> {
    const originNow = this.#isOriginOnRealTime ? this.#cdnNow : null;
    const clockAndNetwork = { ...this.#network, now: this.now, originNow };
    await Promise.all(this.#isolates.map((isolate) => isolate.setClockAndNetwork(clockAndNetwork)));
  }
}

/** How long work may take to end when its CDN is reset. It is less than a test runner gives a hook. */
const WORK_ENDS_WITHIN_S = 2;

/** The longest that a runtime may take to take up the purge log's address, in real seconds. */
const TAKE_UP_LOG_WITHIN_S = 10;
