import type { StreamedBody } from "../ports/bodies.ts";
import { cancelBody } from "../ports/cancel-body.ts";
import type { Clock } from "../ports/clock.ts";
import type { Reporter } from "../ports/reporter.ts";
import type { Found, Store } from "../ports/store.ts";
import { isAgeUnknown } from "../rules/freshness/current-age.ts";
import { ExpiringKeys } from "../rules/key/expiring-keys.ts";
import type { BytePart } from "../rules/ranges/range.ts";
import { isMarker, type Stored, type StoredHead, type StoredResponse } from "../rules/storing/stored-response.ts";
import type { MemoryTier } from "./memory-tier.ts";

/** The tier that the isolates of a PoP share. Each call may reject, and none throws. */
export interface SharedTier {
  /** Whether `getBody` gives a body that `putBody` is still taking, as far as it has come. */
  readonly readsWhilePut?: boolean;
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

/** The most keys that are known to be forgotten. */
const MAX_FORGOTTEN = 2_000;
/** For how long: the log takes less to tell of an unsafe request. */
const FORGOTTEN_MS = 60_000;

/**
 * The isolate's memory in front of the PoP's shared tier. A tier that fails counts as a miss, and is reported (promise
 * 6).
 */
export class TieredStore implements Store {
  readonly #memory: MemoryTier;
  readonly #shared: SharedTier;
  readonly #reporter: Reporter;
  readonly #clock: Clock;
  readonly #failed: (cause: unknown) => undefined;
  /** What was fetched before that counts as missing, because the shared tier may still give it. */
  readonly #forgotten = new ExpiringKeys(MAX_FORGOTTEN, FORGOTTEN_MS);

  constructor(memory: MemoryTier, shared: SharedTier, reporter: Reporter, clock: Clock) {
    this.#memory = memory;
    this.#shared = shared;
    this.#reporter = reporter;
    this.#clock = clock;
    this.#failed = (cause) => {
      reporter.report({ kind: "store-failed", cause });
    };
  }

  recall(key: string): Stored | undefined {
    return this.#memory.get(key);
  }

  lookUp(key: string): Promise<Found | undefined> | undefined {
    return this.#shared
      .get(key)
      ?.then((found) => found && (this.#unforgotten(found) ?? drop(found)))
      .catch(this.#failed);
  }

  admits(head: StoredHead): boolean {
    return this.#memory.admits(head);
  }

  remember(stored: Stored, isAdmitted = false): void {
    const unforgotten = this.#unforgotten(stored);
    if (unforgotten) this.#put(unforgotten, isAdmitted);
  }

  weighAgain(key: string): void {
    this.#memory.weighAgain(key);
  }

  async keep(stored: Stored): Promise<boolean> {
    if (!this.#put(stored)) return true;
    const isTaken = await this.#taken(this.#shared.put(stored));
    if (isTaken && !isMarker(stored)) this.#reporter.report({ kind: "stored", bytes: stored.head.bodyBytes });
    return isTaken;
  }

  forget(key: string): Promise<void> {
    this.#forgotten.remember(key, this.#clock.now());
    this.#memory.delete(key);
    return this.#shared.delete(key).catch(this.#failed);
  }

  readBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined> {
    return this.#shared.getBody(bodyKey, part).catch(this.#failed);
  }

  get readsWhileKept(): boolean {
    return this.#shared.readsWhilePut ?? false;
  }

  async keepBody(bodyKey: string, body: StreamedBody, stored: StoredResponse | null): Promise<boolean> {
    const taken = this.#taken(this.#shared.putBody(bodyKey, body));
    if (stored) this.remember(stored);
    const isTaken = await taken;
    if (stored && !isTaken && this.#memory.peek(stored.head.key) === stored) this.#memory.delete(stored.head.key);
    return isTaken;
  }

  /** Whether the shared tier takes what is put there. */
  async #taken(put: Promise<unknown>): Promise<boolean> {
    return (await put.then(() => true, this.#failed)) ?? false;
  }

  /** Returns false if a newer response is in memory. One from before the clock was set back only looks newer. */
  #put(stored: Stored, isAdmitted = false): boolean {
    const { key } = stored.head;
    const held = this.#memory.peek(key);
    if (held && isAgeUnknown(held.head.fetchedAt, this.#clock.now())) this.#memory.delete(key);
    return this.#memory.put(stored, isAdmitted);
  }

  /** What of it does not count as missing: of a marker, only the variants that were fetched since. */
  #unforgotten<T extends Found>(found: T): T | undefined {
    const { head } = found;
    const at = this.#forgotten.when(head.key, this.#clock.now());
    if (at === undefined) return found;
    if (head.fetchedAt <= at) return undefined;
    return isMarker(found) ? { ...found, variants: found.variants.filter(({ fetchedAt }) => fetchedAt > at) } : found;
  }
}

async function drop(found: Found): Promise<undefined> {
  if (!isMarker(found)) await cancelBody(found.body);
}
