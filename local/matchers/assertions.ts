import { AssertionError } from "node:assert";
import type { ClaimResult } from "./claim-result.ts";
import { type Claims, claims } from "./claims.ts";

/*
 * The claims of the matchers as functions, for any test runner. Each throws an `AssertionError` with the message of the
 * matcher. Await all of them but `assertSeen`.
 */

/** The answer came from the cache: `HIT`. */
export const assertHit: Assertion<"toHit"> = assertionOf("toHit");

/** The cache had nothing usable: `MISS`, or `EXPIRED` if a stored response was stale and was fetched again. */
export const assertMiss: Assertion<"toMiss"> = assertionOf("toMiss");

/** The answer came from the cache although it was stale: `STALE` or `UPDATING`. */
export const assertStale: Assertion<"toBeStale"> = assertionOf("toBeStale");

/** The cache was not asked: `BYPASS`. */
export const assertBypass: Assertion<"toBypass"> = assertionOf("toBypass");

/** The same request, sent again to the same isolate, is a hit. */
export const assertStored: Assertion<"toBeStored"> = assertionOf("toBeStored");

/** `Age` differs from this many seconds by at most `tolerance` seconds (default 1). */
export const assertAgeAbout: Assertion<"toHaveAgeAbout"> = assertionOf("toHaveAgeAbout");

/** Neither this answer nor another one, from any isolate of the PoP, has the version in its body. */
export const assertNeverShows: Assertion<"toNeverShow"> = assertionOf("toNeverShow");

/** The CDN never answers a guest or a user from the cache under a pattern like `/admin/*`. */
export const assertNeverStores: Assertion<"toNeverStore"> = assertionOf("toNeverStore");

/** The origin saw this many requests for a path; without a number, at least one. */
export function assertSeen(...args: Parameters<Claims["toHaveSeen"]>): void {
  assertHolds(claims.toHaveSeen(...args), assertSeen);
}

/** A claim whose result has to be awaited, as an assertion. */
export type Assertion<Name extends AsyncClaim> = (...args: Parameters<Claims[Name]>) => Promise<void>;

type AsyncClaim = Exclude<keyof Claims, "toHaveSeen">;

function assertionOf<Name extends AsyncClaim>(name: Name): Assertion<Name> {
  const claim = claims[name] as (...args: Parameters<Claims[Name]>) => Promise<ClaimResult>;
  const assertion = async (...args: Parameters<Claims[Name]>): Promise<void> => {
    assertHolds(await claim(...args), assertion);
  };
  return assertion;
}

// biome-ignore lint/complexity/noBannedTypes: the type that AssertionError gives to stackStartFn.
function assertHolds({ holds, failure }: ClaimResult, stackStartFn: Function): void {
  if (!holds) throw new AssertionError({ message: failure, stackStartFn });
}
