import * as z from "zod/mini";

/** The most bytes of a pretended request. */
export const MAX_PRETENDED_BYTES = 64 * 1024;

export const PRETENDED_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** The request to pretend: the query of `GET /_tidemark/explain`, or query and body of `POST`. */
export const pretendedRequestSchema = z.strictObject({
  /** An absolute URL of the site, or a path on the host of this call. */
  url: z.string().check(z.regex(/^(\/|https?:\/\/)/i, "must be an absolute URL, or a path that begins with /")),
  /** Default `GET`. */
  method: z.optional(z.literal(PRETENDED_METHODS)),
  /** Fields by name, as the visitor sends them. Default: none. */
  fields: z.optional(z.catchall(z.object({}), z.string())),
});
