/** `tidemark/local/matchers` for `require`, as in Jest: adds the matchers to the global `expect`. */
import type { CdnMatchers } from "./claims.ts";
import { type CdnMatcherFunctions, cdnMatchers } from "./matchers.ts";

export type { CdnMatchers } from "./claims.ts";

const { expect } = globalThis as { readonly expect?: { extend(matchers: CdnMatcherFunctions): void } };
if (expect === undefined) {
  throw new TypeError(
    "tidemark/local/matchers was loaded with require, but there is no global expect, which Jest has. In vitest, import it; elsewhere use assertHit and the like from tidemark/local.",
  );
}
expect.extend(cdnMatchers);

declare global {
  namespace jest {
    interface Matchers<R, T> extends CdnMatchers {}
  }
}
