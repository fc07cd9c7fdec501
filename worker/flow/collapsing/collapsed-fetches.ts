import { isOriginError } from "../../rules/freshness/stale-if-error.ts";
import { mayBeOfOneRequest, type NotStoredBecause } from "../../rules/storing/not-stored.ts";
import type { StoredResponse } from "../../rules/storing/stored-response.ts";
import { ExpiringKeys } from "../expiring-keys.ts";

/** How a shared fetch ended for its followers. */
export type SharedFetchOutcome =
  | { readonly kind: "storable"; readonly stored: StoredResponse }
  /** The answer is for one request only, or cannot be shared, so each follower fetches for itself. */
  | { readonly kind: "not-shareable" }
  /**
   * The leader failed, perhaps because of its own request. The followers share one more fetch, and after that each
   * fetches for itself.
   */
  | {
      readonly kind: "failed";
      /**
       * True if the origin answered with an error or cannot be reached; then a stale response may be used for
       * followers, too.
       */
      readonly byOrigin: boolean;
    };

/**
 * The outcome for followers of an answer that is not stored: either the next answer may be better, or none can be
 * shared.
 */
export function outcomeOfPass(because: NotStoredBecause, status: number): SharedFetchOutcome {
  if (!mayBeOfOneRequest(because, status)) return { kind: "not-shareable" };
  return { kind: "failed", byOrigin: because !== "unkeyed-field" && isOriginError(status) };
}

/** One origin fetch that others may wait for. */
export interface SharedFetch {
  readonly key: string;
  /**
   * Its place in the order of arrivals: a request that arrived before the fetch began may take its answer without a
   * check (R5).
   */
  readonly order: number;
  readonly outcome: Promise<SharedFetchOutcome>;
}

/** For this long, requests for a key whose answer could not be stored do not wait for each other. */
const HIT_FOR_MISS_MS = 5_000;
/** The most keys to remember as hit-for-miss. */
const MAX_HIT_FOR_MISS = 2_000;

/**
 * Collapsed forwarding of one isolate: at most one shared fetch per key, and the hit-for-miss keys, for which waiting
 * is pointless. Only plain values are handed to followers, because a Response belongs to the request that fetched it.
 */
export class CollapsedFetches {
  readonly #leaders = new Map<string, SharedFetch>();
  readonly #hitForMiss = new ExpiringKeys(MAX_HIT_FOR_MISS, HIT_FOR_MISS_MS);
  #arrivals = 0;

  /** A number for an arriving request or a beginning fetch. Each is higher than all before it. */
  nextOrder(): number {
    return ++this.#arrivals;
  }

  find(key: string): SharedFetch | undefined {
    return this.#leaders.get(key);
  }

  /** Begins a shared fetch. Calling `end` once ends it. */
  begin(key: string): SharedFetch & { end(outcome: SharedFetchOutcome, now: number): void } {
    const { promise, resolve } = Promise.withResolvers<SharedFetchOutcome>();
    const leader: SharedFetch = { key, order: this.nextOrder(), outcome: promise };
    this.#leaders.set(key, leader);
    const end = (outcome: SharedFetchOutcome, now: number) => {
      this.abandon(leader);
      // The answer itself cannot be shared, so later requests for this key do not wait for each other (R19).
      if (outcome.kind === "not-shareable") this.#hitForMiss.remember(key, now);
      resolve(outcome);
    };
    return { ...leader, end };
  }

  /**
   * From now on no request joins the fetch under this key, because the response that it fetches has been invalidated.
   */
  abandonKey(key: string): void {
    this.#leaders.delete(key);
  }

  /** From now on no request joins this fetch, because the leader's request may be dead. The fetch may still end. */
  abandon({ key, outcome }: SharedFetch): void {
    if (this.#leaders.get(key)?.outcome === outcome) this.#leaders.delete(key);
  }

  isHitForMiss(key: string, now: number): boolean {
    return this.#hitForMiss.has(key, now);
  }
}
