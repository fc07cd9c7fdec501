import * as z from "zod";
import { MAX_SLEEP_MS } from "./clock.ts";
import { PurgeError } from "./errors.ts";
import type { Fetch } from "./http/transport.ts";

export interface PurgerOptions {
  /**
   * The site's origin, like `https://www.example.com`, without a path. Default: the environment variable
   * `TIDEMARK_ENDPOINT`.
   */
  endpoint?: string | undefined;
  /** A token with the scope `purge`. Default: the environment variable `TIDEMARK_TOKEN`. */
  token?: string | undefined;
  /** Sends the requests. Default: undici's `fetch` on Node, the global `fetch` elsewhere. */
  fetch?: Fetch | undefined;
  /**
   * Milliseconds for one call with all its attempts and pauses: more than 0, at most 2147483647. A call that takes longer
   * rejects with a `PurgeTimeout`. Default: 10000.
   */
  deadlineMs?: number | undefined;
  /**
   * How often a call is sent again, with the same `id`, after a failed connection, half an answer, or a 429, 502, 503
   * or 504: a whole number from 0, which sends once. The pauses double from 0.2 s to 2 s, half of each is random, and
   * they come on top of `Retry-After`. A pause that would pass the deadline is not begun. Default: 4.
   */
  retries?: number | undefined;
  /** Ends every call of this purger: they reject with the signal's reason. Default: none. */
  signal?: AbortSignal | undefined;
}

/** The deadline, which a purger takes, and each of its calls. */
export const deadlineMsSchema: z.ZodOptional<z.ZodNumber> = z.number().positive().max(MAX_SLEEP_MS).optional();

/** The signal, which a purger takes, and each of its calls. */
export const signalSchema: z.ZodOptional<z.ZodCustom<AbortSignal>> = z
  .custom<AbortSignal>(
    (value) => typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value,
    "must be an AbortSignal",
  )
  .optional();

/** It is strict, so that a misspelt option is an error and is not ignored. */
export const purgerOptionsSchema: z.ZodType<PurgerOptions> = z.strictObject({
  endpoint: z.string().optional(),
  token: z.string().optional(),
  fetch: z.custom<Fetch>((value) => typeof value === "function", "must be a function like fetch").optional(),
  deadlineMs: deadlineMsSchema,
  retries: z.int().nonnegative().optional(),
  signal: signalSchema,
});

/** The address of the edge, and the token that it accepts. */
export interface Settings {
  /** The origin as a URL writes it, like `https://www.example.com`. */
  endpoint: string;
  token: string;
}

/**
 * Takes each setting from the options, or else from the environment; an empty value counts as absent. The messages of
 * its errors never repeat a value, because the token may stand in the wrong variable.
 */
export function findSettings(options: PurgerOptions, environment: Record<string, string | undefined>): Settings {
  const endpoint = (options.endpoint || environment.TIDEMARK_ENDPOINT || "").trim();
  const token = (options.token || environment.TIDEMARK_TOKEN || "").trim();
  if (endpoint === "") throw notConfigured(`There is no endpoint. ${HOW_TO_CONFIGURE}`);
  if (token === "") throw notConfigured(`There is no token. ${HOW_TO_CONFIGURE}`);
  // RFC 6750 §2.1 allows fewer characters; a field value can carry all of these.
  if (!/^[!-~]+$/.test(token)) {
    const source = options.token ? "The option token" : "TIDEMARK_TOKEN";
    throw notConfigured(
      `${source} holds characters that cannot be sent. Check that it was copied whole and without quotes.`,
    );
  }
  return { endpoint: originOf(endpoint, options.endpoint ? "The option endpoint" : "TIDEMARK_ENDPOINT"), token };
}

const HOW_TO_CONFIGURE =
  "Set TIDEMARK_ENDPOINT to the site's origin, like https://www.example.com, and TIDEMARK_TOKEN to a token of its " +
  "edge, or give createPurger the options endpoint and token.";

function originOf(endpoint: string, source: string): string {
  const url = URL.parse(endpoint);
  const isOrigin =
    (url?.protocol === "https:" || url?.protocol === "http:") &&
    url.pathname === "/" &&
    `${url.username}${url.password}${url.search}${url.hash}` === "";
  if (!isOrigin) {
    throw notConfigured(
      `${source} is not an origin. Write https:// or http://, a host, perhaps a port, and nothing else: ` +
        "https://www.example.com or http://localhost:8787.",
    );
  }
  return url.origin;
}

function notConfigured(message: string): PurgeError {
  return new PurgeError(message, { code: "not-configured", retryable: false, attempts: 0 });
}
