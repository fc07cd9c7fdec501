import * as z from "zod/mini";
import { purgeRecordSchema } from "./purge-record.ts";

const count = z.int().check(z.nonnegative());

/** A stored response, without its body and its fields. */
const storedSchema = z.object({
  status: z.int(),
  bodyBytes: count,
  /** When it was fetched or last confirmed: RFC 3339, UTC. */
  since: z.iso.datetime(),
  ageSeconds: count,
  /** Negative once it is stale. */
  freshForSeconds: z.number(),
  /** The fields of the request that select it. */
  selectedBy: z.array(z.string()),
  tags: z.array(z.string()),
});

/** A purge that affected the stored response. */
const purgeSchema = z.object({
  seq: count,
  /** The stored response's state after it. */
  made: z.enum(["purged", "soft", "invalidated"]),
  /** `null` if the audit trail no longer has it, or does not answer. */
  record: z.nullable(purgeRecordSchema),
});

/** The body of the answer of `/_tidemark/explain`. */
export const explanationSchema = z.object({
  version: z.literal(1),
  url: z.string(),
  method: z.string(),
  /** The worker that answers, on a server with several: `worker-3, one of 4`. Each has its own memory. */
  worker: z.optional(z.string()),
  /** The pattern of the route; `null` if none matches, or if the URL is refused. */
  route: z.nullable(z.string()),
  /** `null` for a URL that is refused. */
  key: z.nullable(z.string()),
  /** The parameters of the URL that are not in the key. */
  dropped: z.array(z.string()),
  /** The entries for this request in this isolate's memory and in the PoP's shared tier. */
  memory: z.nullable(storedSchema),
  sharedTier: z.nullable(storedSchema),
  purge: z.nullable(purgeSchema),
  /**
   * `X-Cache` (`null` if the edge itself answers) and the `detail` of `Cache-Status`, which changes if the origin's
   * answer is not stored.
   */
  outcome: z.object({ xCache: z.nullable(z.string()), detail: z.nullable(z.string()) }),
  /**
   * The decisions in order, each with a word for its reason. `explanation-text.ts` has them as sentences. If nothing is
   * fetched, the last step before `coding` and `delta` is the answer.
   */
  steps: z.array(z.object({ step: z.string(), because: z.nullable(z.string()) })),
  /**
   * Why and when the last answer of this page was not stored, as the `detail` of its `Cache-Status` said; only on a miss,
   * and if this isolate, or another worker of the server, remembers it.
   */
  lastRefusal: z.optional(z.object({ because: z.string(), at: z.iso.datetime() })),
  /** On a miss, the most similar keys in memory. */
  nearest: z.array(
    z.object({
      key: z.string(),
      /**
       * `query page=2`, from either key; `path http://…/About`, from the other key; `field accept-language`, without
       * values; `host www.example.com`, from the other key, if no page of this host is in memory.
       */
      differsIn: z.array(z.string()),
    }),
  ),
});

export type Explanation = z.infer<typeof explanationSchema>;
