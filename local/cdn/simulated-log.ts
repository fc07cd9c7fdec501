import type { PurgeLogRuntime } from "../runtime/purge-log-runtime.ts";
import { areRealToStart, checkStart, checkStop } from "./check-timers.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { Pop } from "./pop.ts";

/** The purge log of a simulated CDN, and the faults that it can have. */
export class SimulatedLog {
  readonly #runtime: PurgeLogRuntime;
  readonly #pops: readonly Pop[];
  readonly #lifecycle: Lifecycle;

  constructor(runtime: PurgeLogRuntime, pops: readonly Pop[], lifecycle: Lifecycle) {
    this.#runtime = runtime;
    this.#pops = pops;
    this.#lifecycle = lifecycle;
  }

  /** Ends its runtime, so that no PoP reaches it. The stored data is kept. */
  async stop(): Promise<void> {
    await this.#lifecycle.change("cdn.log.stop", async () => {
      await checkStop("cdn.log.stop");
      await this.#stop(await areRealToStart());
    });
  }

  /** Starts it again with its stored data. Resolves once every PoP reaches it. */
  async start(): Promise<void> {
    await this.#changeAndStart("cdn.log.start", async () => undefined);
  }

  /** Ends its runtime and starts it again. Its memory is lost; the stored data is kept. */
  async restart(): Promise<void> {
    await this.#changeAndStart("cdn.log.restart", () => this.#stop());
  }

  /**
   * Replaces it by a log as it was when the CDN started: empty, and reached by every PoP. A part of `cdn.reset()`.
   * @internal
   */
  async reset(): Promise<void> {
    await this.#stop();
    await this.#runtime.reset();
    await this.#publish();
  }

  /** Replaces it by a new, empty log with another id, so entries stored under the old log are no longer valid. */
  async recreate(): Promise<void> {
    await this.#changeAndStart("cdn.log.recreate", async () => {
      await this.#stop();
      await this.#runtime.deleteStored();
    });
  }

  /** `tells`: whether the PoPs are told before. With a fake setTimeout they would not hear it. */
  async #stop(tells = true): Promise<void> {
    await Promise.all(this.#pops.map((pop) => pop.loseLogConnections()));
    if (tells) await this.#withdraw();
    await this.#runtime.stop();
  }

  async #changeAndStart(call: string, change: () => Promise<void>): Promise<void> {
    await this.#lifecycle.change(call, async () => {
      await checkStart(call);
      await change();
      await this.#runtime.start();
      await this.#publish();
    });
  }

  async #publish(): Promise<void> {
    this.#runtime.address.publish();
    await this.#untilReached(true);
  }

  /** While it still answers, so that a PoP that does not reach it has taken up that it is gone. */
  async #withdraw(): Promise<void> {
    this.#runtime.address.withdraw();
    await this.#untilReached(false);
  }

  async #untilReached(isReached: boolean): Promise<void> {
    await Promise.all(this.#pops.map((pop) => pop.waitForLog(isReached)));
  }
}
