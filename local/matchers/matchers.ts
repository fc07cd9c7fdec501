import { type ClaimResult, completeMessage } from "./claim-result.ts";
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
    function (this: { readonly isNot?: boolean } | undefined, ...args: never[]) {
      const result = claim(...args);
      const isNot = this?.isNot === true;
      return result instanceof Promise ? result.then((each) => completed(each, isNot)) : matcherResult(result);
    },
  ]),
) as CdnMatcherFunctions;

/** `isNot`: whether the test expects the opposite. Only a test that fails has its message completed. */
async function completed(result: ClaimResult, isNot: boolean): Promise<MatcherResult> {
  if (result.holds !== isNot) return matcherResult(result);
  const message = await completeMessage(result);
  return { pass: result.holds, message: () => message };
}

function matcherResult({ holds, failure, negatedFailure }: ClaimResult): MatcherResult {
  return { pass: holds, message: () => (holds ? negatedFailure : failure) };
}
