import * as z from "zod";
import { acceptedSchema } from "./purge-receipt.ts";

const count = z.int().nonnegative();

/** The most purges in one answer. */
export const MAX_LISTED_PURGES = 500;

/** The number of purges in one answer if the request gives no `limit`. */
export const DEFAULT_LISTED_PURGES = 50;

/** One purge in the audit trail. A reader ignores fields that it does not know: a later version may add some. */
export const purgeRecordSchema = z.object({
  seq: z.int().positive(),
  /** RFC 3339, UTC, by the log's clock. */
  at: z.iso.datetime(),
  /** The name of the token that was used; `edge` for the invalidation after an unsafe request. */
  by: z.string(),
  reason: z.string().nullable(),
  /** `invalidate` follows an unsafe request: the stored response is validated before it is used again. */
  mode: z.enum(["hard", "soft", "invalidate"]),
  accepted: acceptedSchema,
  /** Its first items, as many as a row has room for, in the normal form that `tidemark purge -` reads. */
  items: z.array(z.string()),
  /** The number of different items in all. */
  itemCount: count,
  id: z.string().nullable(),
  /** The number of the purge that this one repeats (`repeatAfterMs`). */
  repeatOf: z.int().positive().nullable(),
  /** True if, by the log's clock, no PoP serves the purged responses any more. */
  settled: z.boolean(),
});

/** The body of `GET /_tidemark/purges`: the newest first. */
export const purgeRecordPageSchema = z.object({
  purges: z.array(purgeRecordSchema),
  /** The value of `before` for the next page; `null` on the last page. */
  next: z.int().positive().nullable(),
});

/** The query of `GET /_tidemark/purges`. */
export const purgeRecordQuerySchema = z.strictObject({
  before: z
    .string()
    .regex(/^[1-9][0-9]{0,14}$/, "must be the number of a purge")
    .transform(Number)
    .optional(),
  limit: z
    .string()
    .regex(/^[1-9][0-9]{0,8}$/, "must be a whole number from 1 on")
    .transform(Number)
    .refine((limit) => limit <= MAX_LISTED_PURGES, `must be at most ${MAX_LISTED_PURGES}`)
    .optional(),
});

/** The longest time for which the answer about one purge is held, in milliseconds. */
export const MAX_PURGE_WAIT_MS = 25_000;

/** The query of `GET /_tidemark/purges/:seq`. */
export const purgeWaitSchema = z.strictObject({
  /** Hold the answer until the purge has settled, for at most so many milliseconds. */
  wait: z
    .string()
    .regex(/^[1-9][0-9]{0,8}$/, "must be a whole number of milliseconds from 1 on")
    .transform(Number)
    .refine((ms) => ms <= MAX_PURGE_WAIT_MS, `must be at most ${MAX_PURGE_WAIT_MS}`)
    .optional(),
});

export type PurgeRecordBody = z.infer<typeof purgeRecordSchema>;
export type PurgeRecordPageBody = z.infer<typeof purgeRecordPageSchema>;
