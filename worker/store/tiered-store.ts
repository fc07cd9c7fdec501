import type { StreamedBody } from "../ports/bodies.ts";
import type { Reporter } from "../ports/reporter.ts";
import type { Found, Store } from "../ports/store.ts";
import type { BytePart } from "../rules/ranges/range.ts";
import { isMarker, type Stored, type StoredHead } from "../rules/storing/stored-response.ts";
import type { MemoryTier } from "./memory-tier.ts";

/** The tier that the isolates of a PoP share. Each call may reject, and none throws. */
export interface SharedTier {
  /**
   * What is held under a key; `undefined` at once if it is known that there is nothing. A body that is not read is
   * cancelled by the caller.
   */
  get(key: string): Promise<Found | undefined> | undefined;
  /** Like `get`, without counting a request. Present where `get` counts one. */
  peek?(key: string): Promise<Found | undefined> | undefined;
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
  readonly #failed: (cause: unknown) => undefined;

  constructor(memory: MemoryTier, shared: SharedTier, reporter: Reporter) {
    this.#memory = memory;
    this.#shared = shared;
    this.#reporter = reporter;
    this.#failed = (cause) => {
      reporter.report({ kind: "store-failed", cause });
    };
  }

  recall(key: string): Stored | undefined {
    return this.#memory.get(key);
  }

  lookUp(key: string): Promise<Found | undefined> | undefined {
    return this.#shared.get(key)?.catch(this.#failed);
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

  keep(stored: Stored): Promise<void> {
    this.#memory.put(stored);
    const put = this.#shared.put(stored);
    if (isMarker(stored)) return put.catch(this.#failed);
    return put.then(() => this.#reporter.report({ kind: "stored", bytes: stored.head.bodyBytes }), this.#failed);
  }

  forget(key: string): Promise<void> {
    this.#memory.delete(key);
    return this.#shared.delete(key).catch(this.#failed);
  }

  readBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined> {
    return this.#shared.getBody(bodyKey, part).catch(this.#failed);
  }

  async keepBody(bodyKey: string, body: StreamedBody): Promise<boolean> {
    return (await this.#shared.putBody(bodyKey, body).then(() => true, this.#failed)) ?? false;
  }
}
