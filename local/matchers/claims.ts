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
 * Everything that a test can claim. The matchers for vitest and the plain assertions both come from this table. Those that
 * only read an answer take a `Response` of `fetch`, too.
 */
export interface Claims {
  /** The answer came from the cache: `HIT`. */
  toHit(answer: AnswerOrResponse): Promise<ClaimResult>;
  /** The cache had nothing usable: `MISS`, or `EXPIRED` if a stored response was stale and was fetched again. */
  toMiss(answer: AnswerOrResponse): Promise<ClaimResult>;
  /** The answer came from the cache although it was stale: `STALE` or `UPDATING`. */
  toBeStale(answer: AnswerOrResponse): Promise<ClaimResult>;
  /** The cache was not asked: `BYPASS`. */
  toBypass(answer: AnswerOrResponse): Promise<ClaimResult>;
  /** The same request, sent again to the same isolate, is a hit. */
  toBeStored(answer: AnswerOrPromise): Promise<ClaimResult>;
  /** `Age` differs from this many seconds by at most `tolerance` seconds (default 1). */
  toHaveAgeAbout(answer: AnswerOrResponse, seconds: number, tolerance?: number): Promise<ClaimResult>;
  /** Neither this answer nor another one, from any isolate of the PoP, has the version in its body. */
  toNeverShow(answer: AnswerOrPromise, version: string): Promise<ClaimResult>;
  /** Of a CDN: it never answers a guest or a user from the cache under a pattern like `/admin/*`. */
  toNeverStore(cdn: Cdn, pattern: string): Promise<ClaimResult>;
  /** Of a scripted origin: a path was requested this many times; without a number, at least once. */
  toHaveSeen(origin: ScriptedOrigin, target: string, times?: number): ClaimResult;
}

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
