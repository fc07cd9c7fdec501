import { headText, open, seal } from "../../worker/edge/envelope.ts";
import type { SharedTier } from "../../worker/edge/tiers.ts";
import type { StoredResponse } from "../../worker/rules/stored-response.ts";
import type { Scheduler } from "./scheduler.ts";

/** How badly the tier behaves, each a probability. */
export interface Treachery {
  /** A put that is acknowledged and stores nothing. */
  readonly lostPuts: number;
  /** An entry that is evicted when it is looked for. */
  readonly evictions: number;
}

/**
 * A shared tier as treacherous as the platform's: a put is invisible until it is done, lands late, may store nothing, and
 * entries vanish. It goes through the same envelope.
 */
export class MemorySharedTier implements SharedTier {
  readonly #scheduler: Scheduler;
  readonly #treachery: Treachery;
  readonly #entries = new Map<string, { fields: Headers; body: ArrayBuffer }>();

  constructor(scheduler: Scheduler, treachery: Treachery) {
    this.#scheduler = scheduler;
    this.#treachery = treachery;
  }

  async get(key: string): Promise<StoredResponse | undefined> {
    await this.#scheduler.turn();
    if (this.#scheduler.random() < this.#treachery.evictions) this.#entries.delete(key);
    const entry = this.#entries.get(key);
    await this.#scheduler.turn();
    return entry && open(key, headText(entry.fields), entry.body.slice(0));
  }

  async put(stored: StoredResponse): Promise<void> {
    const { fields, body } = seal(stored);
    await this.#scheduler.turn();
    await this.#scheduler.turn();
    if (this.#scheduler.random() < this.#treachery.lostPuts) return;
    this.#entries.set(stored.head.key, { fields: new Headers(fields), body: body.slice().buffer });
  }
}
