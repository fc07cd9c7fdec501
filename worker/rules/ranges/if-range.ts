import { parseHttpDate } from "../fields/http-date.ts";
import { isEntityTag, matchesStrongly } from "../validation/entity-tag.ts";

/** What the stored response says of itself; `null` where it says nothing. */
export interface RangeValidators {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly date: string | null;
}

/**
 * Whether the parts that a client asks for belong to what it holds, so that `Range` counts; otherwise it gets the
 * whole. RFC 9110 §13.1.5. Bytes are put together, so only strong validators count: a weak tag never matches, and a
 * date has to name the very second of `Last-Modified`, with the `Date` of the response at least one second later
 * (§8.8.2.2): within one second it may have changed twice. Both times are the origin's, so they are taken to be of one
 * clock.
 */
export function rangeStillHolds(ifRange: string | null, validators: RangeValidators): boolean {
  if (ifRange === null) return true;
  const held = ifRange.trim();
  if (isEntityTag(held)) return validators.etag !== null && matchesStrongly(held, validators.etag);
  const heldAt = parseHttpDate(held);
  const modifiedAt = parseHttpDate(validators.lastModified);
  const generatedAt = parseHttpDate(validators.date);
  if (heldAt === undefined || modifiedAt === undefined || generatedAt === undefined) return false;
  return heldAt === modifiedAt && generatedAt - modifiedAt >= 1000;
}
