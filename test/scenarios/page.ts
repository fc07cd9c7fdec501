import type { Reply } from "../../local/cdn/scripted-origin.ts";

/** A page of the origin, with which most scenarios begin. */
export function page(cacheControl: string, body = "v1", otherFields: Readonly<Record<string, string>> = {}) {
  return { fields: { "cache-control": cacheControl, ...otherFields }, body } satisfies Reply;
}
