import { parseHttpDate } from "../fields/http-date.ts";
import { entityTags, matchesWeakly } from "./entity-tag.ts";

/** The conditions of a client; `null` for one that it does not send. */
export interface ClientConditions {
  readonly ifNoneMatch: string | null;
  readonly ifModifiedSince: string | null;
}

/** The validators of a response; `null` for one that the origin did not give. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** The values with which a client's conditions are compared. */
export interface StoredValidators extends Validators {
  /** The stored `Date`, which is used if there is no `Last-Modified`. RFC 9111 §4.3.2. */
  readonly date?: string | null;
}

/**
 * Whether the client holds the stored response, so that a 304 is enough. RFC 9110 §13.1.2, §13.1.3, §13.2.2.
 * `If-None-Match` compares weakly and takes precedence over `If-Modified-Since`, even if it is malformed.
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
 * The fields of a 304: those that a 200 to the same request would have had (RFC 9110 §15.4.5), and the cache's own.
 * `Set-Cookie` is never stored; it is on the list only for the one visitor whose request the origin answered with it.
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
