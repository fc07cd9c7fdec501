import * as z from "zod/mini";
import { MAX_SLEEP_MS } from "./clock.ts";
import { PurgeError } from "./errors.ts";
import type { Fetch } from "./http/transport.ts";

/** One of several edges with separate purge logs. */
export interface EdgeOptions {
  /** The origin that the edge serves, like `https://eu.example.com`, without a path. */
  endpoint: string | URL;
  /** A token of this edge with the scope `purge`. Default: the purger's `token`. */
  token?: string | undefined;
}

/** The settings of a purger. Each is optional. */
export interface PurgerOptions {
  /**
   * The site's origin, like `https://www.example.com`, without a path. Default: the environment variable
   * `TIDEMARK_ENDPOINT`.
   */
  endpoint?: string | URL | undefined;
  /**
   * Several edges, instead of `endpoint`: each purge goes to all of them at once, with one `id` unless it is merged
   * with others. Its receipt settles when all of theirs have; if one of them does not accept it, the call rejects with
   * a `PurgeIncomplete`. It is for edges with separate purge logs, not for the PoPs of one edge, which share a log.
   * Default: one edge.
   */
  endpoints?: readonly (string | URL | EdgeOptions)[] | undefined;
  /** A token with the scope `purge`. Default: the environment variable `TIDEMARK_TOKEN`. */
  token?: string | undefined;
  /**
   * Sends the requests. Default: undici's `fetch` on Node, which uses the proxies of the environment under
   * `NODE_USE_ENV_PROXY=1`, as Node's own does; the global `fetch` elsewhere.
   */
  fetch?: Fetch | undefined;
  /**
   * Milliseconds for one call with all its attempts and pauses: more than 0, at most 2147483647. A call that takes longer
   * rejects with a `PurgeTimeout`. Default: 10000.
   */
  deadlineMs?: number | undefined;
  /**
   * How often a call is sent again, with the same `id`, after a failed connection, half an answer, or a 429, 502, 503,
   * 504 or 520 to 530: a whole number from 0, which sends once. The pauses double from 0.2 s to 2 s, half of each is
   * random, and they are added to `Retry-After`. A pause that would exceed the deadline does not begin. Default: 4.
   */
  retries?: number | undefined;
  /** Ends every call of this purger: they reject with the signal's reason. Default: none. */
  signal?: AbortSignal | undefined;
}

/** The deadline, for a purger and for each of its calls. */
export const deadlineMsSchema: z.ZodMiniOptional<z.ZodMiniNumber> = z.optional(
  z.number().check(z.positive(), z.maximum(MAX_SLEEP_MS)),
);

/** The signal, for a purger and for each of its calls. */
export const signalSchema: z.ZodMiniOptional<z.ZodMiniCustom<AbortSignal>> = z.optional(
  z.custom<AbortSignal>(
    (value) => typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value,
    "must be an AbortSignal",
  ),
);

const endpointSchema = z.custom<string | URL>(
  (value) => typeof value === "string" || isUrl(value),
  "must be a string or a URL",
);

const edgeSchema = z.pipe(
  z.transform((value) => (typeof value === "string" || isUrl(value) ? { endpoint: value } : value)),
  z.strictObject({ endpoint: endpointSchema, token: z.optional(z.string()) }),
);

/** It is strict, so that a misspelt option is an error and is not ignored. */
export const purgerOptionsSchema: z.ZodMiniType<PurgerOptions> = z
  .strictObject({
    endpoint: z.optional(endpointSchema),
    endpoints: z.optional(z.array(edgeSchema).check(z.minLength(1, "name at least one edge, or leave endpoints out"))),
    token: z.optional(z.string()),
    fetch: z.optional(z.custom<Fetch>((value) => typeof value === "function", "must be a function like fetch")),
    deadlineMs: deadlineMsSchema,
    retries: z.optional(z.int().check(z.nonnegative())),
    signal: signalSchema,
  })
  .check(
    z.refine(({ endpoint, endpoints }) => !(endpoint && endpoints), {
      path: ["endpoints"],
      message: "replaces endpoint; leave one of them out",
    }),
  );

/** Recognized by its shape, because test environments replace the class. */
export function isUrl(value: unknown): value is URL {
  return typeof value === "object" && value !== null && "href" in value && "protocol" in value;
}

/** The address of the edge, and the token that it accepts. */
export interface Settings {
  /** The origin in the form of a URL, like `https://www.example.com`. */
  endpoint: string;
  token: string;
}

/** Advice for code about a missing setting. */
const IN_CODE =
  "Set TIDEMARK_ENDPOINT to the site's origin, like https://www.example.com, and TIDEMARK_TOKEN to a token of its " +
  "edge, or give createPurger the options endpoint and token.";

/**
 * Reads each setting from the options, or else from the environment; an empty value counts as absent. The error
 * messages never repeat a value, because the token may be in the wrong variable. `howToConfigure` ends the messages
 * about missing settings.
 */
export function findSettings(
  options: Pick<PurgerOptions, "endpoint" | "token">,
  environment: Record<string, string | undefined>,
  howToConfigure: string = IN_CODE,
): Settings {
  const endpoint = String(options.endpoint || environment.TIDEMARK_ENDPOINT || "").trim();
  if (endpoint === "") throw notConfigured(`There is no endpoint. ${howToConfigure}`);
  const token = findToken(options.token, "The option token", environment, howToConfigure);
  return { endpoint: originOf(endpoint, options.endpoint ? "The option endpoint" : "TIDEMARK_ENDPOINT"), token };
}

/** The settings of each edge: of those in `endpoints`, or of the only one. */
export function findEdges(
  { endpoint, endpoints, token }: PurgerOptions,
  environment: Record<string, string | undefined>,
  howToConfigure: string = IN_CODE,
): readonly Settings[] {
  if (!endpoints) return [findSettings({ endpoint, token }, environment, howToConfigure)];
  const edges = endpoints.map((given, index): Settings => {
    const edge = typeof given === "object" && "endpoint" in given ? given : { endpoint: given, token: undefined };
    const name = `The option endpoints[${index}]`;
    return {
      endpoint: originOf(String(edge.endpoint).trim(), name),
      token: edge.token
        ? findToken(edge.token, `${name}.token`, environment, howToConfigure)
        : findToken(token, "The option token", environment, howToConfigure),
    };
  });
  const again = edges.findIndex(({ endpoint }, index) => edges.findIndex((edge) => edge.endpoint === endpoint) < index);
  if (again >= 0) throw notConfigured(`The option endpoints[${again}] names the same edge as an earlier one.`);
  return edges;
}

function findToken(
  option: string | undefined,
  source: string,
  environment: Record<string, string | undefined>,
  howToConfigure: string,
): string {
  const token = (option || environment.TIDEMARK_TOKEN || "").trim();
  if (token === "") throw notConfigured(`There is no token. ${howToConfigure}`);
  // RFC 6750 §2.1 allows fewer characters; a field value can carry all of these.
  if (!/^[!-~]+$/.test(token)) {
    throw notConfigured(
      `${option ? source : "TIDEMARK_TOKEN"} has characters that cannot be sent. Check that you copied all of it, without quotes.`,
    );
  }
  return token;
}

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
