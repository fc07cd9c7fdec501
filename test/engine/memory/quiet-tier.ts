import type { StreamedBody } from "../../../worker/ports/bodies.ts";
import type { Found } from "../../../worker/ports/store.ts";
import type { BytePart } from "../../../worker/rules/ranges/range.ts";
import type { Stored } from "../../../worker/rules/storing/stored-response.ts";
import type { SharedTier } from "../../../worker/store/tiered-store.ts";

/** As many turns of the event loop without a call under way count as quiet. */
const QUIET_TURNS = 4;

/** The calls of one tier or several that have not ended. */
export class CallsUnderway {
  #calls = 0;

  /** Resolves when there has been none for a while. */
  async none(): Promise<void> {
    for (let turns = 0; turns < QUIET_TURNS; ) {
      await new Promise((resolve) => setImmediate(resolve));
      turns = this.#calls === 0 ? turns + 1 : 0;
    }
  }

  async count<T>(call: Promise<T>): Promise<T> {
    this.#calls++;
    try {
      return await call;
    } finally {
      this.#calls--;
    }
  }
}

/** A shared tier whose reads and writes are counted. A body that is being put does not count. */
export class QuietTier implements SharedTier {
  readonly #tier: SharedTier;
  readonly #calls: CallsUnderway;

  constructor(tier: SharedTier, calls: CallsUnderway) {
    this.#tier = tier;
    this.#calls = calls;
  }

  get readsWhilePut(): boolean {
    return this.#tier.readsWhilePut ?? false;
  }

  get(key: string): Promise<Found | undefined> | undefined {
    const call = this.#tier.get(key);
    return call && this.#calls.count(call);
  }

  peek(key: string): Promise<Found | undefined> | undefined {
    const call = this.#tier.peek ? this.#tier.peek(key) : this.#tier.get(key);
    return call && this.#calls.count(call);
  }

  put(stored: Stored): Promise<void> {
    return this.#calls.count(this.#tier.put(stored));
  }

  delete(key: string): Promise<void> {
    return this.#calls.count(this.#tier.delete(key));
  }

  getBody(bodyKey: string, part: BytePart | null): Promise<StreamedBody | undefined> {
    return this.#calls.count(this.#tier.getBody(bodyKey, part));
  }

  putBody(bodyKey: string, body: StreamedBody): Promise<void> {
    return this.#tier.putBody(bodyKey, body);
  }
}
