import type { Pop } from "./pop.ts";
import type { PurgeLogRuntime } from "./runtime/purge-log-runtime.ts";

/** The purge log of a simulated CDN, and what can happen to it. */
export class SimulatedLog {
  readonly #runtime: PurgeLogRuntime;
  readonly #pops: readonly Pop[];

  constructor(runtime: PurgeLogRuntime, pops: readonly Pop[]) {
    this.#runtime = runtime;
    this.#pops = pops;
  }

  /** Ends its runtime: no PoP reaches it. What it has stored stays. */
  async stop(): Promise<void> {
    await this.#runtime.stop();
  }

  /** Starts it again, with what it had stored. Resolves once every PoP has found it. */
  async start(): Promise<void> {
    await this.#runtime.start();
    await Promise.all(this.#pops.map((pop) => pop.findLog()));
  }

  /** Ends its runtime and starts it again: its memory is lost, what it has stored stays. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Replaces it by a new one that has stored nothing: with another id, so that entries of before are invalid. */
  async recreate(): Promise<void> {
    await this.stop();
    await this.#runtime.forget();
    await this.start();
  }
}
