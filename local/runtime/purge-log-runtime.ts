import { rm } from "node:fs/promises";
import { NO_LATENCY } from "../cdn/latency.ts";
import { LOG_WORKER, LogAddress } from "./log-address.ts";
import { startWorkerGroup, type WorkerGroup, type WorkerGroupOptions } from "./miniflare.ts";
import { SimulatedIsolate } from "./simulated-isolate.ts";

/** The purge log in a runtime of its own, which can be stopped and started. */
export class PurgeLogRuntime {
  /** Where the PoPs find it, which its callers tell them. */
  readonly address: LogAddress;
  readonly #options: WorkerGroupOptions & { readonly persist: string };
  #group: WorkerGroup | undefined;
  #now: number;
  #isFirst = true;

  constructor(options: Omit<WorkerGroupOptions, "workers"> & { readonly persist: string }, now: number) {
    this.address = new LogAddress(options);
    this.#options = { ...options, registry: this.address.ownRegistry, workers: [LOG_WORKER] };
    this.#now = now;
  }

  async start(): Promise<void> {
    this.#group ??= await startWorkerGroup(this.#options);
    await this.setTime(this.#now);
  }

  /** Resolves once all of its pushes under way have been answered. */
  async finishPushes(): Promise<void> {
    await (await this.#isolate())?.finishPushes();
  }

  /** Whether a purge has settled; `false` while it is stopped. */
  async hasSettled(seq: number): Promise<boolean> {
    return (await (await this.#isolate())?.hasSettled(seq)) ?? false;
  }

  /** Ends its runtime, so that every call to it fails. The stored data is kept. */
  async stop(): Promise<void> {
    const group = this.#group;
    this.#group = undefined;
    await group?.stop();
  }

  /** Deletes everything that it has stored. Allowed only while it is stopped. */
  async deleteStored(): Promise<void> {
    await rm(this.#options.persist, { recursive: true, force: true });
  }

  /** Replaces it by another, empty first log. */
  async reset(): Promise<void> {
    await this.stop();
    await this.deleteStored();
    this.#isFirst = true;
    await this.start();
  }

  /** Epoch milliseconds. */
  async setTime(now: number): Promise<void> {
    this.#now = now;
    const isolate = await this.#isolate();
    if (!isolate) return;
    await isolate.setClockAndNetwork({ ...NO_LATENCY, isLogReachable: true, originNow: null, now });
    if (this.#isFirst) await isolate.beginLog();
    this.#isFirst = false;
    await isolate.runDuePurges();
  }

  async #isolate(): Promise<SimulatedIsolate | null> {
    return this.#group ? SimulatedIsolate.of(this.#group, LOG_WORKER) : null;
  }
}
