import type { Found } from "../../../worker/ports/store.ts";
import { fieldIn } from "../../../worker/rules/fields/fields.ts";
import { isMarker, type Stored } from "../../../worker/rules/storing/stored-response.ts";
import type { SharedTier } from "../../../worker/store/tiered-store.ts";
import { MemorySharedTier } from "../../engine/memory/memory-shared-tier.ts";
import type { Fate } from "../fate.ts";
import { wholeBody } from "../origin-body.ts";
import { numbersIn } from "./answer-numbers.ts";
import { GrowingCopy } from "./growing-copy.ts";
import type { Reader } from "./late-log.ts";

/** A PoP's shared tier with faults: it is slow, loses entries, fails, and completes its puts late. */
export class LateTier {
  readonly #fate: Fate;
  readonly #tier: MemorySharedTier;
  /** The bodies that are being put, where others may read them. */
  readonly #growing = new Map<string, GrowingCopy>();

  constructor(fate: Fate) {
    this.#fate = fate;
    this.#tier = new MemorySharedTier(fate.scheduler, { lostPuts: 0, evictions: 0 }, undefined, wholeBody);
  }

  /** The tier as one isolate reaches it. */
  reachedBy(reader: Reader): SharedTier {
    const [fate, tier] = [this.#fate, this.#tier];
    return {
      get: (key) => {
        const isKnown = fate.missesAtOnce && !tier.has(key);
        fate.count("look-ups that missed at once", isKnown);
        return isKnown ? undefined : this.#get(key);
      },
      put: async (stored) => {
        this.#noteKept(stored, reader);
        const isLate = fate.chance(0.5);
        fate.count("late puts", isLate);
        await fate.delay(isLate ? 2500 : 10);
        const isLost = fate.chance(0.1);
        fate.count("puts that were lost", isLost);
        if (!isLost) await tier.put(stored);
      },
      delete: async (key) => {
        await fate.delay(10);
        return tier.delete(key);
      },
      readsWhilePut: fate.readsWhilePut,
      getBody: async (bodyKey, part) => {
        const growing = this.#growing.get(bodyKey);
        fate.count("bodies read while they were stored", growing !== undefined);
        return growing ? growing.read(part) : tier.getBody(bodyKey, part);
      },
      putBody: async (bodyKey, body) => {
        const growing = new GrowingCopy(body);
        if (fate.readsWhilePut) this.#growing.set(bodyKey, growing);
        await tier.putBody(bodyKey, growing.taken(body));
        this.#growing.delete(bodyKey);
        if (fate.readsWhilePut && growing.wasCutOff) throw new Error("the body was cut off");
      },
    };
  }

  async #get(key: string): Promise<Found | undefined> {
    const [fate, tier] = [this.#fate, this.#tier];
    await fate.onTheWay(60);
    if (fate.chance(0.02)) throw new Error("the tier fails");
    const isEvicted = fate.chance(0.05);
    const stored = await tier.get(key);
    if (!isEvicted) return stored;
    fate.count("evictions", stored !== undefined);
    await tier.delete(key);
    return undefined;
  }

  #noteKept(stored: Stored, { name, told }: Reader): void {
    if (isMarker(stored)) return;
    const { fetches, kept } = this.#fate.history;
    const { fetch, validation } = numbersIn({ get: (field) => fieldIn(stored.head.fields, field) });
    const fetched = fetches.get(fetch!)!;
    const confirmed = validation === null ? fetched : fetches.get(validation)!;
    kept.push({ isolate: name, fetched, confirmed, told: told.soFar() });
  }
}
