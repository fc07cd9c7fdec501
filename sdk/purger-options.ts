import * as z from "zod";
import { LONGEST_SLEEP_MS } from "./clock.ts";
import type { Fetch } from "./transport.ts";

export interface PurgerOptions {
  /** The site's origin, like `https://www.example.com`, without a path. Default: the variable `TIDEMARK_ENDPOINT`. */
  endpoint?: string | undefined;
  /** A token with the scope `purge`. Default: the variable `TIDEMARK_TOKEN`. */
  token?: string | undefined;
  /** Sends the requests instead of undici or the platform's `fetch`. Default: those. */
  fetch?: Fetch | undefined;
  /** Milliseconds for one call with all its attempts and pauses. Default: 10000. */
  deadlineMs?: number | undefined;
  /**
   * How often a call is sent again, with the same `id`, after a failed connection, half a response, or a 429, 502, 503
   * or 504. The pauses double from 0.2 s to 2 s, with jitter, after what `Retry-After` asks for; a pause that would
   * pass the deadline is not begun. 0 sends once. Default: 4.
   */
  retries?: number | undefined;
  /** Gives up every call of this purger: they reject with the signal's reason. Default: none. */
  signal?: AbortSignal | undefined;
}

/** The schemas of the options that more than one call takes. */
export const deadlineMsSchema: z.ZodOptional<z.ZodNumber> = z.number().positive().max(LONGEST_SLEEP_MS).optional();

export const signalSchema: z.ZodOptional<z.ZodCustom<AbortSignal>> = z
  .custom<AbortSignal>(
    (value) => typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value,
    "must be an AbortSignal",
  )
  .optional();

/** Strict, so that a misspelt option is an error and not silence. */
export const purgerOptionsSchema: z.ZodType<PurgerOptions> = z.strictObject({
  endpoint: z.string().optional(),
  token: z.string().optional(),
  fetch: z.custom<Fetch>((value) => typeof value === "function", "must be a function like fetch").optional(),
  deadlineMs: deadlineMsSchema,
  retries: z.int().nonnegative().optional(),
  signal: signalSchema,
});
