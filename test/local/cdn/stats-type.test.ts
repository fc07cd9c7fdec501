import type { IsolateStats } from "tidemark/local";
import { expectTypeOf, test } from "vitest";
import type * as z from "zod/mini";
import type { statsSchema } from "../../../wire/stats-schema.ts";

test("the counters of `tidemark/local` are those that the control plane answers with", () => {
  expectTypeOf<IsolateStats>().toEqualTypeOf<z.infer<typeof statsSchema>>();
});
