import { AssertionError } from "node:assert";
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

/*
 * What the matchers for vitest say, as functions for any other runner: each throws an `AssertionError` that explains
 * itself, and all but the last are to be awaited.
 */

/** Answered from store: `HIT`. */
export async function assertHit(answering: Answering): Promise<void> {
  assertHolds(await isHit(answering), assertHit);
}

/** Looked up, and nothing usable was there: `MISS`, or `EXPIRED` where it was stale and was fetched anew. */
export async function assertMiss(answering: Answering): Promise<void> {
  assertHolds(await isMiss(answering), assertMiss);
}

/** Answered from store although stale: `STALE`, `UPDATING`. */
export async function assertStale(answering: Answering): Promise<void> {
  assertHolds(await isStale(answering), assertStale);
}

/** Not looked up: `BYPASS`. */
export async function assertBypass(answering: Answering): Promise<void> {
  assertHolds(await isBypass(answering), assertBypass);
}

/** The same request, sent again to the same isolate, is a hit. */
export async function assertStored(answering: Answering): Promise<void> {
  assertHolds(await isStored(answering), assertStored);
}

/** `Age` is so many seconds, give or take `tolerance` (default 1). */
export async function assertAgeAbout(answering: Answering, seconds: number, tolerance?: number): Promise<void> {
  assertHolds(await hasAgeAbout(answering, seconds, tolerance), assertAgeAbout);
}

/** Neither this answer nor a further one, of any isolate of that PoP, has the version in its body. */
export async function assertNeverShows(answering: Answering, version: string): Promise<void> {
  assertHolds(await neverShows(answering, version), assertNeverShows);
}

/** No guest and no user is ever answered from store under a pattern like `/admin/*`. */
export async function assertNeverStores(cdn: Cdn, pattern: string): Promise<void> {
  assertHolds(await neverStores(cdn, pattern), assertNeverStores);
}

/** The origin was asked for a path so many times; without a number, at least once. */
export function assertSeen(origin: ScriptedOrigin, target: string, times?: number): void {
  assertHolds(hasSeen(origin, target, times), assertSeen);
}

// biome-ignore lint/complexity/noBannedTypes: what AssertionError takes to cut the stack.
function assertHolds(judgement: Judgement, stackStartFn: Function): void {
  if (!judgement.holds) throw new AssertionError({ message: judgement.against, stackStartFn });
}
