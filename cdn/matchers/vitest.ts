/** `tidemark/local/matchers`: adds the matchers to vitest's `expect`. Import it in a test, or name it in `setupFiles`. */
import { expect } from "vitest";
import { type CdnMatchers, cdnMatchers } from "./matchers.ts";

expect.extend(cdnMatchers);

declare module "vitest" {
  interface Matchers<R extends void | Promise<void>, T> extends CdnMatchers {}
}

/** Vitest 4 gives its `Matchers` other type parameters, but takes this interface, which has them from Jest, for its own. */
declare global {
  namespace jest {
    interface Matchers<R, T> extends CdnMatchers {}
  }
}
