import { parseHttpDate } from "../fields/http-date.ts";
import { isEntityTag } from "./entity-tag.ts";
import type { Validators } from "./not-modified.ts";

/**
 * The fields that ask the origin whether a stored response is still valid; `null` if it has no validators. RFC 9111
 * §4.3.1. `now` is epoch milliseconds.
 */
export function validationFields(
  { etag, lastModified }: Validators,
  now: number,
): readonly (readonly [name: string, value: string])[] | null {
  const fields: [name: string, value: string][] = [];
  if (etag !== null && isEntityTag(etag)) fields.push(["if-none-match", etag]);
  if (lastModified !== null && parseHttpDate(lastModified, now) !== undefined) {
    fields.push(["if-modified-since", lastModified]);
  }
  return fields.length === 0 ? null : fields;
}
