import { AssertionError } from "node:assert";
import type { Cdn } from "../cdn/cdn.ts";
import type { ScriptedOrigin } from "../cdn/scripted-origin.ts";
import type { AnswerOrPromise, AnswerOrResponse } from "./answer-claims.ts";
import { type ClaimResult, completeMessage } from "./claim-result.ts";
import { type Claims, claims } from "./claims.ts";

/*
 * The claims of the matchers as functions, for any test runner. Each throws an `AssertionError` with the message of the
 * matcher. Await all of them but `assertSeen`.
 */

/** The answer came from the cache: `HIT`. */
export const assertHit: (answer: AnswerOrResponse) => Promise<void> = assertionOf("toHit");

/** The cache had nothing usable: `MISS`, or `EXPIRED` if a stored response was stale and was fetched again. */
export const assertMiss: (answer: AnswerOrResponse) => Promise<void> = assertionOf("toMiss");

/** The answer came from the cache although it was stale: `STALE` or `UPDATING`. */
export const assertStale: (answer: AnswerOrResponse) => Promise<void> = assertionOf("toBeStale");

/** The cache was not asked: `BYPASS`. */
export const assertBypass: (answer: AnswerOrResponse) => Promise<void> = assertionOf("toBypass");

/** The same request, sent again to the same isolate, is a hit. */
export const assertStored: (answer: AnswerOrPromise) => Promise<void> = assertionOf("toBeStored");

/** `Age` differs from this many seconds by at most `tolerance` seconds. Default of `tolerance`: 1. */
export const assertAgeAbout: (answer: AnswerOrResponse, seconds: number, tolerance?: number) => Promise<void> =
  assertionOf("toHaveAgeAbout");

/** Neither the body of this answer nor that of another one, from any isolate of the PoP, contains this text. */
export const assertNeverShows: (answer: AnswerOrPromise, text: string) => Promise<void> = assertionOf("toNeverShow");

/** The CDN never answers a guest or a user from the cache, for the paths of a pattern like `/admin/*`. */
export const assertNeverStores: (cdn: Cdn, pattern: string) => Promise<void> = assertionOf("toNeverStore");

/** The origin saw this many requests for a path with its query; without a number, at least one. Not to be awaited. */
export function assertSeen(origin: ScriptedOrigin, target: string, times?: number): void {
  const { holds, failure } = claims.toHaveSeen(origin, target, times);
  if (!holds) throw new AssertionError({ message: failure, stackStartFn: assertSeen });
}

/** An asynchronous claim as an assertion. */
type Assertion<Name extends AsyncClaim> = (...args: Parameters<Claims[Name]>) => Promise<void>;

type AsyncClaim = Exclude<keyof Claims, "toHaveSeen">;

function assertionOf<Name extends AsyncClaim>(name: Name): Assertion<Name> {
  const claim = claims[name] as (...args: Parameters<Claims[Name]>) => Promise<ClaimResult>;
  const assertion = async (...args: Parameters<Claims[Name]>): Promise<void> => {
    const result = await claim(...args);
    if (result.holds) return;
    throw new AssertionError({ message: await completeMessage(result), stackStartFn: assertion });
  };
  return assertion;
}
