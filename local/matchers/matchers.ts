import type { ClaimResult } from "./claim-result.ts";
import { type Claims, claims } from "./claims.ts";

/** The matchers as `expect.extend` takes them: a type, because an interface has no index signature. */
export type CdnMatcherFunctions = {
  [Name in keyof Claims]: (
    ...args: Parameters<Claims[Name]>
  ) => ReturnType<Claims[Name]> extends Promise<unknown> ? Promise<MatcherResult> : MatcherResult;
};

export interface MatcherResult {
  pass: boolean;
  message: () => string;
}

/**
 * The matchers for an `expect` that the import of `tidemark/local/matchers` does not extend:
 * `expect.extend(cdnMatchers)`. The message of a failed matcher has `Cache-Status`, the cache key, the nearest known
 * key and the origin's requests.
 */
export const cdnMatchers: CdnMatcherFunctions = Object.fromEntries(
  Object.entries(claims).map(([name, claim]: [string, (...args: never[]) => ClaimResult | Promise<ClaimResult>]) => [
    name,
    (...args: never[]) => {
      const result = claim(...args);
      return result instanceof Promise ? result.then(matcherResult) : matcherResult(result);
    },
  ]),
) as CdnMatcherFunctions;

function matcherResult({ holds, failure, negatedFailure }: ClaimResult): MatcherResult {
  return { pass: holds, message: () => (holds ? negatedFailure : failure) };
}
