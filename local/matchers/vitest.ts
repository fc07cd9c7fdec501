/** `tidemark/local/matchers`: adds the matchers to vitest's `expect`. Import it in a test, or name it in `setupFiles`. */
import { expect } from "vitest";
import type { CdnMatchers } from "./claims.ts";
import { cdnMatchers } from "./matchers.ts";

export type { CdnMatchers } from "./claims.ts";

expect.extend(cdnMatchers);

declare module "vitest" {
  interface Matchers<R extends void | Promise<void>, T> extends CdnMatchers {}
}

/** For vitest 4, whose own `Matchers` has other type parameters, but which also reads this interface of Jest. */
declare global {
  namespace jest {
    interface Matchers<R, T> extends CdnMatchers {}
  }
}
