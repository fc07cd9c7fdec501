import * as z from "zod";
import { purgeRecordSchema } from "./purge-record.ts";

const count = z.int().nonnegative();

/** The most bytes of a pretended request. */
export const MAX_PRETENDED_BYTES = 64 * 1024;

/** The request to pretend: the query of `GET /_tidemark/explain`, or query and body of `POST`. */
export const pretendedRequestSchema = z.strictObject({
  /** An absolute URL of the site, or a path on the host that is asked. */
  url: z.string().regex(/^(\/|https?:\/\/)/i, "must be an absolute URL, or a path that begins with /"),
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]).default("GET"),
  /** Fields by name, as the visitor sends them. */
  fields: z.record(z.string(), z.string()).default({}),
});

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

/** A purge that has touched what is stored. */
const purgeSchema = z.object({
  seq: count,
  /** What it has made of the stored response. */
  made: z.enum(["purged", "soft", "invalidated"]),
  /** `null` if the audit trail no longer has it, or does not answer. */
  record: purgeRecordSchema.nullable(),
});

/** The body of the answer of `/_tidemark/explain`. */
export const explanationSchema = z.object({
  version: z.literal(1),
  url: z.string(),
  method: z.string(),
  /** The pattern of the route; `null` if none matches, or if the URL is refused. */
  route: z.string().nullable(),
  /** `null` for a URL that is refused. */
  key: z.string().nullable(),
  /** The parameters of the URL that are not in the key. */
  dropped: z.array(z.string()),
  /** What this isolate's memory and the PoP's shared tier hold for this request. */
  memory: storedSchema.nullable(),
  sharedTier: storedSchema.nullable(),
  purge: purgeSchema.nullable(),
  /**
   * `X-Cache`, or `null` for an answer that the edge makes itself or that the token of a refresh decides, and the
   * `detail` of `Cache-Status`, which gives another reason if the origin's answer is not stored.
   */
  outcome: z.object({ xCache: z.string().nullable(), detail: z.string().nullable() }),
  /**
   * What would happen now, in order: a word for each decision, and one for its reason. `explanation-text.ts` says them in
   * sentences. Where nothing is fetched, the last step is the answer.
   */
  steps: z.array(z.object({ step: z.string(), because: z.string().nullable() })),
  /** On a miss, keys that memory holds and that differ least from this one. */
  nearest: z.array(
    z.object({
      key: z.string(),
      /** `query page=2`, of either key; `path http://…/About`, of the other; `field accept-language`, without values. */
      differsIn: z.array(z.string()),
    }),
  ),
});

export type Explanation = z.infer<typeof explanationSchema>;
