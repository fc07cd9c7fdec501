import { parseHttpDate } from "../fields/http-date.ts";
import { entityTags, matchesWeakly } from "./entity-tag.ts";

/** What a client says it holds; `null` where it says nothing. */
export interface ClientConditions {
  readonly ifNoneMatch: string | null;
  readonly ifModifiedSince: string | null;
}

/** The validators of the stored response; `null` where the origin gave none. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** What a client's condition is compared with. */
export interface StoredValidators extends Validators {
  /** The stored `Date`, which stands in for `Last-Modified` where there is none. RFC 9111 §4.3.2. */
  readonly date?: string | null;
}

/**
 * Whether the client holds what is stored, so that a 304 will do. RFC 9110 §13.1.2, §13.1.3, §13.2.2.
 * `If-None-Match` compares weakly and outranks `If-Modified-Since`, also where it is malformed.
 */
export function isNotModified({ ifNoneMatch, ifModifiedSince }: ClientConditions, stored: StoredValidators): boolean {
  if (ifNoneMatch !== null) {
    if (ifNoneMatch.trim() === "*") return true;
    const { etag } = stored;
    return etag !== null && entityTags(ifNoneMatch).some((tag) => matchesWeakly(tag, etag));
  }
  const since = parseHttpDate(ifModifiedSince);
  const modifiedAt = parseHttpDate(stored.lastModified ?? stored.date ?? null);
  return since !== undefined && modifiedAt !== undefined && modifiedAt <= since;
}

/**
 * Fields of a 304 that a 200 to the same request would have had, RFC 9110 §15.4.5, and what a cache tells of itself.
 * `Set-Cookie` is never stored: it is there only for the one visitor whose request the origin answered with it.
 */
export const NOT_MODIFIED_FIELDS: ReadonlySet<string> = new Set([
  "age",
  "x-cache",
  "cache-status",
  "cache-control",
  "content-location",
  "date",
  "etag",
  "expires",
  "set-cookie",
  "vary",
  "via",
]);
