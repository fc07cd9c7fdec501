import { parseHttpDate } from "./http-date.ts";

/** What a client says it holds; `null` where it says nothing. */
export interface HeldByClient {
  readonly ifNoneMatch: string | null;
  readonly ifModifiedSince: string | null;
}

/** The validators of the stored response; `null` where the origin gave none. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/**
 * Whether the client holds what is stored, so that a 304 will do. RFC 9110 §13.1.2, §13.1.3, §13.2.2.
 * `If-None-Match` compares weakly and outranks `If-Modified-Since`, also where it is malformed.
 */
export function isNotModified({ ifNoneMatch, ifModifiedSince }: HeldByClient, stored: Validators): boolean {
  if (ifNoneMatch !== null) {
    if (ifNoneMatch.trim() === "*") return true;
    if (stored.etag === null) return false;
    const opaque = withoutWeakness(stored.etag);
    return entityTags(ifNoneMatch).some((tag) => withoutWeakness(tag) === opaque);
  }
  const since = parseHttpDate(ifModifiedSince);
  const modifiedAt = parseHttpDate(stored.lastModified);
  return since !== undefined && modifiedAt !== undefined && modifiedAt <= since;
}

/** Fields of a 304 that a 200 to the same request would have had. RFC 9110 §15.4.5. */
export const NOT_MODIFIED_FIELDS: ReadonlySet<string> = new Set([
  "cache-control",
  "content-location",
  "date",
  "etag",
  "expires",
  "vary",
  "via",
]);

/** The members of a list of entity tags. RFC 9110 §8.8.3. */
function entityTags(text: string): string[] {
  return text.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

function withoutWeakness(tag: string): string {
  return tag.startsWith("W/") ? tag.slice(2) : tag;
}
