import type { OriginFailure } from "../rules/freshness/stale-if-error.ts";
import type { FetchKey } from "../rules/key/fetch-key.ts";
import type { StoredResponse } from "../rules/storing/stored-response.ts";

/**
 * How a fetch ended for those who wait for it. `kept` resolves when both tiers have the response, or when it is not
 * stored because it is purged.
 */
export type SharedFetchOutcome =
  | {
      readonly kind: "storable";
      readonly stored: StoredResponse;
      readonly kept: Promise<unknown>;
      /** The status of the origin's answer: 304 if it has confirmed the response. */
      readonly status?: number;
      /** True if a cache in place of the origin has answered with what it had fetched earlier (R5). */
      readonly isOfEarlierFetch?: boolean;
    }
  | EndedElsewhere;

/** The same for those who wait in another isolate. */
export type EndedElsewhere =
  /** The shared tier may have an answer now, so each looks there again. */
  | { readonly kind: "look-again" }
  /** The answer is for one request only, or cannot be shared, so each follower fetches for itself. */
  | { readonly kind: "not-shareable" }
  /**
   * The leader failed, perhaps because of its own request. The followers share one more fetch, and after that each
   * fetches for itself.
   */
  | {
      readonly kind: "failed";
      /**
       * The origin's failure, after which followers may get a stale response, too; or that the origin is too busy for
       * all of them; `false` for a failure of another kind.
       */
      readonly byOrigin: OriginFailure | "busy" | false;
    };

/** The fetch has failed, and it is not known yet whether a stored page stands in: nobody else joins it. */
export interface Failing {
  readonly kind: "failing";
}

/** An answer has come that is being stored. */
export interface BeingStored {
  readonly kind: "being-stored";
  /** `null` if the origin has not announced it. */
  readonly lengthBytes: number | null;
  /** Whether it may answer a request like this one from the store, without validation. */
  isReusable(): boolean;
}

/** The fetches of other isolates with the same shared tier. None of it throws or rejects. */
export interface FetchesElsewhere {
  /**
   * Takes the turn to fetch for this key. If another isolate has it, resolves when that fetch has ended, or is
   * not worth waiting for any longer. `undefined` if it cannot be known, or is not worth it: the fetch is this isolate's
   * alone.
   */
  take(key: FetchKey): FetchTurn | Promise<EndedElsewhere> | undefined;
  /** Makes this isolate wait for no fetch of this page that has begun elsewhere, as long as one may take (R15). */
  avoid(page: string): void;
}

export interface FetchTurn {
  /** Sends the outcome to those who wait. Only the first outcome counts. */
  tell(news: SharedFetchOutcome | BeingStored | Failing): void;
}
