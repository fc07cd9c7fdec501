import { parseHttpDate } from "../fields/http-date.ts";
import { isEntityTag, matchesStrongly } from "../validation/entity-tag.ts";

/** The validators of the stored response; `null` for one that it does not have. */
export interface RangeValidators {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly date: string | null;
}

/**
 * Whether the requested parts belong to the version that the client holds, so that `Range` applies; otherwise the
 * client gets the whole body. RFC 9110 §13.1.5. The client joins bytes, so only strong validators count. A weak tag
 * never matches. A date has to equal `Last-Modified`, and the `Date` of the response has to be at least one second
 * later (§8.8.2.2), because the page may have changed twice within one second. Both times are the origin's and are
 * assumed to be from one clock.
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
