import type { StreamedBody } from "../ports/bodies.ts";
import { cancelBody } from "../ports/cancel-body.ts";
import type { Found, Store } from "../ports/store.ts";
import { isMarker, isNewer, type Stored } from "../rules/storing/stored-response.ts";
import type { MemoryTier } from "./memory-tier.ts";
import type { SharedTier } from "./tiered-store.ts";

/**
 * Both tiers as they are now, for a simulated request. It counts no request, reads no body and changes neither tier: it
 * keeps changes to itself.
 */
export class UnchangedStore implements Store {
  readonly #memory: MemoryTier;
  readonly #shared: SharedTier;
  readonly #remembered = new Map<string, Stored>();

  constructor(memory: MemoryTier, shared: SharedTier) {
    this.#memory = memory;
    this.#shared = shared;
  }

  recall(key: string): Stored | undefined {
    return this.#remembered.get(key) ?? this.#memory.peek(key);
  }

  /** A tier that fails has nothing. */
  async lookUp(key: string): Promise<Found | undefined> {
    try {
      const found = await (this.#shared.peek ? this.#shared.peek(key) : this.#shared.get(key));
      if (!found || isMarker(found)) return found;
      await cancelBody(found.body);
      return { head: found.head, body: null };
    } catch {
      return undefined;
    }
  }

  admits(): boolean {
    return false;
  }

  remember(stored: Stored): void {
    const { key } = stored.head;
    const held = this.recall(key);
    if (!held || !isNewer(held, stored)) this.#remembered.set(key, stored);
  }

  weighAgain(): void {}

  async keep(): Promise<boolean> {
    return true;
  }

  async forget(): Promise<void> {}

  async readBody(): Promise<StreamedBody | undefined> {
    return undefined;
  }

  async keepBody(): Promise<boolean> {
    return false;
  }
}
