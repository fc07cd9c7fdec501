import type { PurgeLogRuntime } from "../runtime/purge-log-runtime.ts";
import { checkTimers } from "./check-timers.ts";
import type { Pop } from "./pop.ts";

/** The purge log of a simulated CDN, and the faults that it can have. */
export class SimulatedLog {
  readonly #runtime: PurgeLogRuntime;
  readonly #pops: readonly Pop[];

  constructor(runtime: PurgeLogRuntime, pops: readonly Pop[]) {
    this.#runtime = runtime;
    this.#pops = pops;
  }

  /** Ends its runtime, so that no PoP reaches it. The stored data is kept. */
  async stop(): Promise<void> {
    await checkTimers("cdn.log.stop");
    await Promise.all(this.#pops.map((pop) => pop.loseLogConnections()));
    await this.#runtime.stop();
  }

  /** Starts it again with its stored data. Resolves once every PoP reaches it. */
  async start(): Promise<void> {
    await this.#runtime.start();
    await Promise.all(this.#pops.map((pop) => pop.waitForLog()));
  }

  /** Ends its runtime and starts it again. Its memory is lost; the stored data is kept. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /**
   * Replaces it by a log as it was when the CDN started: empty, and reached by every PoP. A part of `cdn.reset()`.
   * @internal
   */
  async reset(): Promise<void> {
    await Promise.all(this.#pops.map((pop) => pop.loseLogConnections()));
    await this.#runtime.reset();
    await Promise.all(this.#pops.map((pop) => pop.waitForLog()));
  }

  /** Replaces it by a new, empty log with another id, so entries stored under the old log are no longer valid. */
  async recreate(): Promise<void> {
    await this.stop();
    await this.#runtime.deleteStored();
    await this.start();
  }
}
