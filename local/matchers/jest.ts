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

// The `expect` of `@jest/globals` is that of the package `expect`. In a project of CommonJS, TypeScript takes the imports of a
// test of vitest for `require`, but vitest runs them as imports. A project need not have either package.

// biome-ignore lint/suspicious/noTsIgnore: whether there is an error depends on the project
/** @ts-ignore */
declare module "expect" {
  interface Matchers<R extends void | Promise<void>, T> extends CdnMatchers {}
}

// biome-ignore lint/suspicious/noTsIgnore: whether there is an error depends on the project
/** @ts-ignore */
declare module "vitest" {
  interface Matchers<R extends void | Promise<void>, T> extends CdnMatchers {}
}

declare global {
  namespace jest {
    interface Matchers<R, T> extends CdnMatchers {}
  }
}
