import * as z from "zod";

const count = z.int().nonnegative();
const countsByName = z.record(z.string(), count);

/** The body of `GET /_tidemark/stats`: counters of the isolate that answered, since it started. */
export const statsSchema = z.object({
  /** Raised when a field changes its meaning or goes away. */
  version: z.literal(1),
  scope: z.literal("isolate"),
  /** RFC 3339, UTC. */
  startedAt: z.iso.datetime(),
  /** Answers by their `X-Cache`. Together with `answeredByEdge` they are all answers. */
  answers: countsByName,
  /** Answers that the edge made itself, by the `detail` of their `Cache-Status`. */
  answeredByEdge: countsByName,
  /** Requests sent to the origin; `answered` and `failed` are parts of `asked`. */
  origin: z.object({ asked: count, answered: count, failed: count }),
  store: z.object({
    stored: count,
    storedBytes: count,
    failed: count,
    /** Answers that may not be kept, by the `detail` of their `Cache-Status`. */
    refused: countsByName,
    /** Bodies that were read and not kept, by reason. */
    discarded: countsByName,
  }),
  /** Requests that took the answer of another one's fetch. */
  collapsed: count,
  /** Requests with `Authorization` that nothing stored might answer. */
  askedPastTheCache: count,
  /** Wrong tokens for the control plane. */
  tokensRefused: count,
  /** Reads of the purge log; `shared`: copies of another isolate's reading that were taken instead of one. */
  log: z.object({ reads: count, failedReads: count, shared: count }),
  /** Purges accepted by this isolate. */
  purges: count,
  /** What unsafe requests put out of date and the log could not be told. */
  invalidationsDropped: count,
  /** Bugs: the last catch had to answer. */
  failures: count,
  memory: z.object({ entries: count, bytes: count, maxBytes: count }),
  fills: z.object({ bytes: count, maxBytes: count }),
  view: z.object({
    keys: count,
    bytes: count,
    maxBytes: count,
    position: z.object({ logId: z.string(), seq: count }).nullable(),
  }),
});

export type Stats = z.infer<typeof statsSchema>;

/** The body of `GET /_tidemark/health`. */
export const healthSchema = z.object({ status: z.literal("ok") });
