import {
  type Answering,
  hasAgeAbout,
  isBypass,
  isHit,
  isMiss,
  isStale,
  isStored,
  neverShows,
} from "./answer-claims.ts";
import type { Cdn } from "../cdn.ts";
import { hasSeen } from "./has-seen.ts";
import type { Judgement } from "./claim-result.ts";
import { neverStores } from "./never-stores.ts";
import type { ScriptedOrigin } from "../scripted-origin.ts";

/**
 * Matchers for vitest: `expect.extend(cdnMatchers)`. All but the last are to be awaited; those of an answer take
 * `cdn.get(…)` as it is. When one fails it tells `Cache-Status`, the key, the nearest known key and the origin's record.
 */
export const cdnMatchers: CdnMatcherFunctions = {
  toHit: async (answering: Answering) => result(await isHit(answering)),
  toMiss: async (answering: Answering) => result(await isMiss(answering)),
  toBeStale: async (answering: Answering) => result(await isStale(answering)),
  toBypass: async (answering: Answering) => result(await isBypass(answering)),
  toBeStored: async (answering: Answering) => result(await isStored(answering)),
  toHaveAgeAbout: async (answering: Answering, seconds: number, tolerance?: number) =>
    result(await hasAgeAbout(answering, seconds, tolerance)),
  toNeverShow: async (answering: Answering, version: string) => result(await neverShows(answering, version)),
  toNeverStore: async (cdn: Cdn, pattern: string) => result(await neverStores(cdn, pattern)),
  toHaveSeen: (origin: ScriptedOrigin, target: string, times?: number) => result(hasSeen(origin, target, times)),
};

/** The matchers as `expect.extend` takes them: a type, because an interface has no index signature. */
export type CdnMatcherFunctions = {
  toHit(answering: Answering): Promise<MatcherResult>;
  toMiss(answering: Answering): Promise<MatcherResult>;
  toBeStale(answering: Answering): Promise<MatcherResult>;
  toBypass(answering: Answering): Promise<MatcherResult>;
  toBeStored(answering: Answering): Promise<MatcherResult>;
  toHaveAgeAbout(answering: Answering, seconds: number, tolerance?: number): Promise<MatcherResult>;
  toNeverShow(answering: Answering, version: string): Promise<MatcherResult>;
  toNeverStore(cdn: Cdn, pattern: string): Promise<MatcherResult>;
  toHaveSeen(origin: ScriptedOrigin, target: string, times?: number): MatcherResult;
};

export interface MatcherResult {
  pass: boolean;
  message: () => string;
}

/** What the matchers add to `expect`. */
export interface CdnMatchers {
  /** Answered from store: `HIT`. */
  toHit(): Promise<void>;
  /** Looked up, and nothing usable was there: `MISS`, or `EXPIRED` where it was stale and was fetched anew. */
  toMiss(): Promise<void>;
  /** Answered from store although stale: `STALE`, `UPDATING`. */
  toBeStale(): Promise<void>;
  /** Not looked up: `BYPASS`. */
  toBypass(): Promise<void>;
  /** The same request, sent again to the same isolate, is a hit. */
  toBeStored(): Promise<void>;
  /** `Age` is so many seconds, give or take `tolerance` (default 1). */
  toHaveAgeAbout(seconds: number, tolerance?: number): Promise<void>;
  /** Neither this answer nor a further one, of any isolate of that PoP, has the version in its body. */
  toNeverShow(version: string): Promise<void>;
  /** Of a CDN: no guest and no user is ever answered from store under a pattern like `/admin/*`. */
  toNeverStore(pattern: string): Promise<void>;
  /** Of a scripted origin: it was asked for a path so many times; without a number, at least once. */
  toHaveSeen(target: string, times?: number): void;
}

function result(judgement: Judgement): MatcherResult {
  return {
    pass: judgement.holds,
    message: () => (judgement.holds ? judgement.for : judgement.against),
  };
}
