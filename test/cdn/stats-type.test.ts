import type { IsolateStats } from "tidemark/local";
import { expectTypeOf, test } from "vitest";
import type { Stats } from "../../wire/stats.ts";

test("the counters that the CDN tells are those of the wire", () => {
  expectTypeOf<IsolateStats>().toEqualTypeOf<Stats>();
});
