import type * as z from "zod/mini";
import type { problemSchema } from "./problem-schema.ts";

/** Every reason for which the control plane refuses a request. The SDK's errors carry the same codes. */
export const PROBLEM_CODES = {
  invalid: { status: 400, title: "The request is not valid; nothing was applied" },
  unauthorized: { status: 401, title: "The token is missing or wrong" },
  forbidden: { status: 403, title: "The token may not do this" },
  "not-found": { status: 404, title: "There is nothing here" },
  "method-not-allowed": { status: 405, title: "The method does not fit this address" },
  conflict: { status: 409, title: "This id was used before for another purge" },
  "too-large": { status: 413, title: "The body is too large" },
  "unsupported-media-type": { status: 415, title: "The body is not JSON" },
  "rate-limited": { status: 429, title: "Too many requests" },
  unavailable: { status: 503, title: "The purge log cannot be reached" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof PROBLEM_CODES;

/** The beginning of the detail of a refusal (403) by an edge that accepts no token at all; the reason follows. */
export const CONTROL_PLANE_CLOSED = "The control plane is closed";

/** The media type of RFC 9457. */
export const PROBLEM_MEDIA_TYPE = "application/problem+json";

/** The body of a refusal. */
export type Problem = z.infer<typeof problemSchema>;
