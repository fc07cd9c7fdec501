import type { Cdn } from "../cdn/cdn.ts";
import type { ScriptedOrigin } from "../cdn/scripted-origin.ts";
import {
  type AnswerOrPromise,
  type AnswerOrResponse,
  hasAgeAbout,
  isBypass,
  isHit,
  isMiss,
  isStale,
  isStored,
  neverShows,
} from "./answer-claims.ts";
import type { ClaimResult } from "./claim-result.ts";
import { neverStores } from "./never-stores.ts";
import { hasSeen } from "./origin-record.ts";

/**
 * The methods that the matchers add to `expect`, each with its opposite after `.not`. Await all of them but `toHaveSeen`. A
 * test that expects an answer may pass `cdn.get(…)` without an `await`. An error that the edge makes itself, such as a 502,
 * fails all of them but `toHaveSeen`, also after `.not`: it says nothing of a page.
 */
export interface CdnMatchers {
  /** For an answer or a `Response`: it came from the cache, with `HIT`. */
  toHit(): Promise<void>;
  /**
   * For an answer or a `Response`: the cache had nothing usable, so it is a `MISS`, or `EXPIRED` if a stored response
   * was stale and was fetched again.
   */
  toMiss(): Promise<void>;
  /** For an answer or a `Response`: it came from the cache although it was stale, with `STALE` or `UPDATING`. */
  toBeStale(): Promise<void>;
  /** For an answer or a `Response`: the cache was not asked, so it is a `BYPASS`. */
  toBypass(): Promise<void>;
  /** For an answer: the same request, sent again to the same isolate, is a hit. */
  toBeStored(): Promise<void>;
  /**
   * For an answer or a `Response`: its `Age` differs from this many seconds by at most `tolerance` seconds. Default of
   * `tolerance`: 1.
   */
  toHaveAgeAbout(seconds: number, tolerance?: number): Promise<void>;
  /**
   * For an answer: neither its body nor that of another answer, from any isolate of the PoP, contains this text. A body
   * that was cut off before the text fails it, also after `.not`. Throws a `TypeError` for an empty text, and for the
   * answer to a `HEAD`, a 206, a 304 and a 416 without the text, which lack the page or parts of it.
   */
  toNeverShow(text: string): Promise<void>;
  /**
   * For a CDN: on the paths of a pattern like `/admin/*` it answers neither a guest nor a user from the cache. For
   * paths that the script does not name, the origin says `public, max-age=3600`.
   */
  toNeverStore(pattern: string): Promise<void>;
  /**
   * For a scripted origin: this path, with its query, was requested so many times; without a number, at least once.
   * Throws a `TypeError` for what is not a path.
   */
  toHaveSeen(target: string, times?: number): void;
}

/** The subject of each matcher. */
interface Subjects {
  toHit: AnswerOrResponse;
  toMiss: AnswerOrResponse;
  toBeStale: AnswerOrResponse;
  toBypass: AnswerOrResponse;
  toBeStored: AnswerOrPromise;
  toHaveAgeAbout: AnswerOrResponse;
  toNeverShow: AnswerOrPromise;
  toNeverStore: Cdn;
  toHaveSeen: ScriptedOrigin;
}

/** Everything that a test can claim. The matchers and the plain assertions both come from this table. */
export type Claims = {
  readonly [Name in keyof CdnMatchers]: (
    subject: Subjects[Name],
    ...args: Parameters<CdnMatchers[Name]>
  ) => ReturnType<CdnMatchers[Name]> extends Promise<unknown> ? Promise<ClaimResult> : ClaimResult;
};

export const claims: Claims = {
  toHit: isHit,
  toMiss: isMiss,
  toBeStale: isStale,
  toBypass: isBypass,
  toBeStored: isStored,
  toHaveAgeAbout: hasAgeAbout,
  toNeverShow: neverShows,
  toNeverStore: neverStores,
  toHaveSeen: hasSeen,
};
