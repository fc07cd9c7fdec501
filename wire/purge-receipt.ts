import * as z from "zod";

const count = z.int().nonnegative();

/** What one refetch of a `refresh` came to. */
export const refreshedSchema = z.object({
  url: z.string(),
  /** The status of the answer; 502 or 504 where the origin gave none. */
  status: z.int(),
  /** The answer's `X-Cache`; absent where the edge had to answer itself. */
  xCache: z.string().optional(),
  error: z.string().optional(),
});

/** One item of a dry run, as a purge would take it. */
export const plannedSchema = z.object({
  /** As it was named. */
  item: z.string(),
  /** What would be purged, in the normal form that keys have. */
  key: z.string(),
  /** The route of a URL, as the site writes it; `null` for one that no route matches, absent for what is no URL. */
  route: z.string().nullable().optional(),
});

/** The answer to an accepted purge. Unknown fields are for later versions, so a reader lets them pass. */
export const purgeReceiptSchema = z.object({
  /** The purge's number, from 1 on. Numbers only rise within one log. 0 for a dry run, which takes none. */
  seq: count,
  /** The log that gave the number; a number means nothing in another log. Empty for a dry run. */
  logId: z.string(),
  /** For the request field `Tidemark-After`: answers carrying it are at least as far along as this purge. Empty for a dry run. */
  token: z.string(),
  /** When the purge was accepted: RFC 3339, UTC, by the log's clock. */
  at: z.iso.datetime(),
  /** Milliseconds from the arrival of this receipt until no PoP serves what was purged. */
  settlesInMs: count,
  accepted: z.object({ urls: count, tags: count, prefixes: count, hosts: count, everything: z.boolean() }),
  /** True when this `id` had been accepted before: nothing new happened, and this is the first receipt. */
  replayed: z.boolean(),
  /** True when nothing was purged, because the call only asked what would be. */
  dryRun: z.boolean(),
  /** What the owner may not have expected, in sentences. */
  warnings: z.array(z.string()).optional(),
  /** For a dry run: one entry for each item but `everything`. */
  planned: z.array(plannedSchema).optional(),
  refreshed: z.array(refreshedSchema).optional(),
});

export type PurgeReceiptBody = z.infer<typeof purgeReceiptSchema>;
