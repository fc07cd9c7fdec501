import * as z from "zod/mini";

const count = z.int().check(z.nonnegative());
const countsByName = z.record(z.string(), count);

/** The schema of `IsolateStats` in `stats.ts`, which describes the fields. */
export const statsSchema = z.object({
  version: z.literal(1),
  scope: z.literal("isolate"),
  startedAt: z.iso.datetime(),
  answers: countsByName,
  answeredByEdge: countsByName,
  origin: z.object({ asked: count, answered: count, failed: count, awaited: count, turnedAway: count }),
  queue: z.object({ awaited: countsByName, turnedAway: countsByName }),
  store: z.object({
    stored: count,
    storedBytes: count,
    failed: count,
    refused: countsByName,
    unkeyedFields: countsByName,
    discarded: countsByName,
  }),
  secondLooks: z.object({ asked: count, marked: count }),
  deltas: z.object({ sent: count, bytes: count, savedBytes: count }),
  collapsed: count,
  askedPastTheCache: count,
  tokensRefused: count,
  log: z.object({ reads: count, failedReads: count, shared: count }),
  purges: count,
  invalidationsDropped: count,
  failures: count,
  memory: z.object({ entries: count, bytes: count, maxBytes: count }),
  fills: z.object({ bytes: count, maxBytes: count }),
  atOrigin: z.object({ running: count, waiting: count, maxWaiting: count, longestWaitMs: count }),
  view: z.object({
    keys: count,
    bytes: count,
    maxBytes: count,
    position: z.nullable(z.object({ logId: z.string(), seq: count })),
  }),
});

/** The body of `GET /_tidemark/health`. */
export const healthSchema = z.object({
  status: z.literal("ok"),
  /** Whether the answering isolate knows that the origin is down. Stored pages are still served. */
  origin: z.enum(["up", "down"]),
});
export type Health = z.infer<typeof healthSchema>;
