import type { Clock } from "../../ports/clock.ts";
import type {
  BeingStored,
  EndedElsewhere,
  FetchesElsewhere,
  SharedFetchOutcome,
} from "../../ports/fetches-elsewhere.ts";
import { isOriginError } from "../../rules/freshness/stale-if-error.ts";
import { ExpiringKeys } from "../../rules/key/expiring-keys.ts";
import { mayBeOfOneRequest, type NotStoredBecause } from "../../rules/storing/not-stored.ts";
import { MAY_KNOW_ELSEWHERE } from "./known-elsewhere.ts";

/**
 * The outcome for followers of an answer that is not stored: either the next answer may be better, or none can be
 * shared.
 */
export function outcomeOfNotStored(because: NotStoredBecause, status: number): SharedFetchOutcome {
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
  /** Another isolate makes it. */
  readonly isElsewhere?: true;
  /** Resolves when the first follower that looks in the shared tier again has brought what is there into memory. */
  brought?: Promise<unknown>;
}

/** One that this isolate makes. */
export interface LeadingFetch extends SharedFetch {
  /** Tells the followers. Calling it once with an outcome ends the fetch. */
  readonly tell: (news: SharedFetchOutcome | BeingStored) => void;
}

/** How long requests for a key whose answer could not be stored do not wait for each other. */
const HIT_FOR_MISS_MS = 5_000;
/** The most keys to remember as hit-for-miss. */
const MAX_HIT_FOR_MISS = 2_000;

/** The cache key without what follows it in the key of a variant, and in that of a kind of visitors. */
function pageOf(key: string): string {
  return key.split(" ", 1)[0]!;
}

/**
 * Collapsed forwarding of one isolate: at most one shared fetch per key, and the hit-for-miss keys, for which waiting
 * is pointless. Only plain values are handed to followers, because a Response belongs to the request that fetched it.
 */
export class CollapsedFetches {
  readonly #clock: Clock;
  readonly #elsewhere: FetchesElsewhere | undefined;
  readonly #leaders = new Map<string, SharedFetch>();
  readonly #hitForMiss = new ExpiringKeys(MAX_HIT_FOR_MISS, HIT_FOR_MISS_MS);
  #arrivals = 0;

  constructor(clock: Clock, elsewhere?: FetchesElsewhere) {
    this.#clock = clock;
    this.#elsewhere = elsewhere;
  }

  /** A number for an arriving request or a beginning fetch. Each is higher than all before it. */
  nextOrder(): number {
    return ++this.#arrivals;
  }

  find(key: string): SharedFetch | undefined {
    return this.#leaders.get(key);
  }

  /**
   * Begins a shared fetch. `null` if another isolate makes it: then `find` has that one, until it ends. `joins`: whether
   * this request may wait for other isolates. Default: it may.
   */
  begin(key: string, joins = true): LeadingFetch | null {
    const turn = MAY_KNOW_ELSEWHERE && joins ? this.#elsewhere?.take(key, pageOf(key)) : undefined;
    if (turn instanceof Promise) {
      if (MAY_KNOW_ELSEWHERE) this.#leaders.set(key, this.#elsewhereUntil(key, turn));
      return null;
    }
    // Made here and not for the first who waits: on Workers a promise ends with the request that has made it.
    const { promise: outcome, resolve } = Promise.withResolvers<SharedFetchOutcome>();
    const leader: LeadingFetch = {
      key,
      order: this.nextOrder(),
      outcome,
      tell: (news) => {
        turn?.tell(news);
        if (news.kind === "being-stored") return;
        this.abandon(leader);
        if (news.kind === "not-shareable") this.rememberHitForMiss(key);
        resolve(news);
      },
    };
    this.#leaders.set(key, leader);
    return leader;
  }

  #elsewhereUntil(key: string, ended: Promise<EndedElsewhere>): SharedFetch {
    const outcome = ended.then((news) => {
      this.abandon(leader);
      return news;
    });
    const leader: SharedFetch = { key, order: 0, outcome, isElsewhere: true };
    return leader;
  }

  /**
   * From now on no request joins a fetch of this page that has begun, of whichever variant and for whomever, because the
   * page has been invalidated.
   */
  abandonPage(page: string): void {
    for (const key of this.#leaders.keys()) if (pageOf(key) === page) this.#leaders.delete(key);
    if (MAY_KNOW_ELSEWHERE) this.#elsewhere?.avoid(page);
  }

  /** From now on no request joins this fetch, because the leader's request may be dead. The fetch may still end. */
  abandon(fetch: SharedFetch): void {
    if (this.#leaders.get(fetch.key) === fetch) this.#leaders.delete(fetch.key);
  }

  /** The answer itself cannot be shared, so later requests for this key do not wait for each other (R19). */
  rememberHitForMiss(key: string): void {
    this.#hitForMiss.remember(key, this.#clock.now());
  }

  isHitForMiss(key: string): boolean {
    return this.#hitForMiss.has(key, this.#clock.now());
  }
}
