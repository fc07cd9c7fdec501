import type { StoredResponse } from "../../rules/storing/stored-response.ts";

/** How a collapsed fetch ended for those who wait on it. */
export type SharedFetchOutcome =
  | { readonly kind: "storable"; readonly stored: StoredResponse }
  /** The answer says itself that it is for one only: each follower asks for itself. */
  | { readonly kind: "not-shareable" }
  /** The leader failed, perhaps by its own doing: followers share one more fetch, and then ask for themselves. */
  | {
      readonly kind: "failed";
      /** True if the origin says so itself, or cannot be reached: what is stale may stand in for followers, too. */
      readonly byOrigin: boolean;
    };

/** One origin fetch that others may wait for. */
export interface SharedFetch {
  readonly key: string;
  /** Its place in the order of arrivals: a request that arrived earlier may take its answer unseen (R5). */
  readonly order: number;
  readonly outcome: Promise<SharedFetchOutcome>;
}

/** How long a key that turned out not storable is fetched without waiting for others. */
const HIT_FOR_MISS_MS = 5_000;
/** The most keys for which that is remembered, the oldest going first, and the longest of them: together about 2 MiB. */
const MAX_HIT_FOR_MISS = 2_000;
const MAX_KEY_CHARACTERS = 512;

/**
 * Collapsed forwarding of one isolate: at most one shared fetch per key, and the keys for which waiting is pointless.
 * Only plain values are handed over: a Response belongs to the request that fetched it.
 */
export class CollapsedFetches {
  readonly #flights = new Map<string, SharedFetch>();
  readonly #hitForMissUntil = new Map<string, number>();
  #arrivals = 0;

  /** A number for an arriving request or a beginning fetch; later ones are higher. */
  nextOrder(): number {
    return ++this.#arrivals;
  }

  find(key: string): SharedFetch | undefined {
    return this.#flights.get(key);
  }

  /** Begins a flight. It ends, once, with the call of `land`. */
  begin(key: string): SharedFetch & { land(outcome: SharedFetchOutcome, now: number): void } {
    const { promise, resolve } = Promise.withResolvers<SharedFetchOutcome>();
    const flight: SharedFetch = { key, order: this.nextOrder(), outcome: promise };
    this.#flights.set(key, flight);
    const land = (outcome: SharedFetchOutcome, now: number) => {
      this.abandon(flight);
      if (outcome.kind === "not-shareable") this.#rememberHitForMiss(key, now);
      resolve(outcome);
    };
    return { ...flight, land };
  }

  /** Lets nobody wait for what is being fetched under this key: it has been put out of date meanwhile. */
  abandonKey(key: string): void {
    this.#flights.delete(key);
  }

  /** Lets nobody wait for this flight any more: its leader may be dead. It may still land. */
  abandon({ key, outcome }: SharedFetch): void {
    if (this.#flights.get(key)?.outcome === outcome) this.#flights.delete(key);
  }

  /** Later requests for this key do not wait for each other: the answer itself cannot be shared (R19). */
  #rememberHitForMiss(key: string, now: number): void {
    if (key.length > MAX_KEY_CHARACTERS) return;
    this.#hitForMissUntil.delete(key);
    this.#hitForMissUntil.set(key, now + HIT_FOR_MISS_MS);
    if (this.#hitForMissUntil.size > MAX_HIT_FOR_MISS) {
      const oldest = this.#hitForMissUntil.keys().next();
      if (!oldest.done) this.#hitForMissUntil.delete(oldest.value);
    }
  }

  isHitForMiss(key: string, now: number): boolean {
    const until = this.#hitForMissUntil.get(key);
    return until !== undefined && now < until;
  }
}
