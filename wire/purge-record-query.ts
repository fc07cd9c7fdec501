import * as z from "zod/mini";

/** The most purges in one answer. */
export const MAX_LISTED_PURGES = 500;

/** The number of purges in one answer if the request gives no `limit`. */
export const DEFAULT_LISTED_PURGES = 50;

/** The query of `GET /_tidemark/purges`. */
export const purgeRecordQuerySchema = z.strictObject({
  before: z.optional(z.string().check(z.regex(/^[1-9][0-9]{0,14}$/, "must be the number of a purge"))),
  limit: z.optional(wholeNumber("must be a whole number, 1 or more", MAX_LISTED_PURGES)),
});

/** The longest time for which the answer about one purge is held, in milliseconds. */
export const MAX_PURGE_WAIT_MS = 25_000;

/** The query of `GET /_tidemark/purges/:seq`. */
export const purgeWaitSchema = z.strictObject({
  /** Hold the answer until the purge has settled, for at most this many milliseconds. */
  wait: z.optional(wholeNumber("must be a whole number of milliseconds, 1 or more", MAX_PURGE_WAIT_MS)),
});

/** A number in digits, as a query has it. */
function wholeNumber(error: string, most: number): z.ZodMiniString {
  return z.string().check(
    z.regex(/^[1-9][0-9]{0,8}$/, { error, abort: true }),
    z.refine((digits) => Number(digits) <= most, `must be at most ${most}`),
  );
}
