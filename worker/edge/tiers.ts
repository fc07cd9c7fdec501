import type { Reporter, Store } from "../ports.ts";
import type { StoredResponse } from "../rules/stored-response.ts";
import type { MemoryTier } from "./memory-tier.ts";

/** The shared tier as the store needs it. Both calls may reject. */
export interface SharedTier {
  get(key: string): Promise<StoredResponse | undefined>;
  put(stored: StoredResponse): Promise<void>;
}

/** Memory over the PoP's shared tier. A tier that fails is a miss, and is reported (promise 6). */
export class Tiers implements Store {
  readonly #memory: MemoryTier;
  readonly #shared: SharedTier;
  readonly #reporter: Reporter;

  constructor(memory: MemoryTier, shared: SharedTier, reporter: Reporter) {
    this.#memory = memory;
    this.#shared = shared;
    this.#reporter = reporter;
  }

  recall(key: string): StoredResponse | undefined {
    return this.#memory.get(key);
  }

  async lookUp(key: string): Promise<StoredResponse | undefined> {
    try {
      return await this.#shared.get(key);
    } catch (cause) {
      this.#reporter.report({ kind: "store-failed", cause });
      return undefined;
    }
  }

  remember(stored: StoredResponse): void {
    this.#memory.put(stored);
  }

  async keep(stored: StoredResponse): Promise<void> {
    this.#memory.put(stored);
    try {
      await this.#shared.put(stored);
      this.#reporter.report({ kind: "stored", bytes: stored.body.byteLength });
    } catch (cause) {
      this.#reporter.report({ kind: "store-failed", cause });
    }
  }
}
