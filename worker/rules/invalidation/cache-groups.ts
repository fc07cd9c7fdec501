import { listValues } from "../fields/structured-field.ts";
import { isSafeMethod } from "./safe-method.ts";

/** RFC 9875 §2 asks for at least 32 groups of up to at least 32 characters. Groups beyond these limits are ignored. */
const MAX_GROUPS = 128;
const MAX_GROUP_CHARACTERS = 256;

/**
 * The groups of a response, each once, in order. RFC 9875 §2. They are case-sensitive and belong to one origin.
 * Parameters are ignored. A field that cannot be read, or that has a member that is not a string, counts as absent (RFC
 * 9651 §4.2). Groups of more than 256 characters are left out, and so are those after the 128th.
 */
export function cacheGroups(field: string | null): readonly string[] {
  if (field === null) return [];
  const values = listValues(field);
  if (!values.every((value) => typeof value === "string")) return [];
  const groups = values.filter((group) => group.length <= MAX_GROUP_CHARACTERS);
  return [...new Set(groups)].slice(0, MAX_GROUPS);
}

/** The groups that an answer invalidates, within the same limits. Only answers to unsafe requests do. RFC 9875 §3. */
export function invalidatedGroups(method: string, field: string | null): readonly string[] {
  return isSafeMethod(method) ? [] : cacheGroups(field);
}
