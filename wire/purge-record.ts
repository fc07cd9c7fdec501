import * as z from "zod";

const count = z.int().nonnegative();

/** The most rows of one answer, and how many it has if nothing is said. */
export const MAX_LISTED_PURGES = 500;
export const LISTED_PURGES = 50;

/** One purge in the audit trail. Unknown fields are for later versions, so a reader lets them pass. */
export const purgeRecordSchema = z.object({
  seq: z.int().positive(),
  /** RFC 3339, UTC, by the log's clock. */
  at: z.iso.datetime(),
  /** The name of the token that was used; `edge` for what an unsafe request put out of date. */
  by: z.string(),
  reason: z.string().nullable(),
  /** `invalidate`: to be validated first, as after an unsafe request. */
  mode: z.enum(["hard", "soft", "invalidate"]),
  accepted: z.object({ urls: count, tags: count, prefixes: count, hosts: count, everything: z.boolean() }),
  /** The first of its items in their normal form, as `tidemark purge -` reads them; as many as a row has room for. */
  items: z.array(z.string()),
  /** How many different items there are in all. */
  itemCount: count,
  id: z.string().nullable(),
  /** The purge that this one repeats (`repeatAfterMs`). */
  repeatOf: z.int().positive().nullable(),
  /** Whether no PoP serves any more what it named, by the log's clock. */
  settled: z.boolean(),
});

/** The body of `GET /_tidemark/purges`: the newest first. */
export const purgeRecordPageSchema = z.object({
  purges: z.array(purgeRecordSchema),
  /** What to send as `before` for the next page; `null` after the last. */
  next: z.int().positive().nullable(),
});

/** The query of `GET /_tidemark/purges`. */
export const purgeRecordQuerySchema = z.strictObject({
  before: z
    .string()
    .regex(/^[1-9][0-9]{0,14}$/, "is the number of a purge")
    .transform(Number)
    .optional(),
  limit: z
    .string()
    .regex(/^[1-9][0-9]{0,8}$/, "is a whole number from 1 on")
    .transform(Number)
    .refine((limit) => limit <= MAX_LISTED_PURGES, `is at most ${MAX_LISTED_PURGES}`)
    .optional(),
});

export type PurgeRecordBody = z.infer<typeof purgeRecordSchema>;
export type PurgeRecordPageBody = z.infer<typeof purgeRecordPageSchema>;
