import type { IsolateStats } from "tidemark/local";
import { expectTypeOf, test } from "vitest";
import type { Stats } from "../../wire/stats.ts";

test("the CDN's counters have the type of the wire contract", () => {
  expectTypeOf<IsolateStats>().toEqualTypeOf<Stats>();
});
