import type { Reply } from "../../cdn/scripted-origin.ts";

/** A page of the origin, as most scenarios begin with one: its Cache-Control, its body, and its other fields. */
export function page(cacheControl: string, body = "v1", otherFields: Readonly<Record<string, string>> = {}) {
  return { fields: { "cache-control": cacheControl, ...otherFields }, body } satisfies Reply;
}
