import type { Clock } from "../../ports/clock.ts";
import type { FetchTurn, SharedFetchOutcome } from "../../ports/fetches-elsewhere.ts";
import { isOriginError } from "../../rules/freshness/origin-error.ts";
import { ExpiringKeys } from "../../rules/key/expiring-keys.ts";
import { type FetchKey, fetchKeyText, joinableKeys, withoutField } from "../../rules/key/fetch-key.ts";
import { mayBeOfOneRequest, type NotStoredBecause } from "../../rules/storing/not-stored.ts";
import { within } from "../../within.ts";
import type { Place } from "../origin/permit-queue.ts";

/**
 * The outcome for followers of an answer that is not stored: either the next answer may be better, or none can be
 * shared.
 */
export function outcomeOfNotStored(because: NotStoredBecause, status: number): SharedFetchOutcome {
  if (isOriginError(status)) return { kind: "failed", byOrigin: "error" };
  return mayBeOfOneRequest(because, status) ? { kind: "failed", byOrigin: false } : { kind: "not-shareable" };
}

/** One origin fetch that others may wait for. */
export interface SharedFetch {
  readonly key: FetchKey;
  /**
   * Its place in the order of arrivals: a request that arrived before the fetch began may take its answer without a
   * check (R5).
   */
  readonly order: number;
  readonly outcome: Promise<SharedFetchOutcome>;
  /** Epoch milliseconds; absent if another isolate makes it. */
  readonly begunAt?: number;
  /** Another isolate makes it. */
  readonly isElsewhere?: true;
  /** Where it waits for the origin, if that takes only so many. */
  place?: Place;
  /** Resolves when the first follower that looks in the shared tier again has loaded the response into memory. */
  brought?: Promise<unknown>;
}

/** One that this isolate makes. An outcome that is told ends it. */
export interface LeadingFetch extends SharedFetch, FetchTurn {}

/** How a request that needs the origin goes about it. */
export type Begun =
  | { readonly kind: "alone" }
  | { readonly kind: "lead"; readonly fetch: LeadingFetch }
  | { readonly kind: "follow"; readonly fetch: SharedFetch };

/** The fetches of other isolates with the same shared tier. */
export interface FetchesOfNeighbours {
  /** The turn to fetch, or the fetch of another isolate; `undefined` if other isolates are not involved. */
  take(key: FetchKey, collapsed: CollapsedFetches): FetchTurn | SharedFetch | undefined;
  /** From now on no request joins a fetch of this page that has begun elsewhere. */
  avoid(page: string): void;
}

/** How long requests wait for the body of an answer that will not be reused without validation. */
const MAX_BODY_WAIT_MS = 3_000;
/**
 * How long requests for a key whose answer could not be stored do not wait for each other: a long poll that waits for another
 * misses a message.
 */
const HIT_FOR_MISS_MS = 60_000;
/** How long after such an answer a page is not refreshed: it may have been stored since, for others or by another isolate. */
const VAIN_REFRESH_MS = 5_000;
/** How long a page whose refresh has failed is not refreshed again. */
const FAILED_REFRESH_MS = 1_000;
/** The most keys to remember for one reason. */
const MAX_REMEMBERED = 2_000;

/**
 * Collapsed forwarding of one isolate: at most one shared fetch per key, and the hit-for-miss keys, for which waiting
 * is pointless. Only plain values are handed to followers, because a Response belongs to the request that fetched it.
 */
export class CollapsedFetches {
  readonly #clock: Clock;
  readonly #neighbours: FetchesOfNeighbours | undefined;
  readonly #leaders = new Map<string, SharedFetch>();
  readonly #hitForMiss = new ExpiringKeys(MAX_REMEMBERED, HIT_FOR_MISS_MS);
  readonly #failedRefreshes = new ExpiringKeys(MAX_REMEMBERED, FAILED_REFRESH_MS);
  /** By the order of arrivals. */
  readonly #abandoned = new ExpiringKeys(MAX_REMEMBERED, Number.POSITIVE_INFINITY);
  #arrivals = 0;

  constructor(clock: Clock, neighbours?: FetchesOfNeighbours) {
    this.#clock = clock;
    this.#neighbours = neighbours;
  }

  /** Epoch milliseconds. */
  get now(): number {
    return this.#clock.now();
  }

  /** A number for an arriving request or a beginning fetch. Each is higher than all before it. */
  nextOrder(): number {
    return ++this.#arrivals;
  }

  /** The fetch under way that a request may wait for. */
  find(key: FetchKey): SharedFetch | undefined {
    for (const each of joinableKeys(key)) {
      const fetch = this.#leaders.get(fetchKeyText(each));
      if (fetch) return fetch;
    }
    return undefined;
  }

  /** Begins a shared fetch, unless another isolate makes it and the request `joins` the fetches of others. */
  begin(key: FetchKey, joins: boolean): Begun {
    const turn = joins ? this.#neighbours?.take(key, this) : undefined;
    if (turn && "outcome" in turn) {
      this.#leaders.set(fetchKeyText(key), turn);
      return { kind: "follow", fetch: turn };
    }
    // Made here and not when the first one waits: on Workers a promise ends with the request that has made it.
    const { promise: outcome, resolve } = Promise.withResolvers<SharedFetchOutcome>();
    const fetch: LeadingFetch = {
      key,
      order: this.nextOrder(),
      outcome,
      begunAt: this.now,
      tell: (news) => {
        turn?.tell(news);
        if (news.kind === "being-stored") {
          const giveUp = () => fetch.tell({ kind: "not-shareable" });
          // Who came after the fetch began will have to ask the origin anyway.
          if (!news.isReusable()) void within(this.#clock, MAX_BODY_WAIT_MS, outcome, giveUp);
          return;
        }
        this.abandon(fetch);
        if (news.kind === "failing") return;
        if (news.kind === "not-shareable") this.rememberHitForMiss(key);
        if (news.kind === "storable") this.forgetHitForMiss(key); // of a slow body
        resolve(news);
      },
    };
    this.#leaders.set(fetchKeyText(key), fetch);
    return { kind: "lead", fetch };
  }

  /**
   * From now on no request joins a fetch of this page that has begun, of whichever variant and for whomever, because the
   * page has been invalidated.
   */
  abandonPage(page: string): void {
    for (const fetch of this.#leaders.values()) if (fetch.key.page === page) this.abandon(fetch);
    this.#neighbours?.avoid(page);
    this.#abandoned.remember(page, this.nextOrder());
  }

  /**
   * Whether the page was abandoned after this place in the order of arrivals, so that what was fetched for that request must
   * not be stored: the view may not know of it yet.
   */
  wasAbandonedSince(page: string, order: number): boolean {
    return (this.#abandoned.when(page, order) ?? 0) > order;
  }

  /** From now on no request joins this fetch, because the leader's request may be dead. The fetch may still end. */
  abandon(fetch: SharedFetch): void {
    const key = fetchKeyText(fetch.key);
    if (this.#leaders.get(key) === fetch) this.#leaders.delete(key);
  }

  /** The answer itself cannot be shared, so later requests for this key do not wait for each other (R19). */
  rememberHitForMiss(key: FetchKey): void {
    this.#hitForMiss.remember(fetchKeyText(key), this.now);
  }

  /** An answer for this key can be stored again, so requests wait for each other again. */
  forgetHitForMiss(key: FetchKey): void {
    this.#hitForMiss.forget(fetchKeyText(key));
  }

  /** When an answer for this key could not be shared; infinitely early if that is long ago. */
  unstoredAt(key: FetchKey): number {
    const { now } = this;
    const times = withoutField(key).map((each) => this.#hitForMiss.when(fetchKeyText(each), now));
    return Math.max(...times.map((at) => at ?? Number.NEGATIVE_INFINITY));
  }

  rememberFailedRefresh(key: FetchKey): void {
    this.#failedRefreshes.remember(fetchKeyText(key), this.#clock.now());
  }

  /** Whether a refresh would be in vain, because one of the same page has just been. */
  refreshesInVain(key: FetchKey): boolean {
    const { now } = this;
    const hasFailed = withoutField(key).some((each) => this.#failedRefreshes.has(fetchKeyText(each), now));
    return hasFailed || Math.abs(now - this.unstoredAt(key)) < VAIN_REFRESH_MS;
  }
}
