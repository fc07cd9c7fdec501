import { parseHttpDate } from "../fields/http-date.ts";
import { isEntityTag } from "./entity-tag.ts";
import type { Validators } from "./not-modified.ts";

/**
 * The fields that ask the origin whether stored responses are still valid; `null` if they have no validators. RFC 9111
 * §4.3.1. All their tags are sent, each once. `Last-Modified` is sent unchanged if only one response is validated; with
 * several, it would not show which of them it is about.
 */
export function validationFields(
  held: readonly Validators[],
): readonly (readonly [name: string, value: string])[] | null {
  const tags = new Set(held.flatMap(({ etag }) => (etag !== null && isEntityTag(etag) ? [etag] : [])));
  const fields: [name: string, value: string][] = [];
  if (tags.size > 0) fields.push(["if-none-match", [...tags].join(", ")]);
  const lastModified = held.length === 1 ? held[0]!.lastModified : null;
  if (lastModified !== null && parseHttpDate(lastModified) !== undefined) {
    fields.push(["if-modified-since", lastModified]);
  }
  return fields.length === 0 ? null : fields;
}
