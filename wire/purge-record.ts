import * as z from "zod/mini";
import { acceptedSchema } from "./purge-receipt.ts";

const count = z.int().check(z.nonnegative());

/** One purge in the audit trail. A reader ignores fields that it does not know: a later version may add some. */
export const purgeRecordSchema = z.object({
  seq: z.int().check(z.positive()),
  /** RFC 3339, UTC, by the log's clock. */
  at: z.iso.datetime(),
  /** The name of the token that was used; `edge` for the invalidation after an unsafe request. */
  by: z.string(),
  reason: z.nullable(z.string()),
  /** `invalidate` follows an unsafe request: the stored response is validated before it is used again. */
  mode: z.enum(["hard", "soft", "invalidate"]),
  accepted: acceptedSchema,
  /** Its first items, as many as fit in a row, in the normal form that `tidemark purge -` reads. */
  items: z.array(z.string()),
  /** The total number of different items. */
  itemCount: count,
  id: z.nullable(z.string()),
  /** The number of the purge that this one repeats (`repeatAfterMs`). */
  repeatOf: z.nullable(z.int().check(z.positive())),
  /**
   * True if, by the log's clock, no PoP serves the purged responses any more. After a soft purge one may do so while it
   * fetches the new ones.
   */
  settled: z.boolean(),
  /** While it has not settled: the machines that share the log and have not confirmed it, where the log can tell. */
  waitsFor: z.optional(z.array(z.string())),
});

/** The body of `GET /_tidemark/purges`: the newest first. */
export const purgeRecordPageSchema = z.object({
  purges: z.array(purgeRecordSchema),
  /** The value of `before` for the next page; `null` on the last page. */
  next: z.nullable(z.int().check(z.positive())),
});

export type PurgeRecordBody = z.infer<typeof purgeRecordSchema>;
export type PurgeRecordPageBody = z.infer<typeof purgeRecordPageSchema>;
