import type { Found, Reporter, Store, StreamedBody } from "../ports.ts";
import type { BytePart } from "../rules/ranges/range.ts";
import { isMarker, type Stored, type StoredHead } from "../rules/storing/stored-response.ts";
import type { MemoryTier } from "./memory-tier.ts";

/** The tier that the isolates of a PoP share. Each call may reject. */
export interface SharedTier {
  /** A body that is not read is cancelled by the caller. */
  get(key: string): Promise<Found | undefined>;
  /** Like `get`, without counting a request. Present where `get` counts one. */
  peek?(key: string): Promise<Found | undefined>;
  put(stored: Stored): Promise<void>;
  delete(key: string): Promise<void>;
  getBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined>;
  /** Stores the bytes that arrive, even if the body is cut off: only the caller knows whether it is complete. */
  putBody(bodyKey: string, body: StreamedBody): Promise<void>;
}

/**
 * The isolate's memory in front of the PoP's shared tier. A tier that fails counts as a miss, and is reported (promise
 * 6).
 */
export class TieredStore implements Store {
  readonly #memory: MemoryTier;
  readonly #shared: SharedTier;
  readonly #reporter: Reporter;

  constructor(memory: MemoryTier, shared: SharedTier, reporter: Reporter) {
    this.#memory = memory;
    this.#shared = shared;
    this.#reporter = reporter;
  }

  recall(key: string): Stored | undefined {
    return this.#memory.get(key);
  }

  lookUp(key: string): Promise<Found | undefined> {
    return this.#orReport(() => this.#shared.get(key));
  }

  admits(head: StoredHead): boolean {
    return this.#memory.admits(head);
  }

  remember(stored: Stored, isAdmitted = false): void {
    this.#memory.put(stored, isAdmitted);
  }

  weighAgain(key: string): void {
    this.#memory.weighAgain(key);
  }

  async keep(stored: Stored): Promise<void> {
    this.#memory.put(stored);
    await this.#orReport(async () => {
      await this.#shared.put(stored);
      if (!isMarker(stored)) this.#reporter.report({ kind: "stored", bytes: stored.head.bodyBytes });
    });
  }

  async forget(key: string): Promise<void> {
    this.#memory.delete(key);
    await this.#orReport(() => this.#shared.delete(key));
  }

  readBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined> {
    return this.#orReport(() => this.#shared.getBody(bodyKey, part));
  }

  async keepBody(bodyKey: string, body: StreamedBody): Promise<boolean> {
    const done = await this.#orReport(async () => {
      await this.#shared.putBody(bodyKey, body);
      return true;
    });
    return done ?? false;
  }

  async #orReport<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (cause) {
      this.#reporter.report({ kind: "store-failed", cause });
      return undefined;
    }
  }
}
