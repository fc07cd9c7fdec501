import * as z from "zod/mini";

const count = z.int().check(z.nonnegative());

/** How many items of each kind a purge names. */
export const acceptedSchema = z.object({
  urls: count,
  tags: count,
  prefixes: count,
  hosts: count,
  everything: z.boolean(),
});

/** The result of fetching one URL again, for a purge with `refresh`. */
const refreshedSchema = z.object({
  url: z.string(),
  /** The status of the answer; 502 or 504 if the origin gave none. */
  status: z.int(),
  /** The answer's `X-Cache`; absent if the edge had to answer itself. */
  xCache: z.optional(z.string()),
  error: z.optional(z.string()),
});

/** One item of a dry run. */
const plannedSchema = z.object({
  /** The item as the request named it. */
  item: z.string(),
  /** The item in the normal form that the edge's keys have. */
  key: z.string(),
  /** The route that a URL matches, as the site writes it; `null` if none does, absent if the item is not a URL. */
  route: z.optional(z.nullable(z.string())),
});

/** An item of a purge that may have matched nothing. */
const unseenSchema = z.object({
  /** The item in the form that `tidemark purge -` reads, like `tag:song:42`. */
  item: z.string(),
  /** The most similar key of a stored page, in the same form; absent if none is similar. */
  nearest: z.optional(z.string()),
});

/** The answer to an accepted purge. A reader ignores fields that it does not know: a later version may add some. */
export const purgeReceiptSchema = z.object({
  /** The purge's number, from 1. Numbers only rise within one log. 0 for a dry run, which uses no number. */
  seq: count,
  /** The log that gave the number; a number means nothing in another log. Empty for a dry run. */
  logId: z.string(),
  /**
   * The value of the request field `Tidemark-After`: a request that carries it gets a response that is at least as recent as
   * this purge. Empty for a dry run.
   */
  token: z.string(),
  /** When the purge was accepted: RFC 3339, UTC, by the log's clock. */
  at: z.iso.datetime(),
  /**
   * Milliseconds from the arrival of this receipt until no PoP serves the purged responses. After a soft purge one may do so
   * while it fetches the new ones.
   */
  settlesInMs: count,
  accepted: acceptedSchema,
  /** True if this `id` had been accepted before: nothing new happened, and this is the first receipt again. */
  replayed: z.boolean(),
  /** True if nothing was purged, because it was a dry run. */
  dryRun: z.boolean(),
  /**
   * True if the purge may settle earlier, by the confirmations of the edge's isolates: `GET /_tidemark/purges/N?wait=…`
   * answers as soon as it has.
   */
  maySettleSooner: z.optional(z.boolean()),
  /** Sentences about what the caller may not have expected. */
  warnings: z.optional(z.array(z.string())),
  /**
   * The tags that no stored page has had lately, and the URLs at which none was stored, as far as the edge knows: each
   * is a sentence in `warnings`, too. The purge was still carried out.
   */
  unseen: z.optional(z.array(unseenSchema)),
  /** For a dry run: one entry for each item except `everything`. */
  planned: z.optional(z.array(plannedSchema)),
  /** One entry for each URL, if the purge asked for `refresh`. */
  refreshed: z.optional(z.array(refreshedSchema)),
});

export type PurgeReceiptBody = z.infer<typeof purgeReceiptSchema>;
