/** The names that both sides of the contract use: paths, fields and cookies. */

/** The path prefix of the control plane, on every host of the site. */
export const CONTROL_PREFIX = "/_tidemark/";

/** A request field: fetch from the origin even if a stored response is fresh. Its value is a token with the scope `purge`. */
export const REFRESH_FIELD = "tidemark-refresh";

/**
 * The `Accept-Encoding` of browsers, for requests in their place: without it, they would stand for those of clients that
 * know no coding.
 */
export const BROWSER_CODINGS = "gzip, deflate, br, zstd";

/** A request field: answer only with a response that is at least as recent as the purge whose receipt gave this token. */
export const AFTER_FIELD = "tidemark-after";

/** The cookie with the session of the dashboard. */
export const SESSION_COOKIE = "tidemark-session";

/** A cookie with the meaning of `AFTER_FIELD`, for an editor's browser. */
export const AFTER_COOKIE = "tidemark-after";

/** A request field with the meaning of `id` in the body of a purge. */
export const IDEMPOTENCY_FIELD = "idempotency-key";

/** The response field in which the SDK's `tagResponse` writes tags. The edge reads it and removes it. */
export const TAG_FIELD = "cache-tag";

/** The greatest length of a tag, in bytes of printable ASCII. */
export const MAX_TAG_BYTES = 256;

/** The most tags of one response, unless the site sets `limits.tags`. A response with more is not stored. */
export const DEFAULT_MAX_TAGS = 1000;

/**
 * The most bytes of the fields of one response, unless the site sets `limits.responseFieldBytes`. A response with more
 * becomes a 502.
 */
export const DEFAULT_MAX_RESPONSE_FIELD_BYTES = 64 * 1024;

/**
 * A field of the answer to a purge, sent only by the edge of `tidemark dev`: a path that lists, a moment later, the
 * pages that it fetched again and found unchanged. Such a purge may have come before the commit.
 */
export const EARLY_PURGES_FIELD = "tidemark-early-purges";

/** The time after which the client requests the path of `EARLY_PURGES_FIELD`, in milliseconds. */
export const EARLY_PURGES_AFTER_MS = 2_500;

/** Whether a URL is one of the control plane's. */
export function isControl(url: string): boolean {
  return url.startsWith(CONTROL_PREFIX, url.indexOf("/", url.indexOf("//") + 2));
}

/** The fields with one line more. Lines of the same field are joined by commas, as on the wire; cookies by semicolons. */
export function withField(
  fields: Readonly<Record<string, string>>,
  name: string,
  value: string,
): Readonly<Record<string, string>> {
  const key = name.toLowerCase();
  const joined = Object.hasOwn(fields, key) ? [fields[key], value].join(key === "cookie" ? "; " : ", ") : value;
  return { ...fields, [key]: joined };
}
