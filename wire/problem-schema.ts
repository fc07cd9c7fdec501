import * as z from "zod/mini";

/** A refusal: RFC 9457 problem details, with a stable `type` and `code`. */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.optional(z.string()),
  /** Each fault; `path` names its place, like `tags[3]`, and is empty for the request as a whole. */
  errors: z.optional(z.array(z.object({ path: z.string(), message: z.string() }))),
});
