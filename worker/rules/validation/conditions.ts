import { parseHttpDate } from "../fields/http-date.ts";
import { CODED_TYPES, isOfType } from "../variants/coded-types.ts";
import { entityTags, isEntityTag, matchesStrongly, matchesWeakly } from "./entity-tag.ts";

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
 * `If-None-Match` compares weakly and takes precedence over `If-Modified-Since`, even if it is malformed. `now` (epoch
 * milliseconds) decides the century of a date with a two-digit year.
 */
export function isNotModified(
  { ifNoneMatch, ifModifiedSince }: ClientConditions,
  stored: StoredValidators,
  now: number,
): boolean {
  if (ifNoneMatch !== null) {
    const held = ifNoneMatch.trim();
    const { etag } = stored;
    // Browsers return a malformed tag as it came: Apache leaves a quote out of those of negotiated pages.
    if (held === "*" || held === etag) return true;
    return etag !== null && entityTags(ifNoneMatch).some((tag) => matchesWeakly(tag, etag));
  }
  const since = parseHttpDate(ifModifiedSince, now);
  const modifiedAt = parseHttpDate(stored.lastModified ?? stored.date ?? null, now);
  return since !== undefined && modifiedAt !== undefined && modifiedAt <= since;
}

/** Digests of the content of one message, which are those of no part of it. RFC 9530 §2, RFC 1864. */
export const OF_WHOLE_CONTENT: ReadonlySet<string> = new Set(["content-digest", "content-md5"]);

/** The same, and the digests of a whole page in its coding, which a part of it has, too. RFC 9530 §3, RFC 3230 §4.3.2. */
export const DIGESTS: readonly string[] = [...OF_WHOLE_CONTENT, "repr-digest", "digest"];

/**
 * Fields that describe the bytes of a 200, which a 304 does not have (RFC 9110 §15.4.5). All others stay: a script of
 * another site may read no answer without the CORS fields.
 */
export const NOT_ON_304: ReadonlySet<string> = new Set([
  ...OF_WHOLE_CONTENT,
  "content-encoding",
  "content-language",
  "content-length",
  "content-range",
  "content-type",
]);

/** Whether a client that accepts these codings may hold another form of such a response, even if no `Vary` says so. */
export function mayHoldCoded(acceptedCodings: string, field: (name: string) => string | null): boolean {
  if (acceptedCodings === "identity") return false;
  return field("content-encoding") !== null || isOfType(field("content-type"), CODED_TYPES);
}

/**
 * Whether the requested parts belong to the version that the client holds, so that `Range` applies; otherwise the
 * client gets the whole body. RFC 9110 §13.1.5. The client joins bytes, so only strong validators count. A weak tag,
 * or one without quotes, never matches. A date has to equal `Last-Modified`, and be strong (§8.8.2.2). `now` is epoch
 * milliseconds.
 */
export function rangeStillHolds(ifRange: string | null, stored: Required<StoredValidators>, now: number): boolean {
  if (ifRange === null) return true;
  const held = ifRange.trim();
  if (isEntityTag(held)) return matchesStrongly(held, stored.etag);
  return parseHttpDate(held, now) === parseHttpDate(stored.lastModified, now) && sinceModifiedMs(stored, now) >= 1000;
}

/**
 * How long before the response its page was last modified, in milliseconds; `NaN` if that is not known. A page may
 * change twice within a second, so `Last-Modified` stands for one version only from 1000 on. RFC 9110 §8.8.2.2. Both
 * times are the origin's and are assumed to be from one clock. `now` is epoch milliseconds.
 */
export function sinceModifiedMs({ lastModified, date }: Required<StoredValidators>, now: number): number {
  return Number(parseHttpDate(date, now)) - Number(parseHttpDate(lastModified, now));
}

/**
 * The fields that ask the origin whether a stored response is still valid; `null` if it has no validators. RFC 9111
 * §4.3.1. `now` is epoch milliseconds.
 */
export function validationFields(
  stored: Validators,
  now: number,
): readonly (readonly [name: string, value: string])[] | null {
  const { etag, lastModified } = stored;
  const fields: [name: string, value: string][] = [];
  if (etag !== null && isEntityTag(etag)) fields.push(["if-none-match", etag]);
  if (lastModified !== null && parseHttpDate(lastModified, now) !== undefined) {
    fields.push(["if-modified-since", lastModified]);
  }
  return fields.length === 0 ? null : fields;
}
